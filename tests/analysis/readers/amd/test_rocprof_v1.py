"""rocprof v1 output."""

from __future__ import annotations

import sqlite3

import pytest

from kopt_kb.analysis.readers import ReportError, read_profiles

HEAD = "Index,KernelName,gpu-id,queue-id,pid,tid,grd,wgr,lds,scr,arch_vgpr,accum_vgpr,sgpr,wave_size,sig,obj"


def write(tmp_path, *lines):
    path = tmp_path / "results.csv"
    path.write_text("\n".join([*lines, ""]))
    return path


@pytest.mark.parametrize("name", ['"f(int, int) [clone .kd]"', "f(int, int) [clone .kd]"])
def test_names_with_commas_are_read_quoted_or_not(tmp_path, name):
    """Work-items become blocks; the mark of the tool stays in the name and leaves the demangled one."""
    path = write(
        tmp_path,
        f"{HEAD},DispatchNs,BeginNs,EndNs,CompleteNs,DurationNs",
        f"0,{name},2,0,1,1,512,256,1024,0,28,4,32,64,0x0,0x7f,5,10,310,400,300",
    )
    (found,) = read_profiles(path)
    assert (found.name, found.demangled) == ("f(int, int) [clone .kd]", "f(int, int)")
    assert (found.duration_s, found.metrics["grid_blocks"], found.metrics["shared_block_bytes"]) == (300e-9, 2, 1024)


def test_a_table_of_counters_only_has_no_times(tmp_path):
    """Missing is absent and never 0."""
    path = write(tmp_path, f"{HEAD},SQ_WAVES,TCC_HIT[0]", '0,"k",2,0,1,1,512,256,0,0,28,4,32,64,0x0,0x7f,8,3')
    (found,) = read_profiles(path)
    assert found.durations is None
    assert {name: one.value for name, one in found.launches[0].raw.items()} == {"SQ_WAVES": 8, "TCC_HIT[0]": 3}


def test_a_header_without_rows_and_a_cut_row_are_refused(tmp_path):
    """With the line."""
    for lines, line in (([HEAD], 1), ([HEAD, '0,"k",2,0', ""], 2)):
        with pytest.raises(ReportError) as caught:
            list(read_profiles(write(tmp_path, *lines)))
        assert caught.value.line == line


def test_the_database_keeps_its_kernels_in_ops(tmp_path):
    """KERN can be empty; times are ns."""
    path = tmp_path / "results.db"
    connection = sqlite3.connect(path)
    connection.execute('CREATE TABLE OPS ("BeginNs" INTEGER, "EndNs" INTEGER, "dev-id" INTEGER, "Name" TEXT)')
    connection.execute('CREATE TABLE KERN ("Index" INTEGER, "KernelName" TEXT)')
    connection.execute("INSERT INTO OPS VALUES (10, 110, 2, 'k'), (200, 500, 2, 'k')")
    connection.commit()
    (found,) = read_profiles(path)
    assert (found.name, found.launch_count, found.durations.total_s) == ("k", 2, 400e-9)
    connection.execute("DELETE FROM OPS")
    connection.commit()
    connection.close()
    with pytest.raises(ReportError, match="no kernel"):
        list(read_profiles(path))
