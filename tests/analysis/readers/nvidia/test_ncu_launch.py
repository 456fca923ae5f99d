"""Verbatim metrics into the vocabulary."""

from __future__ import annotations

import pytest

from kopt_kb.analysis.profile import Dim3, ProfiledLaunch, RawMetric, ReportPlace
from kopt_kb.analysis.readers.common.errors import ReportError
from kopt_kb.analysis.readers.nvidia.ncu_launch import launch_of


def launch(raw, **fields):
    stated = ProfiledLaunch("0", "k", ReportPlace("f", "line 1"), **fields)
    return launch_of(stated, {name: RawMetric(*value) for name, value in raw.items()})


def test_absent_metrics_have_no_entry():
    """An empty launch knows only the width of a warp."""
    assert launch({}).metrics == {"wave_threads": 32}


def test_a_unit_that_can_t_be_is_an_error():
    """A duration in bytes is damage."""
    with pytest.raises(ReportError, match="'B', where 's' is expected"):
        launch({"gpu__time_duration.sum": (1.0, "B")})


def test_a_time_of_zero_is_no_time():
    """Nothing is divided by it later."""
    found = launch({"gpu__time_duration.sum": (0.0, "s"), "dram__bytes_read.sum": (5.0, "B")})
    assert found.duration_s is None
    assert "dram_bytes_per_s" not in found.metrics


def test_dram_traffic_is_reads_and_writes():
    """10 B and 6 B in 2 s are 16 B at 8 B/s."""
    found = launch(
        {
            "gpu__time_duration.sum": (2.0, "s"),
            "dram__bytes_op_read.sum": (10.0, "B"),
            "dram__bytes_op_write.sum": (6.0, "B"),
        }
    ).metrics
    assert (found["dram_bytes"], found["dram_bytes_per_s"]) == (16.0, 8.0)


def test_coalescing_is_in_bytes_a_request():
    """40 sectors in 10 requests are 4 sectors, 128 B a request; 80 % of a sector are 25.6 B."""
    found = launch(
        {
            "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": (40.0, "sector"),
            "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": (10.0, ""),
            "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct": (80.0, "%"),
        }
    ).metrics
    assert found["global_load_sectors_per_request"] == 4.0
    assert found["global_load_bytes_per_request"] == 128.0
    assert found["global_load_useful_bytes_per_sector"] == pytest.approx(25.6)


def test_rounded_waves_are_made_exact_from_the_launch():
    """64 blocks on 148 SMs of 2 blocks are 0.2162 waves, printed as 0.22."""
    raw = {
        "launch__waves_per_multiprocessor": (0.22, ""),
        "launch__grid_size": (64.0, ""),
        "launch__sm_count": (148.0, "SM"),
        "launch__occupancy_limit_registers": (2.0, "block"),
        "launch__occupancy_limit_warps": (8.0, "block"),
    }
    assert launch(raw).metrics["waves_per_sm"] == pytest.approx(64 / 296)
    raw["launch__waves_per_multiprocessor"] = (0.5, "")
    assert launch(raw).metrics["waves_per_sm"] == 0.5


def test_the_tensor_pipe_is_the_busier_of_both_generations():
    """tcgen05 has its own pipe beside the one of mma."""
    name = "sm__pipe_{}_cycles_active.avg.pct_of_peak_sustained_active"
    found = launch({name.format("tensor"): (3.0, "%"), name.format("tc"): (61.0, "%")}).metrics
    assert found["pipe.tensor_pct"] == 61.0


def test_opcodes_fill_instruction_counts():
    """Barriers and tensor instructions are counted by opcode; no opcode table is no count."""
    stated = ProfiledLaunch("0", "k", ReportPlace("f", "line 1"))
    found = launch_of(stated, {}, opcodes={"BAR": 4.0, "HMMA": 5.0, "HGMMA": 6.0, "FFMA": 9.0}).metrics
    assert (found["barrier_instructions"], found["matrix_instructions"]) == (4.0, 11.0)
    assert found["atomic_instructions"] == 0.0
    assert "barrier_instructions" not in launch({}).metrics


def test_shape_comes_from_the_identity():
    """Grid, block and compute capability of a CSV row become metrics."""
    found = launch({}, grid=Dim3(4, 2), block=Dim3(128), target="sm_90").metrics
    assert (found["grid_blocks"], found["block_threads"], found["compute_capability"]) == (8, 128, 90.0)
