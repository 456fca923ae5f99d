"""Rules for a busy unit: what fires, what must not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kopt_kb.analysis.rules.busy import find_balanced, find_divergence, find_memory_level, find_pipe
from kopt_kb.analysis.rules.derived import DerivedMetrics
from kopt_kb.analysis.rules.thresholds import load_thresholds
from tests.analysis.rules.conftest import profile_of

Made = Callable[..., DerivedMetrics]


@pytest.mark.parametrize(
    ("pipe", "limiter"),
    [("tensor", "tensor"), ("fma", "fp32"), ("fp64", "fp64"), ("xu", "sfu"), ("alu", "int"), ("valu", "fp32")],
)
def test_the_busiest_pipe_names_the_limiter(made: Made, pipe: str, limiter: str) -> None:
    """Each arithmetic pipe stands for one limiter."""
    found = find_pipe(made(**{f"pipe_elapsed__{pipe}_pct": 90.0}))
    assert found is not None
    assert found.limiter == limiter


def test_an_absent_matrix_metric_proves_nothing(made: Made) -> None:
    """A busy multiply-add pipe is FP32-bound; nothing is said about the engine that was not measured."""
    found = find_pipe(made(pipe_elapsed__fma_pct=90.0))
    assert found is not None
    assert "tensor" not in str(found.evidence)


def test_operations_tell_integers_from_floats(made: Made) -> None:
    """A multiply-add pipe with no FP32 operations runs integers; with half of them, floats."""
    busy = {"pipe_elapsed__fma_pct": 90.0, "thread_instructions": 100.0}
    found = [find_pipe(made(**busy, flops__vector__fp32=2.0 * one)) for one in (0.0, 50.0)]
    assert [one.limiter for one in found if one] == ["int", "fp32"]


def test_issue_slots_without_a_busy_pipe(made: Made) -> None:
    """83 % of the slots with pipes at 53 %."""
    found = find_pipe(made(issue_active=0.83, pipe_elapsed__fma_pct=53.0))
    assert found is not None
    assert found.limiter == "issue"
    assert find_pipe(made(issue_active=0.5, pipe_elapsed__fma_pct=53.0)) is None


@pytest.mark.parametrize(
    ("metrics", "level"),
    [
        ({"dram_sol_pct": 85.0, "l2_sol_pct": 92.0, "dram_bytes": 95.0, "l2_bytes": 100.0}, "dram"),
        ({"dram_sol_pct": 4.0, "l2_sol_pct": 80.0, "dram_bytes": 2.0, "l2_bytes": 100.0}, "l2"),
        ({"l1_sol_pct": 95.0, "dram_sol_pct": 1.0}, "l1"),
        ({"l1_sol_pct": 95.0, "shared_wavefronts": 90.0, "global_load_sectors": 40.0}, "shared"),
        ({"dram_sol_pct": 59.9}, None),
    ],
)
def test_levels(made: Made, metrics: dict[str, float], level: str | None) -> None:
    """The level that is busy, and none below 60 %."""
    found = find_memory_level(made(**metrics))
    assert (found.limiter if found else None) == level


def test_operands_of_the_matrix_engine_are_no_memory_limit(made: Made) -> None:
    """Shared memory at 98 % feeds a matrix engine at 93 %."""
    kernel = made(l1_sol_pct=98.0, pipe_elapsed__tensor_pct=93.0)
    assert find_memory_level(kernel) is None
    assert find_balanced(kernel) is None


@pytest.mark.parametrize(("compute", "dram", "fires"), [(76.0, 74.0, True), (82.0, 62.0, False), (55.0, 58.0, False)])
def test_balance(made: Made, compute: float, dram: float, fires: bool) -> None:
    """Both above 60 % and within 10 points."""
    assert (find_balanced(made(pipe_elapsed__fma_pct=compute, dram_sol_pct=dram)) is not None) is fires


@pytest.mark.parametrize(("threads", "use", "fires"), [(6.0, 90.0, True), (24.0, 90.0, False), (1.0, 2.0, False)])
def test_divergence_needs_busy_slots(made: Made, threads: float, use: float, fires: bool) -> None:
    """Six lanes at 90 %: yes; 24 lanes, or one lane that waits: no."""
    kernel = made(threads_per_instruction=threads, issue_active=use / 100)
    assert (find_divergence(kernel) is not None) is fires


def test_predicated_lanes_are_no_divergence(made: Made) -> None:
    """A special function pipe at 98 % with half its lanes predicated off is full, not divergent."""
    kernel = made(pipe_elapsed__xu_pct=98.0, threads_per_instruction=32.0, unpredicated_threads_per_instruction=15.0)
    assert find_divergence(kernel) is None
    found = find_pipe(kernel)
    assert found is not None
    assert found.limiter == "sfu"


@pytest.mark.parametrize(("threads", "fires"), [(22.0, False), (16.0, False), (5.0, True)])
def test_a_saturated_pipe_comes_before_divergence(made: Made, threads: float, fires: bool) -> None:
    """At 95 % the pipe is the limiter, unless most of its lanes are idle."""
    kernel = made(pipe_elapsed__fma_pct=95.0, threads_per_instruction=threads)
    assert (find_divergence(kernel) is not None) is fires


def test_throughput_alone_names_the_class(made: Made) -> None:
    """SM at 97 % is compute, memory at 90 % memory; L1 as busy as the SM is neither."""
    compute = find_pipe(made(sm_sol_pct=97.0, memory_sol_pct=12.0))
    memory = find_memory_level(made(sm_sol_pct=12.0, memory_sol_pct=90.0))
    assert [one.limiter for one in (compute, memory) if one] == ["compute", "memory"]
    either = made(sm_sol_pct=93.5, memory_sol_pct=94.7, l1_sol_pct=98.1, dram_sol_pct=20.8)
    assert (find_pipe(either), find_memory_level(either), find_balanced(either)) == (None, None, None)


def test_a_mix_of_pipes_is_issue(made: Made) -> None:
    """Two pipes at 67 % share all slots: the slots. One pipe at 76 % with loop overhead: that pipe."""
    mixed = find_pipe(made(issue_active=0.99, pipe_elapsed__fma_pct=67.0, pipe_elapsed__alu_pct=66.0))
    loop = find_pipe(made(issue_active=0.99, pipe_elapsed__fma_pct=76.0, pipe_elapsed__alu_pct=20.0))
    assert [one.limiter for one in (mixed, loop) if one] == ["issue", "fp32"]


def amd(**metrics: float) -> DerivedMetrics:
    """A kernel under the thresholds for AMD."""
    return DerivedMetrics(profile_of(**metrics), load_thresholds(vendor="amd"))


def test_lds_at_87_percent_of_the_measured_roof_is_shared() -> None:
    """15.9 of 18.2 TB/s that the workload's own benchmark measured: LDS, although its cycles say 44 %."""
    kernel = amd(
        duration_s=1e-3, shared_bytes=15.9e9, run_peak__shared_bytes_per_s=18.23e12, pipe_elapsed__lds_pct=44.0
    )
    found = find_memory_level(kernel)
    assert found is not None
    assert (found.limiter, found.evidence[0].value) == ("shared", pytest.approx(87.2, abs=0.1))


def test_a_fill_at_71_percent_of_the_measured_memory_is_dram() -> None:
    """987 of 1389 GB/s."""
    kernel = amd(duration_s=1e-3, dram_bytes=987e6, run_peak__dram_bytes_per_s=1.389e12)
    found = find_memory_level(kernel)
    assert found is not None
    assert (found.limiter, found.evidence[0].value) == ("dram", pytest.approx(71.1, abs=0.1))


def test_a_share_between_the_thresholds_of_the_vendors() -> None:
    """AMD colours from 50 %, NVIDIA's rule starts at 60 %."""
    metrics = {"l2_sol_pct": 55.0, "dram_sol_pct": 5.0}
    assert find_memory_level(amd(**metrics)) is not None
    assert find_memory_level(DerivedMetrics(profile_of(**metrics), load_thresholds())) is None
