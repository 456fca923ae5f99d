"""Work out of AMD counters, with numbers worked by hand."""

from __future__ import annotations

import pytest

from kopt_kb.analysis.profile.amd_counters import AmdDevice, averaged_counters, count_amd, counter_passes

MI300 = AmdDevice(target="gfx942", num_xcd=8, cu_count=304, max_waves_per_cu=32, lds_banks=32)


def test_a_bf16_gemm_reads_its_two_to_the_31_operations():
    """M128 N512 K128 batch 128 is 2 * 128 * 512 * 128 * 128 = 2^31 FLOP = 4194304 counts of 512."""
    found = count_amd({"SQ_INSTS_VALU_MFMA_MOPS_BF16": 4194304.0}, MI300)
    assert found.metrics == {"flops.matrix.bf16": 2.0**31}


def test_a_fused_vector_operation_counts_two_for_each_of_64_lanes():
    """64 * (1 + 10 + 100 + 2 * 1000) = 135104."""
    names = ("ADD", "MUL", "TRANS", "FMA")
    counters = {f"SQ_INSTS_VALU_{name}_F32": 10.0**at for at, name in enumerate(names)}
    assert count_amd(counters, MI300).metrics["flops.vector.fp32"] == 64 * 2111


def test_a_type_whose_counters_are_not_all_there_is_unknown():
    """Missing is absent and never 0: gfx908 has no counter by type."""
    assert count_amd({"SQ_INSTS_VALU_ADD_F32": 5.0}, MI300).metrics == {}


@pytest.mark.parametrize(
    ("target", "counters", "read", "bound"),
    [
        ("gfx90a", {"TCC_EA_RDREQ_sum": 10, "TCC_EA_RDREQ_32B_sum": 4}, 6 * 64 + 4 * 32, "exact"),
        (
            "gfx942",
            {"TCC_EA0_RDREQ_sum": 10, "TCC_EA0_RDREQ_32B_sum": 4, "TCC_BUBBLE_sum": 5},
            5 * 128 + 64 + 4 * 32,
            "exact",
        ),
        ("gfx942", {"TCC_EA0_RDREQ_sum": 10, "TCC_EA0_RDREQ_32B_sum": 4}, 6 * 64 + 4 * 32, "lower"),
        (
            "gfx950",
            {
                "TCC_EA0_RDREQ_sum": 10,
                "TCC_EA0_RDREQ_32B_sum": 4,
                "TCC_EA0_RDREQ_64B_sum": 1,
                "TCC_EA0_RDREQ_128B_sum": 5,
            },
            5 * 128 + 64 + 4 * 32,
            "exact",
        ),
        ("gfx950", {"TCC_EA0_RDREQ_sum": 65640, "TCC_EA0_RDREQ_32B_sum": 0, "TCC_BUBBLE_sum": 0}, 65640 * 64, "lower"),
        ("gfx942", {"FETCH_SIZE": 2.0}, 2048, "exact"),
        ("", {"FETCH_SIZE": 2.0}, 2048, "lower"),
    ],
)
def test_bytes_read_follow_the_formula_of_the_target(target, counters, read, bound):
    """Requests of 32, 64 and 128 bytes; FETCH_SIZE is KiB; without a size the value is a lower bound."""
    found = count_amd({name: float(value) for name, value in counters.items()}, AmdDevice(target=target))
    assert found.metrics["fabric_read_bytes"] == read
    assert found.bounds.get("fabric_read_bytes", "exact") == bound


def test_fabric_traffic_bounds_dram_traffic_from_above():
    """What a memory-side cache answers is in the count; a part that is a lower bound makes the sum one."""
    found = count_amd({"FETCH_SIZE": 1.0, "WRITE_SIZE": 3.0}, AmdDevice(target="gfx90a"))
    assert found.metrics["dram_bytes"] == 4096
    assert found.bounds["dram_bytes"] == found.bounds["dram_read_bytes"] == "upper"
    late = count_amd({"FETCH_SIZE": 1.0, "WRITE_SIZE": 3.0}, AmdDevice(target="gfx950"))
    assert late.bounds["dram_read_bytes"] == late.bounds["dram_bytes"] == "lower"


