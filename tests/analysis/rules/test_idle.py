"""Rules for SMs without work: what fires, what must not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from kopt_kb.analysis.rules.classify import classify
from kopt_kb.analysis.rules.derived import DerivedMetrics
from kopt_kb.analysis.rules.idle import find_imbalance, find_launch_overhead, find_small_grid, find_tail
from tests.analysis.rules.conftest import profile_of

Made = Callable[..., DerivedMetrics]


@pytest.mark.parametrize(("blocks", "fires"), [(8.0, True), (99.0, True), (120.0, False), (132.0, False)])
def test_small_grid_needs_idle_sms(made: Made, blocks: float, fires: bool) -> None:
    """Of 132 SMs a fifth must stand idle; a persistent grid of one block an SM is no small grid."""
    kernel = made(grid_blocks=blocks, sm_count=132.0, waves_per_sm=blocks / 1056)
    assert (find_small_grid(kernel) is not None) is fires


@pytest.mark.parametrize(
    ("blocks", "achieved", "allowed", "fires"),
    [(128.0, 25.0, 100.0, True), (128.0, 6.1, 6.25, False), (132.0, 25.0, 100.0, False)],
)
def test_a_part_of_a_wave_is_small(made: Made, blocks: float, achieved: float, allowed: float, fires: bool) -> None:
    """128 blocks on 132 SMs hold a quarter of the warps they could; at what the launch allows nothing is missing."""
    kernel = made(
        grid_blocks=blocks, sm_count=132.0, waves_per_sm=0.24, achieved_occupancy_pct=achieved,
        theoretical_occupancy_pct=allowed, sm_active_cycles=97.0, sm_active_cycles_max=100.0, sm_sol_pct=20.0,
    )  # fmt: skip
    assert (find_small_grid(kernel) is not None) is fires


def test_small_grid_that_saturates_dram(made: Made) -> None:
    """Forty blocks that fill DRAM are enough."""
    assert find_small_grid(made(grid_blocks=40.0, sm_count=132.0, dram_sol_pct=85.0)) is None


@pytest.mark.parametrize(
    ("waves", "mean", "fires"),
    [(1.05, 70.0, True), (1.05, 98.0, False), (2.0, 70.0, False), (0.9, 70.0, False), (20.1, 70.0, False)],
)
def test_tail_needs_a_partial_wave_and_a_loss(made: Made, waves: float, mean: float, fires: bool) -> None:
    """1.05 waves with 30 % idle: yes. No loss seen, whole waves, no full wave, or one of many: no."""
    kernel = made(waves_per_sm=waves, sm_active_cycles=mean, sm_active_cycles_max=100.0)
    assert (find_tail(kernel) is not None) is fires


def test_imbalance_of_busy_sms(made: Made) -> None:
    """A third idle counts when the others are busy, not when they wait anyway."""
    busy = made(sm_active_cycles=66.0, sm_active_cycles_max=100.0, pipe_elapsed__fma_pct=58.0)
    waiting = made(sm_active_cycles=72.0, sm_active_cycles_max=100.0, pipe_elapsed__fma_pct=2.0)
    alone = made(sm_active_cycles=33.0, sm_active_cycles_max=100.0)
    assert [find_imbalance(one) is not None for one in (busy, waiting, alone)] == [True, False, True]


def test_warps_that_leave_early(made: Made) -> None:
    """14 of 100 % theoretical occupancy with whole waves."""
    kernel = made(achieved_occupancy_pct=14.0, theoretical_occupancy_pct=100.0, waves_per_sm=2.0)
    assert find_imbalance(kernel) is not None
    assert find_imbalance(made(achieved_occupancy_pct=14.0, theoretical_occupancy_pct=100.0, waves_per_sm=0.2)) is None


@pytest.mark.parametrize(("duration_s", "use", "fires"), [(1.6e-6, 1.0, True), (5e-6, 1.0, False), (3e-6, 70.0, False)])
def test_launch_overhead(made: Made, duration_s: float, use: float, fires: bool) -> None:
    """Short and idle; not at the threshold, not when DRAM is busy."""
    assert (find_launch_overhead(made(duration_s=duration_s, dram_sol_pct=use)) is not None) is fires


@pytest.mark.parametrize(
    ("name", "limiter"),
    [
        ("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "communication"),
        ("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t", "communication"),
        ("rcclGenericKernel<1, false>(ncclDevComm*)", "communication"),
        ("my_nccl_like_kernel", "insufficient-data"),
    ],
)
def test_collectives_have_a_word_of_their_own(name: str, limiter: str) -> None:
    """Whatever their counters say."""
    assert classify(replace(profile_of(), name=name, demangled=name)).limiter == limiter


def test_a_grid_sized_for_the_sms_is_not_small(made: Made) -> None:
    """264 blocks on 132 SMs are chosen; 128 blocks on 80 SMs with 16 of 75 % occupancy are what there was."""
    held = {"theoretical_occupancy_pct": 75.0, "achieved_occupancy_pct": 16.0, "waves_per_sm": 0.27, "sm_sol_pct": 5.0}
    assert find_small_grid(made(**held, grid_blocks=264.0, sm_count=132.0)) is None
    found = find_small_grid(made(**held, grid_blocks=128.0, sm_count=80.0))
    assert found is not None
    assert [one.metric for one in found.evidence] == ["waves_per_sm", "occupancy_kept_pct"]
