"""rocprofv3 CSV reports."""

from __future__ import annotations

import pytest

from kopt_kb.analysis.profile import Dim3
from kopt_kb.analysis.readers import ReportError, read_profiles, reader_of
from kopt_kb.analysis.readers.amd.rocprofv3_csv import ROCPROFV3_CSV, table_kind


def test_a_kernel_table_gives_times_axes_and_registers(tmp_path, amd):
    """64 x 6 work-items in groups of 32 x 4 are 2 x 2 blocks (the second row half filled)."""
    path = tmp_path / "1_kernel_trace.csv"
    path.write_text("\n".join([amd.TRACE_HEAD, amd.trace_row(1, 1000, 1300), amd.trace_row(2, 2000, 2100), ""]))
    (found,) = read_profiles(path)
    assert (found.grid, found.block, found.launch_count) == (Dim3(2, 2), Dim3(32, 4), 2)
    assert found.metrics["grid_threads"] == 384
    assert (found.durations.median_s, found.durations.total_s) == (200e-9, 400e-9)
    assert found.metrics["registers_per_thread"] == 8
    assert str(found.place) == f"{path}, line 2"


def test_the_columns_of_rocm_6_are_known(tmp_path, amd):
    """Numeric agents; segment sizes instead of LDS and scratch."""
    path = tmp_path / "x.csv"
    path.write_text(f'{amd.TRACE_HEAD_6}\n"KERNEL_DISPATCH",4,1,9,1,3,"k",1,1000,1300,16,512,256,1,1,1024,1,1\n')
    (found,) = read_profiles(path)
    assert (found.metrics["shared_block_bytes"], found.metrics["scratch_bytes_per_thread"]) == (512, 16)
    assert found.device == "Agent 4"


def test_the_columns_of_rocpd_convert_are_known(tmp_path, amd):
    """A GUID in front keeps processes apart; two GUIDs with one id are two launches."""
    path = tmp_path / "x.csv"
    lines = [f'"{guid}",{amd.counter_row(1, "SQ_WAVES", 4.0)}' for guid in (amd.GUID_A, amd.GUID_B)]
    head = amd.COUNTER_HEAD.replace("LDS_Block_Size", "Lds_Block_Size").replace("VGPR_Count", "Vgpr_Count", 1)
    path.write_text("\n".join([f'"Guid",{head}', *lines, ""]))
    (found,) = read_profiles(path)
    assert (found.launch_count, found.metrics["warps_launched"]) == (2, 4.0)
    assert found.metrics["registers_per_thread"] == 8


def test_the_agent_table_beside_gives_the_target(tmp_path, amd):
    """gfx, product name and compute units."""
    (tmp_path / "9_agent_info.csv").write_text(amd.AGENTS)
    path = tmp_path / "9_counter_collection.csv"
    path.write_text(amd.counter_table(amd.counter_row(1, "GRBM_GUI_ACTIVE", 8000.0)))
    (found,) = read_profiles(path)
    assert (found.device, found.target) == ("AMD Instinct MI300X", "gfx942")
    assert (found.metrics["sm_count"], found.metrics["elapsed_cycles"]) == (304, 1000)


def test_passes_in_one_file_are_one_launch_of_median_time(tmp_path, amd):
    """Times 100, 200 and 600 ns of one dispatch are 200 ns, not 900."""
    path = tmp_path / "x.csv"
    rows = [(1000, 1100, "A", 1.0), (5000, 5200, "B", 2.0), (9000, 9600, "A", 3.0)]
    path.write_text(
        amd.counter_table(*(amd.counter_row(1, name, value, start, end) for start, end, name, value in rows))
    )
    (found,) = read_profiles(path)
    assert (found.launch_count, found.durations.total_s, found.duration_s) == (1, 200e-9, 200e-9)
    assert {name: one.value for name, one in found.launches[0].raw.items()} == {"A": 2.0, "B": 2.0}


