"""Rules for warps that wait: what fires, what must not."""

from __future__ import annotations

from collections.abc import Callable

from kopt_kb.analysis.rules.derived import DerivedMetrics
from kopt_kb.analysis.rules.waiting import find_barrier, find_dependency, find_occupancy

Made = Callable[..., DerivedMetrics]
IDLE = {"sm_sol_pct": 5.0, "issue_active": 0.05, "dram_sol_pct": 10.0}


def test_barriers_must_lead(made: Made) -> None:
    """More than another reason and 30 % of the time; 5 % under saturated DRAM are none."""
    assert find_barrier(made(stall__barrier=20.0, stall__wait=3.0)) is not None
    assert find_barrier(made(stall__barrier=16.0, stall__long_scoreboard=96.0)) is None
    assert find_barrier(made(stall__barrier=20.0, stall__wait=3.0, dram_sol_pct=90.0)) is None


def test_a_limit_that_the_grid_does_not_reach(made: Made) -> None:
    """A quarter of the warps fit, but the grid fills an eighth of a wave: registers are not the reason."""
    held = {"theoretical_occupancy_pct": 25.0, "occupancy_limit__registers": 2.0, "occupancy_limit__shared": 8.0}
    full = find_occupancy(made(**held, waves_per_sm=1.0, **IDLE))
    assert full is not None
    assert full.limiter == "occupancy-registers"
    assert find_occupancy(made(**held, waves_per_sm=0.125, **IDLE)) is None


def test_low_occupancy_of_a_busy_kernel_is_no_limiter(made: Made) -> None:
    """A matrix kernel at 12.5 % occupancy with a full pipe has all the warps it needs."""
    kernel = made(theoretical_occupancy_pct=12.5, occupancy_limit__registers=1.0, pipe_elapsed__tensor_pct=95.0)
    assert find_occupancy(kernel) is None


def test_chains_need_both_sides_known(made: Made) -> None:
    """Waiting is a chain only when arithmetic and memory are known to be idle."""
    assert find_dependency(made(stall__long_scoreboard=90.0, **IDLE)) is not None
    assert find_dependency(made(stall__long_scoreboard=90.0, issue_active=0.05)) is None
    assert find_dependency(made(**IDLE)) is None


def test_saturated_dram_is_not_latency(made: Made) -> None:
    """85 % of DRAM with all warps on long scoreboard is bandwidth."""
    kernel = made(stall__long_scoreboard=157.0, dram_sol_pct=85.0, issue_active=0.08)
    assert find_dependency(kernel) is None


def test_a_copy_has_no_chain_of_arithmetic(made: Made) -> None:
    """AMD waves that wait for memory without one floating-point operation are not told to use several accumulators."""
    waits = {"waiting_pct": 70.0, "issue_waiting_pct": 4.0, "pipe_elapsed__valu_pct": 1.0, "memory_sol_pct": 40.0}
    types = ("vector__fp16", "vector__fp32", "vector__fp64", "matrix__fp16", "matrix__bf16", "matrix__fp32")
    none = {f"flops__{name}": 0.0 for name in (*types, "matrix__fp64")}
    copy = find_dependency(made(**waits, sm_sol_pct=5.0, **none))
    assert copy is not None and copy.limiter == "latency" and "no floating-point" in str(copy.evidence)
    added = find_dependency(made(**waits, sm_sol_pct=5.0, **{**none, "flops__vector__fp32": 1.0}))
    partly = find_dependency(made(**waits, sm_sol_pct=5.0, flops__vector__fp32=0.0))
    assert added is not None and partly is not None and {added.limiter, partly.limiter} == {"dependency"}