def test_a_counter_of_the_graphics_clock_is_divided_by_the_dies():
    """GRBM_GUI_ACTIVE 8000 over 8 dies is 1000 cycles; 30400 of 1000 * 304 is 10 %."""
    found = count_amd({"GRBM_GUI_ACTIVE": 8000.0, "SQ_ACTIVE_INST_VALU": 30400.0}, MI300).metrics
    assert found["elapsed_cycles"] == 1000
    assert found["pipe_elapsed.valu_pct"] == 10
    assert "elapsed_cycles" not in count_amd({"GRBM_GUI_ACTIVE": 8000.0}, AmdDevice(target="gfx942")).metrics


def test_lds_counts_bytes_accesses_and_conflicts():
    """(100 - 20) cycles of 32 banks of 4 bytes are 10240 bytes; without the banks they are unknown."""
    counters = {"SQ_LDS_IDX_ACTIVE": 100.0, "SQ_LDS_BANK_CONFLICT": 20.0}
    found = count_amd(counters, MI300)
    assert found.metrics == {"shared_bytes": 10240.0, "shared_accesses": 80.0, "shared_conflicts": 20.0}
    assert "shared_bytes" not in count_amd(counters, AmdDevice(target="gfx942")).metrics


def test_the_bare_counter_stands_for_its_sum():
    """rocprofv3 adds up instances itself: TCC_HIT is TCC_HIT_sum."""
    assert count_amd({"TCC_HIT": 3.0, "TCC_MISS": 1.0}, MI300).metrics["l2_hit_pct"] == 75


def test_no_lookup_is_no_hit_rate():
    """0 of 0 is not 0 %."""
    assert "l2_hit_pct" not in count_amd({"TCC_HIT_sum": 0.0, "TCC_MISS_sum": 0.0}, MI300).metrics


def test_ratios_of_the_tool_are_known():
    """They must never be summed."""
    assert {"L2CacheHit", "VALUBusy"} <= averaged_counters()
    assert "SQ_WAVES" not in averaged_counters()


def test_a_pass_holds_few_counters_of_a_block():
    """At most four of one block a pass, no counter twice, none that is a formula's alias."""
    groups = counter_passes("gfx942")
    flat = [one for group in groups for one in group]
    assert len(flat) == len(set(flat))
    for group in groups:
        blocks = [one.partition("_")[0] for one in group]
        assert all(blocks.count(one) <= 4 for one in blocks)
    assert {"SQ_WAVES", "GRBM_GUI_ACTIVE"} <= set(flat)
    assert not [one for one in flat if "__" in one]


def test_passes_for_what_is_missing_only():
    """One metric needs its own counters, on the first formula that basic counters satisfy."""
    assert counter_passes("gfx942", ["pipe_elapsed.tensor_pct"]) == (("GRBM_GUI_ACTIVE", "SQ_VALU_MFMA_BUSY_CYCLES"),)
    assert counter_passes("gfx942", []) == ()


def test_use_of_the_units_by_hand():
    """1000 cycles of 8 dies and 304 CUs: LDS active in half, a line from L1 in a quarter, L2 in 60 % of 128 channels."""
    device = AmdDevice(target="gfx942", num_xcd=8, cu_count=304, l2_channels=128)
    counters = {
        "GRBM_GUI_ACTIVE": 8000.0, "SQ_LDS_IDX_ACTIVE": 152000.0, "SQ_LDS_BANK_CONFLICT": 30400.0,
        "TCP_TOTAL_CACHE_ACCESSES_sum": 76000.0, "TCC_REQ_sum": 76800.0, "TA_TA_BUSY_sum": 243200.0,
        "SQ_WAVE_CYCLES": 1000.0, "SQ_WAIT_ANY": 700.0, "SQ_WAIT_INST_ANY": 200.0,
    }  # fmt: skip
    found = count_amd(counters, device).metrics
    wanted = {"pipe_elapsed.lds_pct": 50, "shared_stalled_pct": 10, "l1_sol_pct": 25, "l2_sol_pct": 60,
              "memory_busy_pct": 80, "waiting_pct": 70, "issue_waiting_pct": 20}  # fmt: skip
    assert {one: found[one] for one in wanted} == pytest.approx(wanted)


def test_derived_counters_of_rocprofv3_are_taken():
    """MemUnitBusy, LDSBankConflict, OccupancyPercent and MfmaUtil are shares as they stand."""
    found = count_amd({"MemUnitBusy": 82.0, "LDSBankConflict": 12.0, "OccupancyPercent": 40.0, "MfmaUtil": 55.0}, MI300)
    assert found.metrics == {
        "memory_busy_pct": 82.0, "shared_stalled_pct": 12.0, "achieved_occupancy_pct": 40.0, "pipe_elapsed.tensor_pct": 55.0,
    }  # fmt: skip
