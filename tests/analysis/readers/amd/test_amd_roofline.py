"""Peaks that a workload's own benchmark measured."""

from __future__ import annotations

import pytest

from kopt_kb.analysis.readers.amd.amd_roofline import read_roofline
from kopt_kb.analysis.readers.common.errors import ReportError

TABLE = (
    "device,HBMBw,HBMBwLow,hbmBwHigh,L2Bw,LDSBw,FP32Flops,MFMABF16Flops,MFMAF16Flops\n"
    "0,1000,1,9,5000,18000,20000,170000,165000\n1,1002,1,9,5000,18000,20000,170000,165000\n"
    "2,1400,1,9,0,18000,20000,170000,165000\n"
)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "roofline.csv"
    path.write_text(TABLE)
    return path


def test_the_median_device_in_base_units(table):
    """GB/s and GFLOP/s; a zero is not measured; low and high columns are no peaks."""
    found = read_roofline(table, "gfx942", "3.6.1")
    assert found["run_peak.dram_bytes_per_s"] == 1002e9
    assert found["run_peak.l2_bytes_per_s"] == 5000e9
    assert found["run_peak.matrix.bf16"] == 170e12
    assert len(found) == 6


@pytest.mark.parametrize(
    ("target", "version", "gone"),
    [
        ("gfx90a", "2", {"bf16"}),
        ("gfx90a", "3.7.0", set()),
        ("gfx950", "3.5.1", {"bf16", "fp16"}),
        ("gfx950", "3.6.0", set()),
    ],
)
def test_peaks_that_the_change_log_calls_wrong_are_left_out(table, target, version, gone):
    """By target and release."""
    found = {one.rpartition(".")[2] for one in read_roofline(table, target, version) if ".matrix." in one}
    assert found == {"bf16", "fp16"} - gone


def test_no_file_is_no_peak_and_damage_has_a_line(table):
    """Most workloads have none."""
    assert read_roofline(table.with_name("none.csv"), "gfx942", None) == {}
    table.write_text(TABLE.replace("1002", "x"))
    with pytest.raises(ReportError) as caught:
        read_roofline(table, "gfx942", None)
    assert caught.value.line == 3
