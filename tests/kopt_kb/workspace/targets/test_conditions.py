"""Stop Conditions are judged from measurements, exactly, and never above a roof."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kopt_kb.problem.counts import ByteCount, Count, FlopCount
from kopt_kb.workspace.journal.round_events import Measured
from kopt_kb.workspace.targets.conditions import AboveCeilingError, StopConditions
from kopt_kb.workspace.workspace import Workspace


def record(shape: str, median_s: float, name: str = "m1") -> Measured:
    """A measurement record of one shape."""
    return Measured(name, "c1", shape, 100, median_s, {"mad_s": 0.0}, "r1", 1)


@pytest.fixture
def conditions(workspace: Workspace) -> StopConditions:
    """8192x4096 moves 134,225,920 bytes; 1024x512 moves 2,098,176; both must reach 1.8 of 2.0 TB/s."""
    return workspace.stop_conditions()


def test_one_condition_a_shape(conditions: StopConditions) -> None:
    """Bytes, target and ceiling are exact."""
    first, second = conditions.conditions
    assert (first.shape, first.quantity, first.amount) == ("8192x4096", "bandwidth", 134_225_920)
    assert second.amount == 2 * 1024 * 512 * 2 + 512 * 2
    assert (first.target_per_s, first.ceiling_per_s) == (1_800_000_000_000, 2_000_000_000_000)


def test_exactly_the_target_is_met(conditions: StopConditions) -> None:
    """134,225,920 B / 1.8 TB/s = 74.57 us."""
    at = 134_225_920 / 1.8e12
    judged = conditions.evaluate({"8192x4096": record("8192x4096", at)}).judged[0]
    assert judged.ratio == pytest.approx(1.0)
    slower = conditions.evaluate({"8192x4096": record("8192x4096", at * 1.001)}).judged[0]
    assert not slower.met


def test_the_aggregate_needs_every_shape(conditions: StopConditions) -> None:
    """Geomean of 1.05 and 0.98 is above 1, but one shape alone is not enough."""
    slow, fast = 2_098_176 / (1.8e12 * 0.98), 134_225_920 / (1.8e12 * 1.05)
    half = conditions.evaluate({"8192x4096": record("8192x4096", fast)})
    both = conditions.evaluate({"8192x4096": record("8192x4096", fast), "1024x512": record("1024x512", slow)})
    assert not half.aggregate_met
    assert both.aggregate == pytest.approx((1.05 * 0.98) ** 0.5)
    assert (both.aggregate_met, both.all_met) == (True, False)


def test_faster_than_the_roof_is_an_error(conditions: StopConditions) -> None:
    """101 % of 2.0 TB/s leaves writes in the cache and is met; below the floor a time is wrong, not a met condition."""
    met = conditions.evaluate({"8192x4096": record("8192x4096", 134_225_920 / 2.02e12)})
    assert met.judged[0].met and met.judged[0].ceiling_share == pytest.approx(1.01)
    with pytest.raises(AboveCeilingError, match="roof"):
        conditions.evaluate({"8192x4096": record("8192x4096", (134_225_920 - 50 * 2**20) / 2.02e12)})


def test_unmeasured_shapes_are_not_met(conditions: StopConditions) -> None:
    """No record, no ratio."""
    found = conditions.evaluate({})
    assert (found.aggregate, found.all_met, found.to_json()["conditions"][0]["record"]) == (None, False, None)


def test_bytes_of_the_targets_own_level_count(workspace: Workspace) -> None:
    """Bytes of a cache are no traffic of device memory; operations of another engine are not the target's."""
    state = workspace.state()
    assert state.targets is not None
    first = state.rooflines[0]
    extra = ByteCount("l2", "read", Count(10**12))
    counted = replace(first, work=replace(first.work, bytes=(*first.work.bytes, extra)))
    state.rooflines = (counted, *state.rooflines[1:])
    assert StopConditions.of(state).conditions[0].amount == 134_225_920
    work = replace(first.work, flops=(*first.work.flops, FlopCount("bf16", "matrix", Count(7))))
    matrix = replace(first.ceilings[0], name="bf16 matrix")
    computed = replace(first, target=replace(first.target, name="bf16 matrix"), work=work, ceilings=(matrix,))
    state.rooflines = (computed, *state.rooflines[1:])
    assert StopConditions.of(state).conditions[0].amount == 7


def test_the_longest_median_that_meets_a_condition(conditions: StopConditions) -> None:
    """134,225,920 B at 1.8 TB/s; a part in a billion more is not met."""
    (first, *_) = conditions.conditions
    longest = float(first.latency_s)
    assert longest == 134_225_920 / 1.8e12
    assert conditions.evaluate({first.shape: record(first.shape, longest)}).judged[0].met
    assert not conditions.evaluate({first.shape: record(first.shape, longest * (1 + 1e-9))}).judged[0].met
