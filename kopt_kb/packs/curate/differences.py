"""The comparison of a foreign table with the wiki: what agrees, what disagrees and why, what can't be compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import Wire
from kopt_kb.packs.curate.explain import Explanation, ForeignCase, explain
from kopt_kb.wiki.differing import differing
from kopt_kb.wiki.foreign_row import ForeignRow
from kopt_kb.wiki.registry import Platform, Registry
from kopt_kb.wiki.resolve import citation_of, reread
from kopt_kb.wiki.row import Row
from kopt_kb.wiki.sheet import row_value
from kopt_kb.wiki.vocabulary import METRICS, canonical_key

__all__ = ["Agreement", "ForeignDifference", "ForeignDifferences", "compare_row", "diff"]

Agreement = Literal["agrees", "disagrees", "unknown", "not-comparable"]

AGREEMENT = Fraction(1, 100)
"""Rates and bandwidths agree within 1 %: sources round differently. Counts, widths and on-chip sizes are exact."""
_SILENT_AXES = ("acc", "clock", "ops")
_EXACT_DIMENSIONS = {"count", "bit", "B/clk", "op/clk"}
_VISIBLE_SIZES = {"memory_capacity"}


@dataclass(frozen=True, slots=True)
class OwnValue(Wire):
    """The row of our wiki that a foreign value is compared with."""

    value: str
    unit: str
    key: str
    grade: str
    citation: str


@dataclass(frozen=True, slots=True)
class ForeignDifference(Wire):
    """One foreign value beside ours.

    Attributes:
        key: Key of the foreign value in our vocabulary.
        ours: Our row, or None.
        reason: Why it can't be compared, or what UNKNOWN says.
    """

    WIRE: ClassVar = (
        "where=row.where", "platform=_platform", "key", "value=row.text", "unit=row.unit", "state", "reason",
        "ours=_ours", "classes=explanations",
    )  # fmt: skip
    row: ForeignRow
    state: Agreement
    key: str
    platform: str = ""
    ours: Row | None = None
    reason: str = ""
    explanations: tuple[Explanation, ...] = ()

    @property
    def _platform(self) -> str:
        return self.platform or self.row.platform

    @property
    def _ours(self) -> OwnValue | None:
        row = self.ours
        return None if row is None else OwnValue(row.value, row.unit, row.key, row.grade, str(citation_of(row)))


@dataclass(frozen=True, slots=True)
class ForeignDifferences(Wire):
    """The comparison of a table."""

    WIRE: ClassVar = ("table", "counts=_counts", "differences=_listed")
    table: str
    rows: tuple[ForeignDifference, ...]

    @property
    def counts(self) -> Counter[str]:
        """How many values ended in each state."""
        return Counter(one.state for one in self.rows)

    @property
    def _counts(self) -> dict[str, int]:
        return dict(sorted(self.counts.items()))

    @property
    def _listed(self) -> tuple[ForeignDifference, ...]:
        """Agreeing values are counted, not listed."""
        return tuple(one for one in self.rows if one.state != "agrees")


def _agrees(row: ForeignRow, ours: Row) -> bool:
    if METRICS[ours.metric].dimension in _EXACT_DIMENSIONS or METRICS[ours.metric].binary:
        return row.si == row_value(ours)
    if ours.metric in _VISIBLE_SIZES and {row.unit, ours.unit} == {"GB", "GiB"} and row.value == Fraction(ours.value):
        return True
    return abs(row.si - row_value(ours)) <= AGREEMENT * row_value(ours)


def _missing_axes(row: ForeignRow) -> list[str]:
    given = dict(row.axes)
    return [axis for axis in METRICS[row.metric].axes if axis not in given and axis not in _SILENT_AXES]


def _wanted(row: ForeignRow) -> dict[str, str]:
    silent = {axis: "unstated" for axis in METRICS[row.metric].axes if axis in {"acc", "clock"}}
    return {**silent, **dict(row.axes)}


def _nearest(row: ForeignRow, rows: list[Row]) -> Row:
    return min(rows, key=lambda one: abs(row_value(one) - row.si))


def _against(platform: Platform, row: ForeignRow, key: str, fitting: list[Row]) -> ForeignDifference:
    """Compare with our value rows of these conditions."""
    agreeing = [one for one in fitting if _agrees(row, one)]
    accumulators = {dict(one.axes).get("acc") for one in fitting}
    if agreeing and (len(agreeing) == len(fitting) or "acc" in dict(row.axes) or len(accumulators) == 1):
        return ForeignDifference(row, "agrees", key, platform.id, agreeing[0])
    if agreeing:
        reason = f"the accumulator is not stated and decides: ours are {', '.join(one.key for one in fitting)}"
        return ForeignDifference(row, "not-comparable", key, platform.id, agreeing[0], reason)
    ours = _nearest(row, fitting)
    case = ForeignCase(platform.wiki, platform.identity, platform.sheet, row, _wanted(row), ours)
    return ForeignDifference(row, "disagrees", key, platform.id, ours, "", explain(case))


def _without_value(platform: Platform, row: ForeignRow, key: str, fitting: list[Row]) -> ForeignDifference:
    """Ours is NONE, UNKNOWN or missing."""
    case = ForeignCase(platform.wiki, platform.identity, platform.sheet, row, _wanted(row), None)
    absent = [one for one in fitting if one.kind == "none"]
    if absent:
        lacks = Explanation("part-lacks-it", f"{key} is NONE: {absent[0].note('reason')}")
        more = tuple(one for one in explain(case) if one.kind != "unexplained")
        return ForeignDifference(row, "disagrees", key, platform.id, absent[0], "", (lacks, *more))
    if fitting:
        fits = tuple(one for one in explain(case) if one.kind != "unexplained")
        return ForeignDifference(row, "unknown", key, platform.id, fitting[0], fitting[0].note("reason"), fits)
    return ForeignDifference(row, "not-comparable", key, platform.id, None, "the wiki has no row for it")


class _Platforms:
    """Our product for each of their names, each resolved once."""

    def __init__(self, registry: Registry, names: Mapping[str, str] | None) -> None:
        self.registry, self.names = registry, names or {}
        self.found: dict[str, Platform | BadInput] = {}

    def of(self, name: str) -> Platform | BadInput:
        if name not in self.found:
            try:
                self.found[name] = self.registry.platform(self.names.get(name, name))
            except BadInput as error:
                self.found[name] = error
        return self.found[name]


def _compare(platforms: _Platforms, row: ForeignRow) -> ForeignDifference:
    key = canonical_key(METRICS[row.metric], dict(row.axes))
    platform = platforms.of(row.platform)
    if isinstance(platform, BadInput):
        return ForeignDifference(row, "not-comparable", key, "", None, f"{platform.what}; {platform.fix}")
    lacking = _missing_axes(row)
    if lacking:
        reason = f"the table does not say {', '.join(lacking)}: the value has several meanings"
        return ForeignDifference(row, "not-comparable", key, platform.id, None, reason)
    platform.refuse_faults(row.metric)
    wanted = _wanted(row)
    rows = [one for one in platform.sheet.chosen().values() if one.metric == row.metric and not differing(one, wanted)]
    for one in rows:
        reread(platform.wiki, one)
    values = [one for one in rows if one.kind == "value"]
    return _against(platform, row, key, values) if values else _without_value(platform, row, key, rows)


def compare_row(registry: Registry, row: ForeignRow, names: Mapping[str, str] | None = None) -> ForeignDifference:
    """Return how one foreign value stands to ours.

    Args:
        registry: Ours.
        row: Theirs.
        names: Their product names to our platform ids, where theirs name none or several of ours.
    """
    return _compare(_Platforms(registry, names), row)


def diff(
    registry: Registry, rows: Iterable[ForeignRow], table: str, names: Mapping[str, str] | None = None
) -> ForeignDifferences:
    """Return the comparison of a whole table with the wiki; see `compare_row`."""
    platforms = _Platforms(registry, names)
    return ForeignDifferences(table, tuple(_compare(platforms, row) for row in rows))
