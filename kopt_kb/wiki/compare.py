"""Products side by side: one line a quantity, with what makes the values comparable or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from kopt_kb.base.errors import BadInput
from kopt_kb.base.frames import Record, pandas_frame, polars_frame
from kopt_kb.base.wire import Wire
from kopt_kb.quantity.units import UNITS, si_unit
from kopt_kb.wiki.answers import Spec, spec
from kopt_kb.wiki.differing import differing
from kopt_kb.wiki.registry import Platform, Product, parse_key, platform_of
from kopt_kb.wiki.resolve import reread
from kopt_kb.wiki.row import Row
from kopt_kb.wiki.sheet import row_value
from kopt_kb.wiki.vocabulary import METRICS, asked, canonical_key, fits

if TYPE_CHECKING:
    import pandas
    import polars


__all__ = ["SideBySide", "SideBySideLine", "compare"]

_WEAK = ("acc", "clock", "link")
"""Conditions that sheets leave out or name in words of their own: rows that differ in them alone share a line."""
_RATED = {"boost", "max"}
"""What vendors call the clock that they rate peaks at: NVIDIA the boost clock, AMD the maximum."""
_PREFERRED = {"fp32": 0, "int32": 0, "unstated": 1}


@dataclass(frozen=True, slots=True)
class SideBySideCell(Wire):
    """One product's part of a line: its row, or `missing` and what stands instead."""

    WIRE: ClassVar = ("platform", "state", "note", "row?")
    platform: str
    state: str
    note: str
    row: Spec | None


@dataclass(frozen=True, slots=True)
class SideBySideLine(Wire):
    """One quantity of every product.

    Attributes:
        platforms: Ids of the products.
        key: The quantity; conditions that differ between the rows are left out.
        rows: Each product's row, None where it has none.
        notes: What stands instead of a missing row, by product; empty where there is one or nothing.
        differs: Conditions in which the rows differ, such as `acc: fp32, unstated`; empty when all are the same.
    """

    WIRE: ClassVar = ("key", "comparable", "differs", "ratios=_ratios", "cells=_cells")
    platforms: tuple[str, ...]
    key: str
    rows: tuple[Row | None, ...]
    notes: tuple[str, ...]
    differs: tuple[str, ...]

    @property
    def comparable(self) -> bool:
        """Whether every product has a value under the same conditions."""
        return not self.differs and all(row is not None and row.kind in {"value", "token"} for row in self.rows)

    @property
    def _ratios(self) -> tuple[float | None, ...]:
        return self.ratios()

    @property
    def _cells(self) -> tuple[SideBySideCell, ...]:
        cells = zip(self.platforms, self.rows, self.notes, strict=True)
        return tuple(
            SideBySideCell(name, "missing", note, None)
            if row is None
            else SideBySideCell(name, row.kind, note, spec(row))
            for name, row, note in cells
        )

    def ratios(self) -> tuple[float | None, ...]:
        """Return each value over the first product's.

        None for words, missing values, other accumulators and other clocks than those that vendors rate peaks at. What
        one sheet leaves out, and whose clock or link it is, is in `differs`.
        """
        first, *others = self.rows
        found = [_ratio(first, other) for other in others]
        return (1.0 if any(one is not None for one in found) else None, *found)


@dataclass(frozen=True, slots=True)
class SideBySide(Wire):
    """Products and their lines, in vocabulary order."""

    WIRE: ClassVar = ("platforms=_names", "lines")
    platforms: tuple[Platform, ...]
    lines: tuple[SideBySideLine, ...]

    def __repr__(self) -> str:
        return f"SideBySide({', '.join(self._names)}: {len(self.lines)} quantities)"

    def records(self) -> list[Record]:
        """Return one row a quantity: `key`, `unit` (SI), a column a product, `differs`.

        Keys leave out what vendors state differently (accumulator, clock, name of the link), so that those of two
        vendors and of two comparisons are the same; `differs` has it. Values are missing where there is none; words
        have no row.
        """
        found: dict[str, Record] = {}
        for line in self.lines:
            row = next((one for one in line.rows if one is not None and one.kind == "value"), None)
            if row is not None:
                key = line.key if (topic := _topic(row)) in found else topic
                found[key] = _record(key, line, si_unit(UNITS[row.unit].dimension))
        return list(found.values())

    def to_pandas(self) -> pandas.DataFrame:
        """Return `records()` as a pandas DataFrame; raises `MissingTool` without pandas."""
        return pandas_frame(self.records(), self._columns)

    def to_polars(self) -> polars.DataFrame:
        """Return the same for polars."""
        return polars_frame(self.records(), self._columns)

    @property
    def _names(self) -> tuple[str, ...]:
        return tuple(str(one.id) for one in self.platforms)

    @property
    def _columns(self) -> tuple[str, ...]:
        return ("key", "unit", *self._names, "differs")


def _record(key: str, line: SideBySideLine, unit: str) -> Record:
    """Return a line as a row of a DataFrame."""
    known = [row if row is not None and row.kind == "value" else None for row in line.rows]
    values = [None if row is None else float(row_value(row)) for row in known]
    products = dict(zip(line.platforms, values, strict=True))
    return {"key": key, "unit": unit, **products, "differs": "; ".join(line.differs)}


