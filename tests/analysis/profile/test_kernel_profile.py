"""What rules ask of a profile: absent values, families, ties, JSON."""

from __future__ import annotations

import json

import pytest

from kopt_kb.analysis.profile import DurationStats, KernelProfile, ReportPlace, ReportSource
from kopt_kb.base.errors import BadInput


def profile(durations=None, **metrics):
    named = {name.replace("__", "."): value for name, value in metrics.items()}
    return KernelProfile(
        name="Kernel2",
        demangled="void cutlass::Kernel2<gemm>(Params)",
        source=ReportSource("run.ncu-rep", "ncu-rep", "ncu", "nvidia"),
        place=ReportPlace("run.ncu-rep", "range 0 action 0"),
        launch_count=1,
        metrics=named,
        durations=durations,
    )


def test_not_collected_is_none_and_zero_is_zero():
    """The two are never mixed up."""
    found = profile(dram_read_bytes=0.0)
    assert found.get("dram_read_bytes") == 0.0
    assert found.get("dram_write_bytes") is None
    assert found.absent("dram_read_bytes", "dram_write_bytes") == ("dram_write_bytes",)


def test_a_mistyped_id_is_an_error():
    """A typo in a rule must not read as absent."""
    with pytest.raises(BadInput):
        profile().get("dram_bytes_red")


def test_ties_among_limiters_are_all_named():
    """Registers and shared memory may both allow the fewest blocks."""
    found = profile(occupancy_limit__registers=2.0, occupancy_limit__shared=2.0, occupancy_limit__warps=8.0)
    assert found.occupancy_limiters == {"registers", "shared"}
    assert profile().occupancy_limiters == frozenset()


def test_flops_are_by_type_and_engine():
    """What was not counted is missing."""
    found = profile(flops__vector__fp32=0.0, flops__matrix__fp16=8.0)
    assert found.flops == {("fp32", "vector"): 0.0, ("fp16", "matrix"): 8.0}


def test_stalls_are_sorted_and_exclude_the_issuing_warp():
    """`selected` is no stall."""
    found = profile(stall__wait=1.0, stall__long_scoreboard=9.0, stall__selected=1.0)
    assert list(found.stalls) == ["long_scoreboard", "wait"]


def test_a_rate_needs_a_time():
    """No time, no rate."""
    assert profile(dram_bytes=8.0).rate("dram_bytes") is None
    timed = profile(durations=DurationStats(2, 4.0, 2.0, 1.0, 3.0), dram_bytes=8.0)
    assert timed.rate("dram_bytes") == 4.0


def test_json_has_the_fields_of_the_contract():
    """name, launches, duration_s, metrics and sol_class are promised."""
    found = json.loads(json.dumps(profile(sm_sol_pct=10.0, memory_sol_pct=90.0).to_json()))
    assert (found["name"], found["function"], found["launches"]) == ("Kernel2", "Kernel2", 1)
    assert found["duration_s"] is None
    assert found["metrics"] == {"sm_sol_pct": 10.0, "memory_sol_pct": 90.0}
    assert found["sol_class"] == "high_throughput"
