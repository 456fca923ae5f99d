"""Rules on peak rates: units times rate times clock, and no measurement above its peak."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from kopt_kb.wiki.physics.base import EXACT, PRODUCT_TOLERANCE, Facts, PhysicsFinding, compare, rows, value, within
from kopt_kb.wiki.physics.memory import alike
from kopt_kb.wiki.row import Row
from kopt_kb.wiki.sheet import row_value

__all__ = ["ceiling", "lanes", "measured_alike", "measured_below_peak", "measured_not_tiny", "operations", "rate"]


def _clocks(facts: Facts, stated: str, engine: str) -> list[Fraction]:
    """Return the clocks a peak may refer to: the class it states, else every known class of its engine."""
    found = []
    for row in rows(facts, "sm_clock"):
        axes = dict(row.axes)
        fits = stated == "unstated" or axes["class"] == stated
        if fits and axes["ops"] in {"all", engine} and axes["class"] != "base":
            found.append(row_value(row))
    return found


_SPARSE_GAIN = 2
"""2:4 sparsity skips half of the products: the sparse rate is twice the dense one where no row says otherwise."""


def operations(facts: Facts, axes: dict[str, str]) -> set[Fraction]:
    """Return operations a clock and SM of a peak's type: the product's own, else of its accumulator, else of any.

    Where no row states the sparse rate it is twice the dense one; a block-scaled format has that of its plain one.
    """
    kind = {"dtype": axes["dtype"], "engine": axes["engine"]}
    for sparsity, gain in ((axes["sparsity"], 1), ("dense", _SPARSE_GAIN)):
        found = [(row, dict(row.axes)["acc"]) for row in rows(facts, "ops_per_clock_per_sm", **kind, sparsity=sparsity)]
        fitting = [(row, acc) for row, acc in found if acc == axes["acc"] or "unstated" in {acc, axes["acc"]}]
        own = [row for row, _ in fitting if not row.path.startswith("targets/")]
        same = [row for row, acc in fitting if acc == axes["acc"]]
        if fitting:
            return {row_value(row) * gain for row in own or same or [row for row, _ in fitting]}
    return set()


def _against(row: Row, expected: list[Fraction], meaning: str) -> PhysicsFinding:
    """Pass if any expected value fits; else compare with the nearest."""
    actual = row_value(row)
    fitting = [one for one in expected if within(actual, one, PRODUCT_TOLERANCE)]
    nearest = fitting[0] if fitting else min(expected, key=lambda one: abs(actual - one))
    return compare(row, nearest, PRODUCT_TOLERANCE, meaning)


def _has_lanes(facts: Facts, axes: dict[str, str]) -> bool:
    """Return whether PHY-LANES speaks about a peak: a dense vector rate whose lanes are known."""
    return axes["engine"] == "vector" and value(facts, "lanes_per_sm", dtype=axes["dtype"]) is not None


def ceiling(facts: Facts) -> Iterator[PhysicsFinding]:
    """A product's own operations a clock are those of its target, and never more; a cut product says so."""
    for row in rows(facts, "ops_per_clock_per_sm"):
        axes = {name: text for name, text in row.axes if name != "acc"}
        tops = [
            one for one in rows(facts, "ops_per_clock_per_sm", **axes) if one.path.startswith("targets/") and one != row
        ]
        if tops and not row.path.startswith("targets/"):
            yield compare(row, max(row_value(one) for one in tops), EXACT, "the ceiling of its target")


def rate(facts: Facts) -> Iterator[PhysicsFinding]:
    """A documented peak equals SMs x operations a clock x clock (2 %)."""
    count = value(facts, "sm_count")
    for row in rows(facts, "peak_compute"):
        axes = dict(row.axes)
        per_clock = operations(facts, axes)
        clocks = _clocks(facts, axes["clock"], axes["engine"])
        if row.grade == "derived" or (not per_clock and _has_lanes(facts, axes)):
            continue
        if count is None or not per_clock or not clocks:
            missing = "sm_count" if count is None else "ops_per_clock_per_sm" if not per_clock else "sm_clock"
            yield PhysicsFinding(row, "not-checkable", f"{row.key}: {missing} is not known")
            continue
        expected = [count * one * clock for one in per_clock for clock in clocks]
        yield _against(row, expected, "sm_count * ops_per_clock_per_sm * sm_clock")