def _ratio(first: Row | None, other: Row | None) -> float | None:
    if first is None or other is None or {first.kind, other.kind} != {"value"} or not row_value(first):
        return None
    ours, theirs = dict(first.axes), dict(other.axes)
    stated = {axis: {axes.get(axis, "unstated") for axes in (ours, theirs)} - {"unstated"} for axis in ("acc", "clock")}
    if len(stated["acc"]) > 1 or (len(stated["clock"]) > 1 and stated["clock"] != _RATED):
        return None
    return float(row_value(other) / row_value(first))


def _topic(row: Row) -> str:
    """Return the row's key without the conditions that sheets leave out."""
    return canonical_key(METRICS[row.metric], {a: v for a, v in row.axes if a not in _WEAK})


def _rank(row: Row) -> tuple[int, int, str]:
    axes = dict(row.axes)
    kinds = {"value": 0, "token": 0, "none": 1, "unknown": 2}
    return kinds[row.kind], _PREFERRED.get(axes.get("acc", "unstated"), 2), row.key


def _differences(rows: Sequence[Row | None]) -> tuple[str, ...]:
    """Return the weak conditions in which the rows with a value differ."""
    known = [dict(row.axes) for row in rows if row is not None and row.kind == "value"]
    found = []
    for axis in _WEAK:
        words = list(dict.fromkeys(axes[axis] for axes in known if axis in axes))
        if len(words) > 1:
            found.append(f"{axis}: {', '.join(words)}")
    return tuple(found)


def _elsewhere(platform: Platform, topic: str) -> str:
    """Say what a product has instead of a quantity: another scope, or the sparse rate only."""
    name, axes = parse_key(topic)
    for row in platform.sheet.chosen().values():
        if row.metric == name and row.kind == "value":
            apart = differing(row, {**axes, **{axis: value for axis, value in row.axes if axis in _WEAK}})
            if [axis for axis, _, _ in apart] in (["scope"], ["sparsity"], ["config"]):
                axis, _, have = apart[0]
                return f"only {axis}={have}: {row.value} {row.unit}"
    return ""


def _line(platforms: Sequence[Platform], topic: str, rows: list[Row | None]) -> SideBySideLine:
    notes = tuple("" if row is not None else _elsewhere(one, topic) for one, row in zip(platforms, rows, strict=True))
    keys = {row.key for row in rows if row is not None}
    names = tuple(str(one.id) for one in platforms)
    return SideBySideLine(names, keys.pop() if len(keys) == 1 else topic, tuple(rows), notes, _differences(rows))


def _lines(platforms: Sequence[Platform], topic: str, found: list[list[Row]]) -> list[SideBySideLine]:
    """Return the lines of a topic: a line for each key all share, else one of the best rows; then what is left."""
    shared = set.intersection(*({row.key for row in rows} for rows in found))
    lines = [
        _line(platforms, topic, [next(row for row in rows if row.key == key) for rows in found])
        for key in sorted(shared)
    ]
    if not any(line.comparable for line in lines):
        best = _line(platforms, topic, [min(rows, key=_rank, default=None) for rows in found])
        lines += [best] if best.rows not in [line.rows for line in lines] else []
    shown = {id(row) for line in lines for row in line.rows}
    for at, rows in enumerate(found):
        for row in rows:
            if id(row) not in shown and row.kind == "value":
                lines.append(_alone(platforms, at, row))
    return lines


def _alone(platforms: Sequence[Platform], at: int, row: Row) -> SideBySideLine:
    """Return the line of a row that no other product has under its conditions."""
    rows = tuple(row if number == at else None for number in range(len(platforms)))
    notes = tuple("" if number == at else "no row under these conditions" for number in range(len(platforms)))
    return SideBySideLine(tuple(str(one.id) for one in platforms), row.key, rows, notes, ())


def compare(products: Sequence[Product], metric_name: str | None = None, /, **axes: str) -> SideBySide:
    """Return the products side by side, every metric or one under conditions; ceilings of a target are no values.

    Args:
        products: Two products or more, or their names, each once.
        metric_name: Metric id, alias or key; None for everything but measurements.
        **axes: Conditions.

    Raises:
        BadInput: Fewer than two products, or one named twice.
        WikiFaults: A row that is shown does not load.
    """
    if isinstance(products, str):
        raise BadInput(f"{products!r} is one product", fix='give a list: compare(["H100_SXM", "MI300X"])', code="KB025")
    platforms = tuple(map(platform_of, products))
    if len(platforms) < 2 or len({one.id for one in platforms}) < len(platforms):
        raise BadInput(
            "a comparison needs two different products or more", fix="kb compare H100_SXM H200_SXM", code="KB025"
        )
    name, wanted = parse_key(metric_name) if metric_name else (None, {})
    wanted = {**wanted, **axes}
    conditions = asked(wanted, unnamed="any")
    topics: dict[str, list[list[Row]]] = {}
    for at, platform in enumerate(platforms):
        platform.refuse_faults(name)
        for row in platform.sheet.chosen().values():
            shown = row.metric == name if name else not row.metric.startswith(("measured", "acceptance"))
            if shown and not row.is_ceiling and fits(dict(row.axes), conditions):
                reread(platform.wiki, row)
                topics.setdefault(_topic(row), [[] for _ in platforms])[at].append(row)
    order = list(METRICS)
    ranked = sorted(topics, key=lambda topic: order.index(topic.partition("[")[0]))
    lines = [line for topic in ranked for line in _lines(platforms, topic, topics[topic])]
    if not lines:
        raise BadInput(
            f"no row of {metric_name or 'any metric'} fits the conditions", fix="leave conditions out", code="KB026"
        )
    return SideBySide(platforms, tuple(lines))
