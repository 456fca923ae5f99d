"""What rules see of a profile, worked by hand."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest

from kopt_kb.analysis.profile import KernelProfile
from kopt_kb.analysis.rules.derived import DerivedMetrics, ratio_pct

Made = Callable[..., DerivedMetrics]


def test_missing_is_not_zero(made: Made) -> None:
    """Without counters every derived value is None."""
    empty = made()
    names = ("compute_pct", "memory_pct", "l1_pct", "coalescing_waste", "local_share_pct", "atomic_share_pct",
             "memory_stall_share_pct", "top_stall", "idle_sm_pct", "occupancy_kept_pct", "shared_excess_pct")  # fmt: skip
    assert [getattr(empty, one) for one in names] == [None] * len(names)
    assert ratio_pct(1.0, 0.0) is None
    assert ratio_pct(None, 2.0) is None


def test_pipes_count_over_elapsed_time(made: Made) -> None:
    """A pipe at 90 % of half the time is at 45 %."""
    assert made(pipe__fma_pct=90.0, sm_active_pct=50.0).compute_pct == pytest.approx(45.0)
    assert made(pipe__fma_pct=90.0, pipe_elapsed__fma_pct=40.0, sm_active_pct=50.0).compute_pct == 40.0


def test_l2_that_hands_on_counts_as_dram(made: Made) -> None:
    """With 96 bytes of DRAM for 100 at L2, the stream uses what L2 uses."""
    through = made(dram_sol_pct=54.6, l2_sol_pct=65.7, dram_bytes=96.0, l2_bytes=100.0)
    resident = made(dram_sol_pct=4.0, l2_sol_pct=80.0, dram_bytes=2.0, l2_bytes=100.0)
    assert (through.stream_pct, resident.stream_pct) == (65.7, 4.0)


@pytest.mark.parametrize(("sectors", "useful"), [(4.0, 32.0), (8.0, 32.0), (16.0, 32.0)])
def test_wide_loads_waste_nothing(made: Made, sectors: float, useful: float) -> None:
    """4-, 8- and 16-byte loads of neighbouring threads touch 4, 8 and 16 sectors, all of them used."""
    kernel = made(
        global_load_sectors=sectors, global_load_bytes=32 * sectors,
        global_load_useful_bytes_per_sector=useful, l2_bytes=32 * sectors, dram_sol_pct=80.0,
    )  # fmt: skip
    assert kernel.coalescing_waste == 1.0


def test_sectors_that_l1_reuses_are_no_waste(made: Made) -> None:
    """12 sectors of which 10.67 bytes each are used, but 128 bytes from L2 for 128 used: 1."""
    kernel = made(
        global_load_sectors=12.0, global_load_bytes=384.0, global_load_useful_bytes_per_sector=128 / 12,
        l2_bytes=128.0, l1_sol_pct=19.0, l2_sol_pct=91.0,
    )  # fmt: skip
    assert kernel.coalescing_waste == pytest.approx(1.0)


def test_lanes_that_share_an_address_are_no_waste(made: Made) -> None:
    """One sector a request, 4 bytes of it used: nothing to coalesce."""
    kernel = made(
        global_load_sectors=100.0, global_load_bytes=3200.0, global_load_useful_bytes_per_sector=4.0,
        global_load_sectors_per_request=1.0,
    )  # fmt: skip
    assert kernel.coalescing_waste == 1.0


def test_stall_shares_leave_out_warps_that_could_issue(made: Made) -> None:
    """3 of 3 + 1 issuing; 5 ready warps are not waiting."""
    kernel = made(stall__barrier=3.0, stall__not_selected=5.0, stall__selected=1.0)
    assert kernel.stall_share_pct({"barrier"}) == pytest.approx(75.0)
    assert kernel.top_stall == "barrier"


def test_a_stall_share_does_not_depend_on_the_order_of_the_reasons(made: Made) -> None:
    """A sum of floats does: reasons come as sets, and documents of one report have to be equal."""
    kernel = made(stall__barrier=0.7, stall__long_scoreboard=1.1, stall__drain=3.3)
    reasons = ["barrier", "long_scoreboard", "drain"]
    assert len({kernel.stall_share_pct(order) for order in itertools.permutations(reasons)}) == 1


def test_half_rate_multiplies_fill_a_pipe_that_reads_half(zoo: dict[str, KernelProfile], made: Made) -> None:
    """Integer multiply-adds show 50 % of the multiply-add pipe and full compute throughput."""
    kernel = DerivedMetrics(zoo["int_multiply"], made().thresholds)
    assert kernel.pipes["fma"] < 60
    assert kernel.compute_pct is not None
    assert kernel.compute_pct > 95


def test_shared_excess_needs_no_ideal(made: Made) -> None:
    """Without the ideal count: 31 of 32 passes are conflicts; on AMD 1 of 2 cycles."""
    counted = made(shared_load_conflicts=31.0, shared_load_wavefronts=32.0, shared_store_conflicts=0.0,
                   shared_store_wavefronts=0.0)  # fmt: skip
    assert counted.shared_excess_pct == pytest.approx(96.875)
    assert made(shared_conflicts=4.0, shared_accesses=4.0).shared_excess_pct == 50.0
