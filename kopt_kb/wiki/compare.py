"""Products side by side: one line a quantity, with what makes the values comparable or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import Wire
from kopt_kb.wiki.answers import Spec, spec
from kopt_kb.wiki.differing import differing
from kopt_kb.wiki.registry import Platform, parse_key
from kopt_kb.wiki.resolve import reread
from kopt_kb.wiki.row import Row
from kopt_kb.wiki.sheet import row_value
from kopt_kb.wiki.vocabulary import METRICS, asked, canonical_key, fits

__all__ = ["SideBySide", "SideBySideLine", "compare_platforms"]

_WEAK = ("acc", "clock")
"""Conditions that sheets often leave out: rows that differ in them only stand on one line, and the line says so."""
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

        None for words, missing values and where both sheets state a condition in which they differ; a condition that
        one of them leaves out is in `differs`.
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

    @property
    def _names(self) -> tuple[str, ...]:
        return tuple(str(one.id) for one in self.platforms)


def _ratio(first: Row | None, other: Row | None) -> float | None:
    if first is None or other is None or {first.kind, other.kind} != {"value"} or not row_value(first):
        return None
    ours, theirs = dict(first.axes), dict(other.axes)
    for axis in _WEAK:
        stated = {axes[axis] for axes in (ours, theirs) if axes.get(axis, "unstated") != "unstated"}
        if len(stated) > 1:
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
            apart = differing(row, {**axes, **{a: "unstated" for a in _WEAK if a in METRICS[name].axes}})
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


def compare_platforms(platforms: Sequence[Platform], metric_name: str | None = None, /, **axes: str) -> SideBySide:
    """Return the products side by side, every metric or one under conditions; ceilings of a target are no values.

    Args:
        platforms: Two products or more, each once.
        metric_name: Metric id, alias or key; None for everything but measurements.
        **axes: Conditions.

    Raises:
        BadInput: Fewer than two products, or one named twice.
        WikiFaults: A row that is shown does not load.
    """
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
    return SideBySide(tuple(platforms), tuple(lines))