def test_pass_folders_are_put_together_by_dispatch(tmp_path, amd):
    """Each pass is another process; a kernel table adds the axes."""
    for number, (counter, start, end) in enumerate((("TCC_HIT_sum", 1000, 1100), ("TCC_MISS_sum", 7000, 7300)), 1):
        folder = tmp_path / f"pass_{number}" / "host"
        folder.mkdir(parents=True)
        row = amd.counter_row(1, counter, 3.0, start, end, process=100 + number)
        (folder / f"{100 + number}_counter_collection.csv").write_text(amd.counter_table(row))
    (found,) = read_profiles(tmp_path)
    assert found.launch_count == 1
    assert (found.metrics["l2_hit_pct"], found.duration_s) == (50.0, 200e-9)


def test_a_folder_joins_kernel_and_counter_tables(tmp_path, amd):
    """One launch with axes and counters."""
    (tmp_path / "7_kernel_trace.csv").write_text("\n".join([amd.TRACE_HEAD, amd.trace_row(1, 1000, 1500), ""]))
    (tmp_path / "7_counter_collection.csv").write_text(amd.counter_table(amd.counter_row(1, "SQ_WAVES", 4.0)))
    (found,) = read_profiles(tmp_path)
    assert (found.launch_count, found.grid, found.metrics["warps_launched"]) == (1, Dim3(2, 2), 4.0)


def test_tables_without_kernels_are_refused_with_a_way_on(tmp_path):
    """A memory copy table is a rocprofv3 report of something else."""
    path = tmp_path / "x.csv"
    path.write_text('"Kind","Direction","Stream_Id","Source_Agent_Id","Start_Timestamp"\n"M","H",0,"Agent 0",1\n')
    with pytest.raises(ReportError, match="kernel_trace or counter_collection") as caught:
        list(read_profiles(path))
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("rows", [[], ["", ""]])
def test_a_header_without_rows_is_refused(tmp_path, amd, rows):
    """Empty is never success."""
    path = tmp_path / "x.csv"
    path.write_text(amd.counter_table(*rows))
    with pytest.raises(ReportError, match="no row"):
        list(read_profiles(path))


def test_a_table_without_its_header_is_no_report(tmp_path, amd):
    """Nothing is guessed from cells."""
    path = tmp_path / "x.csv"
    path.write_text(amd.counter_row(1, "SQ_WAVES", 4.0) + "\n")
    assert table_kind(path.read_text()) == ""
    with pytest.raises(ReportError, match="no profiler report"):
        list(read_profiles(path))


def test_content_decides_and_not_the_suffix(tmp_path, amd):
    """A table in a .txt file is found, a byte order mark and UTF-16 don't matter."""
    path = tmp_path / "x.txt"
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        path.write_text(amd.counter_table(amd.counter_row(1, "SQ_WAVES", 4.0)), encoding=encoding)
        assert reader_of(path) is ROCPROFV3_CSV
        assert next(read_profiles(path)).metrics["warps_launched"] == 4.0


@pytest.mark.parametrize("keep", [3, 20, 50])
@pytest.mark.parametrize("kind", ["counters", "trace"])
def test_a_last_row_that_is_cut_keeps_the_rest(tmp_path, amd, kind, keep):
    """What a crash leaves is read up to its last whole row, and the profile says so."""
    first, last = (
        (amd.counter_row(1, "SQ_WAVES", 16.0), amd.counter_row(2, "SQ_WAVES", 16.0))
        if kind == "counters"
        else (amd.trace_row(1, 1000, 1500), amd.trace_row(2, 1000, 1500))
    )
    path = tmp_path / "x.csv"
    path.write_text((amd.counter_table if kind == "counters" else amd.trace_table)(first, last[:keep]).rstrip("\n"))
    (found,) = read_profiles(path)
    assert found.launch_count == 1
    assert any("ends inside line 3" in note for note in found.notes)


def test_impossible_times_are_told(tmp_path, amd):
    """A launch that ends before it starts has no time; how many there are is said."""
    rows = [amd.counter_row(number, "SQ_WAVES", 16.0, 1000, end) for number, end in ((1, 1500), (2, 900), (3, 1000))]
    path = tmp_path / "x.csv"
    path.write_text(amd.counter_table(*rows))
    (found,) = read_profiles(path)
    assert found.durations is not None
    assert (found.launch_count, found.durations.count) == (3, 1)
    assert any(note.startswith("2 launch(es) end before they start") for note in found.notes)
