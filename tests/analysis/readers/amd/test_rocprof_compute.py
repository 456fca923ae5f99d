"""rocprof-compute workload folders."""

from __future__ import annotations

import pytest

from kopt_kb.analysis.readers import ReportError, read_profiles, reader_of
from kopt_kb.analysis.readers.amd.rocprof_compute import ROCPROF_COMPUTE

IDS = "Dispatch_ID,Kernel_Name,GPU_ID,Grid_Size,Workgroup_Size,LDS_Per_Workgroup,Scratch_Per_Workitem,Arch_VGPR,Accum_VGPR,SGPR,wave_size"
ROW = '{0},"vecCopy(double*, int) [clone .kd]",2,1024,256,0,0,8,8,16,64'
SYSINFO = (
    "workload_name,command,gpu_model,gpu_arch,cu_per_gpu,wave_size,max_waves_per_cu,max_sclk,num_xcd,lds_banks_per_cu,version\n"
    "w,./a -n 1,MI200,gfx90a,104,64,32,0,1,32,2\n"
)


def workload(tmp_path, **files):
    for name, text in files.items():
        (tmp_path / f"{name}.csv").write_text(text)
    return tmp_path


def test_times_of_old_releases_stand_in_another_file(tmp_path):
    """pmc_perf has counters, timestamps.csv has times; both are one launch each."""
    path = workload(
        tmp_path,
        sysinfo=SYSINFO,
        pmc_perf="\n".join(
            [f"{IDS},SQ_LDS_IDX_ACTIVE,SQ_LDS_BANK_CONFLICT", ROW.format(0) + ",10,2", ROW.format(1) + ",30,2", ""]
        ),
        timestamps="\n".join(
            [f"{IDS},Start_Timestamp,End_Timestamp", ROW.format(0) + ",100,300", ROW.format(1) + ",500,900", ""]
        ),
    )
    assert reader_of(path) is ROCPROF_COMPUTE
    (found,) = read_profiles(path)
    assert (found.launch_count, found.durations.total_s, found.target) == (2, 600e-9, "gfx90a")
    assert found.metrics["shared_bytes"] == 4 * 32 * (8 + 28) / 2
    assert (found.metrics["sm_count"], found.source.tool_version) == (104, "2")


def test_the_pass_of_resident_waves_gives_the_occupancy(tmp_path):
    """3328 wave-cycles a cycle over 104 units of 32 waves are 100 %; other counters of that pass stay out."""
    waves = f"{IDS},GRBM_GUI_ACTIVE,SQ_ACCUM_PREV_HIRES,SQ_WAVES"
    path = workload(
        tmp_path,
        sysinfo=SYSINFO,
        pmc_perf="\n".join([f"{IDS},SQ_WAVES", ROW.format(0) + ",16", ""]),
        SQ_LEVEL_WAVES="\n".join([waves, ROW.format(0) + ",1000,3328000,999", ""]),
    )
    (found,) = read_profiles(path)
    assert found.metrics["achieved_occupancy_pct"] == 100
    assert found.metrics["warps_launched"] == 16


def test_the_long_layout_takes_the_median_over_rows(tmp_path):
    """Two counters of a pass of 100 ns and one of 400 ns: 100, as the tool does."""
    head = "GPU_ID,Dispatch_ID,Grid_Size,Workgroup_Size,LDS_Per_Workgroup,Kernel_Name,Start_Timestamp,End_Timestamp,Kernel_ID,Counter_Name,Counter_Value"
    rows = [(10, 110, "A", 1.0), (10, 110, "SQ_WAVES", 16.0), (900, 1300, "B", 2.0)]
    lines = [f'2,1,1024,256,0,"k(int, int)",{start},{end},3,{name},{value}' for start, end, name, value in rows]
    path = workload(tmp_path, sysinfo=SYSINFO, pmc_perf="\n".join([head, *lines, ""]))
    (found,) = read_profiles(path)
    assert (found.launch_count, found.duration_s, found.metrics["warps_launched"]) == (1, 100e-9, 16)
    assert found.metrics["grid_blocks"] == 4


def test_parts_are_merged_where_no_merged_table_is(tmp_path):
    """Later releases leave the passes apart: counters join, times become their median."""
    head = f"{IDS},Start_Timestamp,End_Timestamp"
    path = workload(
        tmp_path,
        pmc_perf_0="\n".join([f"{head},TCC_HIT_sum", ROW.format(0) + ",0,100,1", ""]),
        pmc_perf_1="\n".join([f"{head},TCC_MISS_sum", ROW.format(0) + ",900,1200,3", ""]),
    )
    (found,) = read_profiles(path)
    assert (found.launch_count, found.metrics["l2_hit_pct"], found.duration_s) == (1, 25.0, 200e-9)


def test_a_command_with_commas_does_not_shift_the_system_record(tmp_path):
    """Old logs don't quote it."""
    path = workload(
        tmp_path, sysinfo=SYSINFO.replace("./a -n 1", "./a 1,2,3"), pmc_perf=f"{IDS},SQ_WAVES\n{ROW.format(0)},1\n"
    )
    assert next(read_profiles(path)).target == "gfx90a"


def test_an_empty_table_and_a_damaged_row_are_refused(tmp_path):
    """With file and line."""
    with pytest.raises(ReportError, match="no counter table"):
        list(read_profiles(workload(tmp_path, pmc_perf=f"{IDS},SQ_WAVES\n")))
    with pytest.raises(ReportError) as caught:
        list(read_profiles(workload(tmp_path, pmc_perf=f"{IDS},SQ_WAVES\n{ROW.format(0)},1\n{ROW.format(1)}\n")))
    assert (caught.value.file, caught.value.line) == (str(tmp_path / "pmc_perf.csv"), 3)
