"""Rules on peak rates: units times rate times clock, and no measurement above its peak."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from kopt_kb.wiki.physics.base import PRODUCT_TOLERANCE, Facts, Finding, compare, rows, value, within
from kopt_kb.wiki.row import Row
from kopt_kb.wiki.sheet import row_value

__all__ = ["lanes", "measured_below_peak", "rate"]


def _clocks(facts: Facts, stated: str, engine: str) -> list[Fraction]:
    """Return the clocks a peak may refer to: the class it states, else every known class of its engine."""
    found = []
    for row in rows(facts, "sm_clock"):
        axes = dict(row.axes)
        fits = stated == "unstated" or axes["class"] == stated
        if fits and axes["ops"] in {"all", engine} and axes["class"] != "base":
            found.append(row_value(row))
    return found


def _rates(facts: Facts, axes: dict[str, str]) -> set[Fraction]:
    found = set()
    for row in rows(
        facts, "ops_per_clock_per_sm", dtype=axes["dtype"], engine=axes["engine"], sparsity=axes["sparsity"]
    ):
        acc = dict(row.axes)["acc"]
        if "unstated" in {acc, axes["acc"]} or acc == axes["acc"]:
            found.add(row_value(row))
    return found


def _against(row: Row, expected: list[Fraction], meaning: str) -> Finding:
    """Pass if any expected value fits; else compare with the nearest."""
    actual = row_value(row)
    fitting = [one for one in expected if within(actual, one, PRODUCT_TOLERANCE)]
    nearest = fitting[0] if fitting else min(expected, key=lambda one: abs(actual - one))
    return compare(row, nearest, PRODUCT_TOLERANCE, meaning)


def rate(facts: Facts) -> Iterator[Finding]:
    """A documented peak equals SMs x operations a clock x clock (2 %)."""
    count = value(facts, "sm_count")
    for row in rows(facts, "peak_compute"):
        axes = dict(row.axes)
        per_clock = _rates(facts, axes)
        clocks = _clocks(facts, axes["clock"], axes["engine"])
        if row.grade == "derived":
            continue
        if count is None or not per_clock or not clocks:
            missing = "sm_count" if count is None else "ops_per_clock_per_sm" if not per_clock else "sm_clock"
            yield Finding(row, "not-checkable", f"{row.key}: {missing} is not known")
            continue
        expected = [count * one * clock for one in per_clock for clock in clocks]
        yield _against(row, expected, "sm_count * ops_per_clock_per_sm * sm_clock")


def lanes(facts: Facts) -> Iterator[Finding]:
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
            yield Finding(row, "not-checkable", f"{row.key}: {missing} is not known")
            continue
        expected = [count * width * 2 * clock for clock in clocks]
        yield _against(row, expected, "sm_count * lanes_per_sm * 2 * sm_clock")


def measured_below_peak(facts: Facts) -> Iterator[Finding]:
    """Nothing measured, and no acceptance limit, is above the documented dense peak of its type."""
    for metric in ("measured_compute", "acceptance_compute"):
        for row in rows(facts, metric):
            axes = dict(row.axes)
            engine = {"engine": axes["engine"]} if "engine" in axes else {}
            peaks = [
                row_value(peak) for peak in rows(facts, "peak_compute", dtype=axes["dtype"], sparsity="dense", **engine)
            ]
            if not peaks:
                yield Finding(row, "not-checkable", f"{row.key}: no documented dense peak of {axes['dtype']}")
                continue
            over = row_value(row) > max(peaks)
            detail = f"{row.key} = {row.value} {row.unit} against the documented dense peak"
            yield Finding(row, "fail" if over else "pass", f"{detail}: {'above' if over else 'below'} it")
