"""rocpd databases."""

from __future__ import annotations

import sqlite3

import pytest

from kopt_kb.analysis.profile import Dim3
from kopt_kb.analysis.readers import ReportError, read_profiles, reader_of
from kopt_kb.analysis.readers.amd.rocpd import ROCPD

DISPATCHES = [(1, "f(int)", 1000, 1100, 4), (2, "f(int)", 2000, 2300, 4), (3, "g", 5000, 5050, 1)]


def test_dispatches_are_grouped_and_counters_summed_over_instances(tmp_path, amd):
    """Two launches of 8 instances each: the mean of a launch is the sum over its instances."""
    path = tmp_path / "x.db"
    amd.write_rocpd(path, [(amd.GUID_A, DISPATCHES, [(1, "SQ_WAVES", [1.0] * 8), (2, "SQ_WAVES", [2.0] * 8)])])
    assert reader_of(path) is ROCPD
    first, second = read_profiles(path)
    assert (first.name, first.launch_count, first.grid, first.block) == ("f(int)", 2, Dim3(4), Dim3(256))
    assert (first.durations.median_s, first.durations.total_s) == (200e-9, 400e-9)
    assert first.metrics["warps_launched"] == 12
    assert [one.raw["SQ_WAVES"].value for one in first.launches] == [8, 16]
    assert (second.name, second.metrics.get("warps_launched")) == ("g", None)
    assert (first.target, first.metrics["sm_count"], first.source.tool_version) == ("gfx942", 304, "schema 3")


def test_a_counter_of_the_clock_is_divided_by_the_dies(tmp_path, amd):
    """8 dies report 1000 cycles each: 1000 elapsed, not 8000."""
    path = tmp_path / "x.db"
    amd.write_rocpd(path, [(amd.GUID_A, DISPATCHES[2:], [(3, "GRBM_GUI_ACTIVE", [1000.0] * 8)])])
    assert next(read_profiles(path)).metrics["elapsed_cycles"] == 1000


def test_processes_of_one_file_are_kept_apart(tmp_path, amd):
    """Two GUIDs use the same ids for other kernels."""
    path = tmp_path / "x.db"
    other = [(1, "h", 1000, 1700, 2)]
    amd.write_rocpd(path, [(amd.GUID_A, DISPATCHES, []), (amd.GUID_B, other, [(1, "SQ_WAVES", [5.0, 6.0])])])
    found = {one.name: one for one in read_profiles(path)}
    assert {name: one.launch_count for name, one in found.items()} == {"f(int)": 2, "g": 1, "h": 1}
    assert found["h"].metrics["warps_launched"] == 11
    assert "warps_launched" not in found["f(int)"].metrics


def test_a_folder_of_databases_is_one_report(tmp_path, amd):
    """One database a process."""
    for name, guid in (("1", amd.GUID_A), ("2", amd.GUID_B)):
        amd.write_rocpd(tmp_path / f"{name}_results.db", [(guid, DISPATCHES, [])])
    assert {one.name: one.launch_count for one in read_profiles(tmp_path)} == {"f(int)": 4, "g": 2}


def test_the_file_is_only_read(tmp_path, amd):
    """No journal appears and a file without write permission is read."""
    path = tmp_path / "x.db"
    amd.write_rocpd(path, [(amd.GUID_A, DISPATCHES, [])])
    path.chmod(0o444)
    before = path.read_bytes()
    assert len(list(read_profiles(path))) == 2
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_time_that_is_no_time_is_absent(tmp_path, amd):
    """Zero and negative times, and none at all."""
    path = tmp_path / "x.db"
    amd.write_rocpd(
        path, [(amd.GUID_A, [(1, "f", 1000, 1000, 1), (2, "f", 1000, 900, 1), (3, "f", 1000, None, 1)], [])]
    )
    (found,) = read_profiles(path)
    assert (found.launch_count, found.durations) == (3, None)


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("DROP VIEW rocpd_info_agent", "without its views rocpd_info_agent"),
        (
            f'DELETE FROM "rocpd_info_kernel_symbol_{"00000000-0000-0000-0000-00000000000a".replace("-", "_")}"',
            "no symbol",
        ),
        (
            f'DELETE FROM "rocpd_kernel_dispatch_{"00000000-0000-0000-0000-00000000000a".replace("-", "_")}"',
            "no database holds",
        ),
        ("DROP VIEW rocpd_kernel_dispatch", "without its views rocpd_kernel_dispatch"),
    ],
)
def test_an_incomplete_database_is_refused(tmp_path, amd, statement, message):
    """Missing views, missing symbols and no dispatch end with exit code 2."""
    path = tmp_path / "x.db"
    amd.write_rocpd(path, [(amd.GUID_A, DISPATCHES, [])])
    connection = sqlite3.connect(path)
    connection.execute(statement)
    connection.commit()
    connection.close()
    with pytest.raises(ReportError, match=message) as caught:
        list(read_profiles(path))
    assert caught.value.exit_code == 2


def test_the_other_layout_of_that_name_is_told_apart(tmp_path):
    """RocmProfileData also calls its tables rocpd_*."""
    path = tmp_path / "x.rpd"
    connection = sqlite3.connect(path)
    for table in ("rocpd_op", "rocpd_api"):
        connection.execute(f"CREATE TABLE {table} (id)")
    connection.commit()
    connection.close()
    with pytest.raises(ReportError, match="RocmProfileData"):
        list(read_profiles(path))
