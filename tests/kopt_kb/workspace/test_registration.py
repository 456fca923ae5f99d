"""What a workspace registers, and the targets that follow."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kopt_kb.problem.problem import Problem
from kopt_kb.wiki.registry import Registry
from kopt_kb.workspace.journal.setup_events import AGGREGATE
from kopt_kb.workspace.registration import (
    TimeBounds,
    _number,
    registered_rows,
    rooflines,
    specs_registered,
    target_set,
    unknown_needs,
)
from kopt_kb.workspace.targets.short import too_short

NORM = Problem.of("rms_norm", ["8192x4096", "64x64"], "bf16")


def test_roofs_come_first_then_limits_each_once(registry: Registry) -> None:
    """Derived roof, its parents, bandwidth, and the limits that are there."""
    platform = registry.platform("T10")
    rows, _ = registered_rows(platform, rooflines(NORM, platform))
    keys = [row.key for row in rows]
    assert keys[0].startswith("peak_compute[dtype=fp32")
    assert len(set(keys)) == len(keys)
    assert {"memory_bandwidth", "sm_count", "l2_capacity", "warp_size"} <= set(keys)


def test_rows_are_copied_exactly(registry: Registry) -> None:
    """Value as printed, exact SI, hash, line, source."""
    platform = registry.platform("T10")
    event = specs_registered(platform, rooflines(NORM, platform), {})
    row = next(row for row in event.rows if row.key == "memory_bandwidth")
    assert (row.value, row.unit, row.si, row.grade) == ("2.0", "TB/s", "2000000000000", "vendor")
    assert row.source == "Sheet, bandwidth row"


def test_one_condition_a_shape_and_an_aggregate(registry: Registry) -> None:
    """0.9 x 2.0 TB/s for both shapes."""
    platform = registry.platform("T10")
    event = target_set(NORM, rooflines(NORM, platform), reason="r", by="b")
    assert [(one.shape, one.quantity, one.value, one.unit) for one in event.targets] == [
        ("8192x4096", "bandwidth", "1.8", "TB/s"),
        ("64x64", "bandwidth", "1.8", "TB/s"),
        (None, AGGREGATE, "1", ""),
    ]
    assert (event.bound, event.targets[0].basis, event.targets[0].factor) == ("memory", "memory_bandwidth", "0.9")


def test_tiny_work_has_no_condition(registry: Registry) -> None:
    """4.6 ns at 1.8 TB/s is below what events resolve: no condition, and it is said of which shape and why."""
    platform = registry.platform("T10")
    found = rooflines(NORM, platform)
    event = target_set(NORM, found, reason="r", by="b", bounds=TimeBounds.of(platform, found, NORM.tolerance))
    assert [one.shape for one in event.targets] == ["8192x4096", None]
    assert list(too_short(event)) == ["64x64"] and "on T10" in too_short(event)["64x64"]
    plain = target_set(NORM, rooflines(NORM, platform), reason="r", by="b")
    assert too_short(plain) == {} and too_short(None) == {}


def test_unknown_roofs_set_no_condition(registry: Registry) -> None:
    """And name what is missing."""
    platform = registry.platform("T10")
    found = rooflines(Problem.of("gemm", ["64x64x64"], "bf16"), platform)
    assert (
        target_set(NORM if False else Problem.of("gemm", ["64x64x64"], "bf16"), found, reason="r", by="b").targets == ()
    )
    assert unknown_needs(found)[0].needs[0].startswith("T10 peak_compute")
    event = specs_registered(platform, found, {})
    assert any(row.key.startswith("peak_compute[dtype=bf16") for row in event.unknown)


@given(st.fractions(min_value=0, max_value=10**6, max_denominator=10**6))
def test_numbers_keep_every_digit(value: Fraction) -> None:
    """A decimal where that is exact, else a fraction."""
    assert Fraction(_number(value)) == value


@pytest.mark.parametrize(
    ("value", "text"),
    [(Fraction(18, 10), "1.8"), (Fraction(1, 8), "0.125"), (Fraction(1, 3), "1/3"), (Fraction(5), "5")],
)
def test_numbers_read_as_people_write_them(value: Fraction, text: str) -> None:
    """No trailing zeros."""
    assert _number(value) == text
