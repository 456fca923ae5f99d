"""Why a foreign value differs: known error classes, each tried against our rows; several may fit, none is certain.

The classes are those met in public tables: a sparse rate called dense, one die or a whole node called the GPU, a
prefix, a doubled data rate, another accumulator, engine, clock, format, metric or product. No class knows a value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from kopt_kb.base.wire import Wire
from kopt_kb.wiki.differing import differing
from kopt_kb.wiki.foreign_row import ForeignRow
from kopt_kb.wiki.names import Identity
from kopt_kb.wiki.row import Row
from kopt_kb.wiki.sheet import Sheet, row_value
from kopt_kb.wiki.wiki import Wiki

__all__ = ["CLASSES", "Explanation", "ForeignCase", "explain"]

FAR = Fraction(1, 10)
"""How far a ratio may stand from a plain factor of two or more: nothing else is near, and both sides are rounded."""
CLOSE = Fraction(5, 100)
NEAR = Fraction(3, 100)
"""How far a value may stand from what explains it: 2 % of rounding and 1 % between sources."""

CLASSES: dict[str, str] = {
    "rejected-here": "our page has this value and says why it is rejected",
    "zero": "0 stands for a value that is missing or does not exist",
    "sparse-as-dense": "the 2:4 sparse rate, called dense",
    "dense-as-sparse": "the dense rate, called sparse",
    "accumulator": "the rate with another accumulator",
    "wrong-engine": "the rate of the other engine (vector lanes or matrix units)",
    "other-dtype": "the rate of another number format",
    "other-clock": "the rate or clock of another clock class",
    "per-die": "one die (XCD, GCD) instead of the GPU",
    "per-system": "a pair, superchip, board, node or rack instead of one GPU",
    "full-chip": "the full chip instead of the shipped part",
    "visible": "what the device reports instead of what is shipped",
    "direction": "one direction instead of both, or the reverse",
    "other-condition": "our row of another condition",
    "per-block": "the limit of a block, called that of the SM, or the reverse",
    "other-metric": "our row of another metric: another cache level, a measurement, a limit",
    "measured-as-peak": "a measurement or pass limit, called a peak",
    "doubled": "twice the value: a data rate doubled once more, FLOP counted from MAC twice",
    "halved": "half the value: a MAC counted as one operation, a correction applied twice, one of two dies",
    "unit-prefix": "a factor of 1000",
    "binary-prefix": "1024-based and decimal prefixes confused",
    "family-rate": "computed from the architecture's rate, which this part does not have",
    "other-product": "the value of another product",
    "part-lacks-it": "the part does not have it",
    "close": "within 5 %: another rounding, revision or clock",
    "unexplained": "none of the known error classes fits",
}
"""Error classes and what they mean."""


@dataclass(frozen=True, slots=True)
class Explanation(Wire):
    """One class that fits, with the row or arithmetic that makes it fit."""

    WIRE: ClassVar = ("class=kind", "detail")
    kind: str
    detail: str


@dataclass(frozen=True, slots=True)
class ForeignCase:
    """A foreign value and what it is compared with.

    Attributes:
        wanted: Conditions of the foreign row.
        ours: Our row that it should equal; None when ours is UNKNOWN or NONE.
    """

    wiki: Wiki
    identity: Identity
    sheet: Sheet
    row: ForeignRow
    wanted: dict[str, str]
    ours: Row | None

    @property
    def ratio(self) -> Fraction | None:
        """Foreign over ours."""
        return None if self.ours is None else self.row.si / row_value(self.ours)


def near(actual: Fraction, expected: Fraction, share: Fraction = NEAR) -> bool:
    """Return whether a value stands within that share of what would explain it."""
    return abs(actual - expected) <= share * expected


def _values(sheet: Sheet, *metrics: str) -> list[Row]:
    """Return the rows of these metrics that may become quantities."""
    blocked = {fault.key for fault in sheet.faults}
    asked = [row for row in sheet.rows if row.metric in metrics and row.kind == "value"]  # a sheet has hundreds of rows
    return list({row.key: row for row in asked if row.chosen is not False and row.key not in blocked}.values())


def _show(row: Row) -> str:
    return f"{row.key} = {row.value} {row.unit} (<gpu-wiki>/{row.path}:L{row.line})"


_AXIS_CLASSES = {
    "acc": "accumulator", "engine": "wrong-engine", "dtype": "other-dtype", "clock": "other-clock",
    "class": "other-clock", "ops": "other-clock", "direction": "direction",
}  # fmt: skip
_DIES = {"die", "xcd", "gcd", "sm"}


def _axis_class(axis: str, wanted: str, have: str) -> str:
    if axis == "sparsity":
        return "sparse-as-dense" if have == "2:4" else "dense-as-sparse"
    if axis == "config":
        return {"full": "full-chip", "visible": "visible"}.get(have, "other-condition")
    if axis == "scope":
        return "per-die" if have in _DIES or wanted not in {"gpu", *_DIES} else "per-system"
    return _AXIS_CLASSES.get(axis, "other-condition")


def _rejected(case: ForeignCase) -> Iterator[Explanation]:
    for row in case.sheet.rows:
        loses = row.metric == case.row.metric and row.chosen is False and row.kind == "value"
        if loses and not differing(row, case.wanted) and near(case.row.si, row_value(row)):
            yield Explanation("rejected-here", f"{_show(row)}, rejected: {row.note('rejected')}")


def _zero(case: ForeignCase) -> Iterator[Explanation]:
    if case.row.si == 0:
        yield Explanation("zero", "no part has 0 of it; a missing value is UNKNOWN, an absent unit NONE")


def _conditions(case: ForeignCase) -> Iterator[Explanation]:
    """Rows of the same metric that differ in as few conditions as possible."""
    same = [row for row in _values(case.sheet, case.row.metric) if near(case.row.si, row_value(row))]
    found = [(axes, row) for row in same if (axes := differing(row, case.wanted))]
    least = min((len(axes) for axes, _ in found), default=0)
    for axes, row in found:
        if len(axes) == least <= 2:
            for axis, wanted, have in axes:
                yield Explanation(_axis_class(axis, wanted, have), _show(row))


_FAMILIES = (
    ("l1_capacity", "l1_shared_pool", "l2_capacity", "llc_capacity", "shared_memory_per_sm", "shared_memory_per_block",
     "tensor_memory_per_sm", "memory_capacity"),
    ("memory_bandwidth", "l2_bandwidth", "llc_bandwidth", "link_bandwidth", "host_bandwidth", "measured_bandwidth"),
    ("peak_compute", "measured_compute", "acceptance_compute"),
    ("sm_count", "matrix_units", "die_count"),
    ("registers_per_sm", "registers_per_simd", "registers_per_block"),
    ("warps_per_sm", "warps_per_simd", "threads_per_sm", "threads_per_block", "blocks_per_sm"),
    ("memory_clock", "sm_clock"),
)  # fmt: skip
_SHARED = {"shared_memory_per_sm", "shared_memory_per_block"}


def _metric_class(foreign: str, ours: str) -> str:
    if {foreign, ours} == _SHARED:
        return "per-block"
    return "measured-as-peak" if ours.startswith(("measured", "acceptance")) else "other-metric"


def _metrics(case: ForeignCase) -> Iterator[Explanation]:
    """Rows of metrics that are easily taken for this one, under the same number format."""
    others = {name for family in _FAMILIES if case.row.metric in family for name in family} - {case.row.metric}
    for row in _values(case.sheet, *others):
        if near(case.row.si, row_value(row)):
            dtype = dict(row.axes).get("dtype")
            if dtype is None or dtype == case.wanted.get("dtype"):
                yield Explanation(_metric_class(case.row.metric, row.metric), _show(row))


def _binary_power(symbol: str) -> int:
    return {"k": 1, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5}.get(symbol[:1], 0)


_LINKS = {"link_bandwidth", "host_bandwidth"}
_RATES = {"peak_compute", "ops_per_clock_per_sm"}


def _may_be_sparse(case: ForeignCase) -> bool:
    """Whether the part may have a sparse rate: a value, UNKNOWN, or no row that says NONE."""
    if case.wanted.get("engine") == "vector":
        return False
    sparse = [row for row in case.sheet.chosen().values() if dict(row.axes).get("sparsity") == "2:4"]
    return any(row.kind != "none" for row in sparse) or not sparse


def _twice(case: ForeignCase, ratio: Fraction) -> Iterator[str]:
    """Yield the classes of a factor of two or one half."""
    if near(ratio, Fraction(2), FAR):
        if case.row.metric in _RATES and case.wanted.get("sparsity") == "dense" and _may_be_sparse(case):
            yield "sparse-as-dense"
        else:
            yield "doubled"
            yield "direction" if case.row.metric in _LINKS else "per-system"
    if near(ratio, Fraction(1, 2), FAR):
        yield "halved"
        if case.row.metric in _LINKS:
            yield "direction"


def _prefixes(case: ForeignCase, ratio: Fraction) -> Iterator[str]:
    """Yield the classes of systems and prefixes."""
    if any(near(ratio, Fraction(count), FAR) for count in (4, 8, 16, 36, 72)):
        yield "per-system"
    if any(near(ratio, Fraction(1000) ** power, FAR) for power in (-3, -2, -1, 1, 2, 3)):
        yield "unit-prefix"
    power = _binary_power(case.row.unit)
    binary = Fraction(1024, 1000) ** power
    if power > 1 and (near(ratio, binary) or near(ratio, 1 / binary)):
        yield "binary-prefix"


def _factors(case: ForeignCase) -> Iterator[Explanation]:
    """Plain factors between the foreign value and ours."""
    ratio = case.ratio
    if ratio and case.ours is not None:
        for kind in (*_twice(case, ratio), *_prefixes(case, ratio)):
            yield Explanation(kind, f"{float(ratio):.4g} times our {_show(case.ours)}")


def _dies(case: ForeignCase) -> Iterator[Explanation]:
    """The value times the number of dies is ours."""
    ratio = case.ratio
    for row in _values(case.sheet, "die_count"):
        if ratio and row_value(row) > 1 and near(ratio * row_value(row), Fraction(1)):
            yield Explanation("per-die", f"one of {row.value} dies of {_show(case.ours) if case.ours else ''}")


def _numbers(sheet: Sheet, metric: str, **axes: str) -> list[Fraction]:
    return [row_value(row) for row in _values(sheet, metric) if not differing(row, axes)]


def _rates(case: ForeignCase) -> Iterator[Explanation]:
    """SMs x rate x clock with another clock, or with the rate per SM that a sibling of the same target has."""
    if case.row.metric != "peak_compute":
        return
    counts = _numbers(case.sheet, "sm_count")
    same: dict[str, str] = {name: case.wanted[name] for name in ("dtype", "engine", "sparsity") if name in case.wanted}
    for sheet, rates, kind in _rate_sheets(case, same):
        clocks = {row_value(row) for row in _values(sheet, "sm_clock")}
        fitting = [c for c in clocks for n in counts for rate in rates if near(case.row.si, n * rate * c)]
        if fitting:
            clock = float(min(fitting)) / 10**6
            yield Explanation(kind, f"sm_count times the rate of {sheet.front.get('platform')} at {clock:.0f} MHz")
            return


def _rate_sheets(case: ForeignCase, same: dict[str, str]) -> Iterator[tuple[Sheet, list[Fraction], str]]:
    """Yield this part with its rate, with the ceiling of its target if it is cut, and its siblings with theirs."""
    rates = [
        row for row in _values(case.sheet, "ops_per_clock_per_sm") if not differing(row, {**same, "acc": "unstated"})
    ]
    own = [row_value(row) for row in rates if not row.path.startswith("targets/")]
    ceiling = [row_value(row) for row in rates if row.path.startswith("targets/")]
    yield case.sheet, own or ceiling, "other-clock"
    if own:
        yield case.sheet, ceiling, "family-rate"
    for other in case.wiki.names.identities.values():
        if other.target == case.identity.target and other != case.identity:
            sheet = case.wiki.sheet(other)
            yield sheet, _numbers(sheet, "ops_per_clock_per_sm", **same, acc="unstated"), "family-rate"


_MOST_PRODUCTS = 4


def _closer(case: ForeignCase, value: Fraction) -> bool:
    """Return whether a value is near the foreign one, and nearer than ours."""
    distance = abs(value - case.row.si)
    return near(case.row.si, value) and (case.ours is None or distance < abs(row_value(case.ours) - case.row.si))


def _products(case: ForeignCase) -> Iterator[Explanation]:
    """Other products of the vendor with this value, those that are easily confused first."""
    named = case.wiki.names.siblings(case.identity)
    rest = [p for p, one in case.wiki.names.identities.items() if one.vendor == case.identity.vendor]
    hits = []
    for platform in dict.fromkeys((*named, *rest)):
        one = case.wiki.names.identities[platform]
        if one != case.identity:
            theirs = _numbers(case.wiki.sheet(one), case.row.metric, **case.wanted)
            hits += [platform] if any(_closer(case, value) for value in theirs) else []
    if hits:
        more = f" and {len(hits) - _MOST_PRODUCTS} more" if len(hits) > _MOST_PRODUCTS else ""
        yield Explanation("other-product", f"{', '.join(hits[:_MOST_PRODUCTS])}{more} have this value")


_TRIED: tuple[Callable[[ForeignCase], Iterator[Explanation]], ...] = (
    _zero, _rejected, _conditions, _dies, _metrics, _factors, _rates, _products,
)  # fmt: skip


def explain(case: ForeignCase) -> tuple[Explanation, ...]:
    """Return every class that fits, the most telling first; `unexplained` when none does."""
    found: dict[str, Explanation] = {}
    for tried in _TRIED:
        for one in tried(case):
            found.setdefault(one.kind, one)
    if not found:
        slight = case.ratio is not None and near(case.ratio, Fraction(1), CLOSE)
        kind = "close" if slight else "unexplained"
        found[kind] = Explanation(kind, CLASSES[kind])
    return tuple(found.values())
