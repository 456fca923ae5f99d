"""Waves of AMD kernels from what a report says of their launch."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kopt_kb.analysis.profile import KernelProfile, ReportPlace, ReportSource
from kopt_kb.analysis.rules.classify import classify
from kopt_kb.launch.counts.residency import with_residency
from kopt_kb.wiki.registry import Registry

LAUNCH = {
    "block_threads": 256.0, "grid_blocks": 3040.0, "sm_count": 304.0, "registers_per_thread": 128.0,
    "accum_registers_per_thread": 128.0, "shared_block_bytes": 0.0,
}  # fmt: skip


@pytest.fixture(scope="module")
def mi300x():
    """The product whose limits are read."""
    return Registry.open().platform("MI300X")


def kernel(target="gfx942", vendor="amd", **metrics):
    """Return a kernel of a report; None leaves a metric out."""
    known = {name: value for name, value in {**LAUNCH, **metrics}.items() if value is not None}
    return KernelProfile(
        "k", "k", ReportSource("f", "x", "rocprofv3", vendor), ReportPlace("f", "1"), 1, known, target=target
    )


def test_registers_of_both_files_share_one(mi300x):
    """128 + 128 of 512 registers a lane are two waves a SIMD: 8 of 32 waves, two groups of 4 waves, 5 waves of groups."""
    found = with_residency(kernel(), mi300x)
    assert found.get("theoretical_occupancy_pct") == 25
    assert found.occupancy_limiters == {"registers"}
    assert found.get("waves_per_sm") == 3040 / (2 * 304)
    assert found.bound("theoretical_occupancy_pct") == "upper"


def test_lds_limits_too(mi300x):
    """Two groups of 32 KiB fill the 64 KiB of a CU."""
    found = with_residency(
        kernel(registers_per_thread=32.0, accum_registers_per_thread=0.0, shared_block_bytes=32768.0), mi300x
    )
    assert (found.get("theoretical_occupancy_pct"), found.occupancy_limiters) == (25, {"shared"})


@pytest.mark.parametrize(
    "other",
    [
        kernel(target="gfx908"), kernel(target="gfx1100"), kernel(vendor="nvidia"), kernel(block_threads=None),
        kernel(registers_per_thread=None), kernel(shared_block_bytes=None), kernel(block_threads=8192.0),
        kernel(shared_block_bytes=1e9),
    ],
)  # fmt: skip
def test_what_can_t_be_computed_stays_as_it_is(mi300x, other):
    """Targets with other register files, missing facts, and launches that don't fit."""
    assert with_residency(other, mi300x) == other


def test_what_the_report_says_stands(mi300x):
    """A counter is never replaced, and without a product nothing is known."""
    told = kernel(theoretical_occupancy_pct=40.0)
    assert with_residency(told, mi300x).get("theoretical_occupancy_pct") == 40
    assert with_residency(told, None) is told


def test_all_products_of_a_target_may_say_the_same(mi300x):
    """Reports name families; limits are those of the target."""
    found = with_residency(kernel(), None, Registry.open())
    assert found.get("theoretical_occupancy_pct") == with_residency(kernel(), mi300x).get("theoretical_occupancy_pct")


def test_few_waves_limit_only_what_waits(mi300x):
    """A quarter of the waves, all units quiet: by registers when waves wait 80 % of their time, unnamed without."""
    quiet = {"pipe_elapsed.valu_pct": 10.0, "l2_sol_pct": 10.0, "duration_s": 1e-3}
    waits = classify(with_residency(kernel(**quiet, waiting_pct=80.0), mi300x))
    assert waits.limiter == "occupancy-registers"
    assert waits.evidence[-1].metric == "waiting_pct"
    assert classify(with_residency(kernel(**quiet), mi300x)).limiter == "insufficient-data"
    busy = replace(
        kernel(**quiet, waiting_pct=80.0), metrics={**LAUNCH, **quiet, "waiting_pct": 80.0, "l2_sol_pct": 95.0}
    )
    assert classify(with_residency(busy, mi300x)).limiter == "l2"


def test_scattered_accesses_are_named(mi300x):
    """One lookup a lane on a busy L1 is uncoalesced; 16 a wave are not, whatever their width."""
    busy = {"l1_sol_pct": 70.0, "pipe_elapsed.valu_pct": 5.0, "duration_s": 1e-3, "waiting_pct": 60.0}
    wide = classify(with_residency(kernel(**busy, lines_per_access=16.0, registers_per_thread=32.0), mi300x))
    scattered = classify(with_residency(kernel(**busy, lines_per_access=64.0, registers_per_thread=32.0), mi300x))
    assert (wide.limiter, scattered.limiter) == ("l1", "uncoalesced")
    assert scattered.evidence[0].value == 4