def lanes(facts: Facts) -> Iterator[PhysicsFinding]:
    """A documented vector peak equals SMs x lanes x 2 x clock (2 %)."""
    count = value(facts, "sm_count")
    for row in rows(facts, "peak_compute", engine="vector", sparsity="dense"):
        axes = dict(row.axes)
        width = value(facts, "lanes_per_sm", dtype=axes["dtype"])
        clocks = _clocks(facts, axes["clock"], "vector")
        if row.grade == "derived":
            continue
        if count is None or width is None or not clocks:
            missing = "sm_count" if count is None else "lanes_per_sm" if width is None else "sm_clock"
            yield PhysicsFinding(row, "not-checkable", f"{row.key}: {missing} is not known")
            continue
        expected = [count * width * 2 * clock for clock in clocks]
        yield _against(row, expected, "sm_count * lanes_per_sm * 2 * sm_clock")


def _dense_peaks(facts: Facts, row: Row) -> list[Fraction]:
    axes = dict(row.axes)
    engine = {"engine": axes["engine"]} if "engine" in axes else {}
    return [row_value(peak) for peak in rows(facts, "peak_compute", dtype=axes["dtype"], sparsity="dense", **engine)]


def measured_below_peak(facts: Facts) -> Iterator[PhysicsFinding]:
    """Nothing measured, and no acceptance limit, is above the documented dense peak of its type."""
    for metric in ("measured_compute", "acceptance_compute"):
        for row in rows(facts, metric):
            peaks = _dense_peaks(facts, row)
            if not peaks:
                dtype = dict(row.axes)["dtype"]
                yield PhysicsFinding(row, "not-checkable", f"{row.key}: no documented dense peak of {dtype}")
                continue
            over = row_value(row) > max(peaks)
            detail = f"{row.key} = {row.value} {row.unit} against the documented dense peak"
            yield PhysicsFinding(row, "fail" if over else "pass", f"{detail}: {'above' if over else 'below'} it")


_TINY = Fraction(1, 5)
"""Nothing that is measured to find a ceiling ends under a fifth of it: a unit was mistaken."""
_PUBLISHED_RATE, _PUBLISHED_BANDWIDTH = Fraction(3, 10), Fraction(3, 5)
"""What somebody publishes as the best of a part is more: 0.3 to 1 of the peak, 0.6 to 1 of the memory's bandwidth."""


_ALIKE = Fraction(5, 4)
_LIMITS = (("bf16", "fp16", 1), ("fp8", "fp16", 2), ("int8", "fp8", 1))
_LIMIT_NEAR = Fraction(13, 10)
"""What a vendor asks of its parts follows the peaks: bf16 as fp16, fp8 twice of it, each within 1.25."""


def measured_alike(facts: Facts) -> Iterator[PhysicsFinding]:
    """What one document measures of one type is alike over its large shapes; pass limits follow the types' peaks."""
    by_document: dict[tuple[str, ...], list[Row]] = {}
    for row, axes in facts.by_metric.get("measured_compute", ()):
        if not row.path.startswith("measured/") and row.sources:
            kind = (row.sources[0].id, axes["dtype"], axes["engine"], axes["acc"])
            by_document.setdefault(kind, []).append(row)
    for found in by_document.values():
        yield from alike(found, _ALIKE)
    for narrow, wide, factor in _LIMITS:
        for row in rows(facts, "acceptance_compute", dtype=narrow):
            other = value(facts, "acceptance_compute", dtype=wide, data=dict(row.axes)["data"])
            if other is not None:
                near = max(row_value(row), factor * other) <= _LIMIT_NEAR * min(row_value(row), factor * other)
                yield PhysicsFinding(row, "pass" if near else "fail", f"{row.key} beside the limit of {wide}")


def measured_not_tiny(facts: Facts) -> Iterator[PhysicsFinding]:
    """A measured rate or bandwidth, and an acceptance limit, is no small part of the documented one.

    At least a fifth where a curve over sizes was measured here, more for the one figure that a third party publishes.
    """
    for metric in ("measured_compute", "acceptance_compute"):
        for row in rows(facts, metric):
            peaks = _dense_peaks(facts, row)
            if peaks:
                yield _not_tiny(row, min(peaks), _PUBLISHED_RATE)
    top = value(facts, "memory_bandwidth")
    for row in rows(facts, "measured_bandwidth", level="dram"):
        if top is not None:
            yield _not_tiny(row, top, _PUBLISHED_BANDWIDTH)


def _not_tiny(row: Row, top: Fraction, published: Fraction) -> PhysicsFinding:
    least = _TINY if row.path.startswith("measured/") else published
    detail = f"{row.key} = {row.value} {row.unit} is {float(row_value(row) / top) * 100:.1f} % of the documented value"
    return PhysicsFinding(row, "pass" if row_value(row) >= top * least else "fail", detail)
