"""Rules for work on memory that need not be done: what fires, what must not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kopt_kb.analysis.rules.base import Finding
from kopt_kb.analysis.rules.derived import DerivedMetrics
from kopt_kb.analysis.rules.waste import find_atomics, find_bank_conflict, find_spill, find_uncoalesced

Made = Callable[..., DerivedMetrics]
Find = Callable[[DerivedMetrics], Finding | None]
STRIDED = {
    "global_load_sectors": 32.0, "global_load_bytes": 1024.0, "global_load_useful_bytes_per_sector": 4.0,
    "l2_bytes": 1024.0,
}  # fmt: skip


def test_strided_access_on_a_busy_path(made: Made) -> None:
    """1024 bytes for 128 used at 80 % of DRAM: waste of 8."""
    found = find_uncoalesced(made(**STRIDED, dram_sol_pct=80.0))
    assert found is not None
    assert found.evidence[0].value == 8.0


def test_strided_access_that_nobody_waits_for(made: Made) -> None:
    """At 20 % of DRAM and no stall it is not the limiter."""
    assert find_uncoalesced(made(**STRIDED, dram_sol_pct=20.0)) is None
    assert find_uncoalesced(made(**STRIDED, dram_sol_pct=20.0, stall__long_scoreboard=50.0)) is not None


@pytest.mark.parametrize(("excess", "use", "fires"), [(16.0, 90.0, True), (1.1, 90.0, False), (16.0, 10.0, False)])
def test_bank_conflicts_need_a_busy_path(made: Made, excess: float, use: float, fires: bool) -> None:
    """Sixteen passes for one at 90 %: yes. A tenth more, or an idle path: no."""
    kernel = made(shared_wavefronts=excess, shared_wavefronts_ideal=1.0, l1_sol_pct=use)
    assert (find_bank_conflict(kernel) is not None) is fires


def test_atomics_of_a_reduction_are_none(made: Made) -> None:
    """One atomic for 31 loads, or a handful in a kernel of many instructions, limits nothing."""
    waits = {"stall__long_scoreboard": 99.0}
    rare = made(atomic_requests=1.0, global_load_requests=31.0, instructions=100.0, **waits)
    few = made(atomic_requests=700.0, instructions=7e6, **waits)
    many = made(atomic_requests=50.0, global_load_requests=50.0, instructions=1000.0, **waits)
    assert [find_atomics(one) is not None for one in (rare, few, many)] == [False, False, True]


def test_atomics_under_saturated_dram_are_not_the_limiter(made: Made) -> None:
    """DRAM at 85 % comes first."""
    kernel = made(atomic_requests=50.0, instructions=1000.0, stall__long_scoreboard=99.0, dram_sol_pct=85.0)
    assert find_atomics(kernel) is None


def test_registers_without_local_traffic_are_no_spill(made: Made) -> None:
    """Many registers prove nothing; private sectors do."""
    waits = {"stall__long_scoreboard": 99.0, "global_load_sectors": 10.0, "global_store_sectors": 10.0}
    none = made(registers_per_thread=168.0, local_load_sectors=0.0, local_store_sectors=0.0, **waits)
    half = made(local_load_sectors=10.0, local_store_sectors=10.0, spill_requests=5.0, **waits)
    assert find_spill(none) is None
    found = find_spill(half)
    assert found is not None
    assert "registers were spilled" in found.evidence[-1].note
    unknown = made(**waits)
    assert find_spill(unknown) is None


WAITS = {"stall__long_scoreboard": 99.0}
PATHS = ("local_load", "local_store", "global_load", "global_store")
WASTEFUL = [
    (find_atomics, {"atomic_requests": 50.0, "instructions": 1000.0, **WAITS}),
    (find_spill, {f"{path}_sectors": 10.0 for path in PATHS} | WAITS),
    (find_bank_conflict, {"shared_wavefronts": 16.0, "shared_wavefronts_ideal": 1.0, "l1_sol_pct": 85.0}),
    (find_uncoalesced, {**STRIDED, "dram_sol_pct": 85.0}),
]


@pytest.mark.parametrize(("rule", "waste"), WASTEFUL, ids=lambda one: getattr(one, "__name__", ""))
def test_where_arithmetic_is_the_busier_nothing_is_gained(made: Made, rule: Find, waste: dict[str, float]) -> None:
    """At 95 % of a pipe waste on memory limits nothing; at 50 % of it, under the 60 % that limit, it does."""
    assert rule(made(**waste)) is not None
    assert rule(made(**waste, pipe_elapsed__fma_pct=50.0)) is not None
    assert rule(made(**waste, pipe_elapsed__fma_pct=95.0)) is None


@pytest.mark.parametrize(("rule", "waste"), WASTEFUL[2:], ids=lambda one: getattr(one, "__name__", ""))
def test_where_memory_is_busier_than_busy_arithmetic_the_waste_counts(
    made: Made, rule: Find, waste: dict[str, float]
) -> None:
    """82 % of a pipe under 85 % of the memory path: the path comes first; but busy matrix units come before it."""
    assert rule(made(**waste, pipe_elapsed__fma_pct=82.0)) is not None
    assert rule(made(**waste, pipe_elapsed__tensor_pct=78.0)) is not None
    assert rule(made(**waste, pipe_elapsed__tensor_pct=82.0)) is None


@pytest.mark.parametrize(("rule", "waste"), WASTEFUL[:2], ids=lambda one: getattr(one, "__name__", ""))
def test_waste_that_nobody_waits_for_limits_nothing(made: Made, rule: Find, waste: dict[str, float]) -> None:
    """30 % of a warp's time waiting for memory is the least: with 31 of 100 it fires, with 29 it does not."""
    assert rule(made(**{**waste, "stall__long_scoreboard": 31.0, "stall__wait": 69.0})) is not None
    assert rule(made(**{**waste, "stall__long_scoreboard": 29.0, "stall__wait": 71.0})) is None
