"""Workload folders of rocprof-compute 3.9: a rocpd database a pass."""

from __future__ import annotations

import gzip

import pytest

from kopt_kb.analysis.readers import ReportError, read_profiles, reader_of
from kopt_kb.analysis.readers.amd.rocprof_compute_passes import ROCPROF_COMPUTE_PASSES

SYSINFO = (
    "workload_name,command,gpu_model,gpu_arch,cu_per_gpu,wave_size,max_waves_per_cu,max_sclk,num_xcd,lds_banks_per_cu,version\n"
    "w,./a -n 1,MI300X,gfx942,304,64,32,2100,8,32,3.9.0\n"
)
PASSES = {
    "1": ([(1, "f(int)", 0, 100, 4), (2, "f(int)", 500, 700, 4)], [(1, "SQ_WAVES", [2.0] * 8), (2, "SQ_WAVES", [2.0] * 8)]),
    "2": ([(1, "f(int)", 9000, 9140, 4), (2, "f(int)", 9500, 9720, 4)],
          [(one, name, [value]) for one in (1, 2)
           for name, value in (("SQ_LEVEL_WAVES_ACCUM", 97_280.0), ("GRBM_GUI_ACTIVE", 160.0))]),
}  # fmt: skip


def workload(folder, amd, passes=PASSES):
    """Write a folder with a process of its own for each pass."""
    (folder / "sysinfo.csv").write_text(SYSINFO)
    for number, (dispatches, counters) in passes.items():
        place = folder / "out" / f"pmc_{number}" / f"70{number}"
        place.mkdir(parents=True)
        amd.write_rocpd(place / f"70{number}_results.db", [(f"{amd.GUID_A[:-1]}{number}", dispatches, counters)])
    return folder


def test_a_dispatch_of_several_passes_is_one_launch(tmp_path, amd):
    """Two launches, not four; times are medians over the passes, counters stand together."""
    path = workload(tmp_path, amd)
    assert reader_of(path) is ROCPROF_COMPUTE_PASSES
    (found,) = read_profiles(path)
    assert (found.launch_count, found.durations.count) == (2, 2)
    assert found.durations.total_s == pytest.approx((120 + 210) * 1e-9)
    assert found.metrics["warps_launched"] == 16
    assert (found.source.tool_version, found.target, found.device) == ("3.9.0", "gfx942", "MI300X")


def test_resident_waves_go_with_the_clock_of_their_pass(tmp_path, amd):
    """97,280 wave-cycles over 20 cycles, 304 units and 32 waves are half."""
    (found,) = read_profiles(workload(tmp_path, amd))
    assert found.metrics["achieved_occupancy_pct"] == pytest.approx(50)
    assert found.metrics["elapsed_cycles"] == 20


@pytest.mark.parametrize("packed", [False, True])
def test_counters_may_stand_beside_the_database(tmp_path, amd, packed):
    """The tool's own collector writes them as a table; instances are added up."""
    path = workload(tmp_path, amd, {"1": (PASSES["1"][0], [])})
    text = "dispatch_id,gpu_id,kernel_id,lds_per_workgroup,counter_id,counter_name,counter_value\n" + "".join(
        f"{one},4,1,0,9,SQ_WAVES,{value}\n" for one, value in ((1, 3), (1, 4), (2, 9))
    )
    table = path / "out" / "pmc_1" / f"701_native_counter_collection.csv{'.gz' if packed else ''}"
    table.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    (found,) = read_profiles(path)
    assert found.metrics["warps_launched"] == 8


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("dispatch_id,counter_name\n1,A\n", "no column counter_value"),
        ("dispatch_id,counter_name,counter_value\n1,A,x\n", "701_native_counter_collection.csv:2: a row"),
        ("dispatch_id,counter_name,counter_value\n1,A\n", ":2: a row"),
    ],
)
def test_damaged_tables_name_their_line(tmp_path, amd, text, told):
    """Cut rows, and cells that are no numbers."""
    path = workload(tmp_path, amd, {"1": (PASSES["1"][0], [])})
    (path / "out" / "pmc_1" / "701_native_counter_collection.csv").write_text(text)
    with pytest.raises(ReportError, match=told):
        list(read_profiles(path))


def test_a_workload_without_dispatches_is_told(tmp_path, amd):
    """Databases without a row."""
    with pytest.raises(ReportError, match="no pass holds"):
        list(read_profiles(workload(tmp_path, amd, {"1": ([], [])})))
