"""rocprof-compute's analysis database."""

from __future__ import annotations

import json
import sqlite3

import pytest

from kopt_kb.analysis.readers import ReportError, read_profiles

SOL = "System Speed-of-Light"


def write(path, metrics, dispatches=((0, 10, 110), (1, 200, 500))):
    connection = sqlite3.connect(path)
    connection.executescript(
        """CREATE TABLE compute_metadata (compute_version);
        CREATE TABLE compute_workload (workload_id, sys_info_extdata);
        CREATE TABLE compute_kernel (kernel_uuid, workload_id, kernel_name);
        CREATE TABLE compute_dispatch (kernel_uuid, dispatch_id, gpu_id, start_timestamp, end_timestamp);
        CREATE TABLE compute_metric_definition (metric_uuid, table_name, name, metric_id, unit);
        CREATE TABLE compute_kernel_metric_value (kernel_uuid, metric_uuid, value_name, value);
        INSERT INTO compute_metadata VALUES ('3.5.0');
        INSERT INTO compute_kernel VALUES (1, 1, 'k(int)');"""
    )
    info = json.dumps({"gpu_model": "MI350", "gpu_arch": "gfx950", "cu_per_gpu": 256, "max_waves_per_cu": 32})
    connection.execute("INSERT INTO compute_workload VALUES (1, ?)", (info,))
    connection.executemany("INSERT INTO compute_dispatch VALUES (1, ?, 0, ?, ?)", dispatches)
    for number, (table, name, metric_id, unit, kind, value) in enumerate(metrics):
        connection.execute(
            "INSERT INTO compute_metric_definition VALUES (?, ?, ?, ?, ?)", (number, table, name, metric_id, unit)
        )
        connection.execute("INSERT INTO compute_kernel_metric_value VALUES (1, ?, ?, ?)", (number, kind, value))
    connection.commit()
    connection.close()
    return path


def test_metrics_stay_the_tools_own_in_base_units(tmp_path):
    """`Gb/s` means GB/s; a null is absent; the note says whose they are."""
    path = write(
        tmp_path / "x.db",
        [
            (SOL, "VALU Utilization", "2.1.11", "Percent", "Avg", 53.25),
            (SOL, "L2-Fabric Read BW", "2.1.24", "Gb/s", "Avg", 2.0),
            (SOL, "L2-Fabric Write BW", "2.1.25", "Gb/s", "Avg", 3.0),
            (SOL, "Wavefront Occupancy", "2.1.17", "Wavefronts", "Avg", 4096.0),
            (SOL, "IPC", "2.1.16", "ns", "Peak", 5.0),
            (SOL, "L2 Cache Hit Rate", "2.1.22", "Percent", "Avg", None),
        ],
    )
    (found,) = read_profiles(path)
    assert (found.launch_count, found.duration_s, found.target) == (2, 200e-9, "gfx950")
    assert found.metrics["pipe_elapsed.valu_pct"] == 53.25
    assert found.metrics["dram_bytes_per_s"] == 5e9
    assert (found.metrics["active_warps_per_sm"], found.metrics["achieved_occupancy_pct"]) == (16, 50)
    assert {"instructions_per_cycle", "l2_hit_pct"}.isdisjoint(found.metrics)
    assert found.launches[0].raw["2.1.24 L2-Fabric Read BW Avg"] == (2e9, "B/s")
    assert "tool's own" in found.notes[0]
    assert found.source.tool_version == "3.5.0"


def test_a_database_without_dispatches_is_refused(tmp_path):
    """Empty is never success."""
    with pytest.raises(ReportError, match="no dispatch"):
        list(read_profiles(write(tmp_path / "x.db", [], dispatches=())))


@pytest.mark.parametrize(("version", "there"), [("3.5.0", True), ("3.10.1", True), ("3.4.9", False), ("3.3.0", False)])
def test_halved_reads_of_old_releases_are_left_out(tmp_path, version, there):
    """Before 3.5.0 a read request of 128 bytes counts 64 on gfx950: no rate, and a note that says why."""
    metrics = [
        (SOL, f"L2-Fabric {way} BW", number, "Gb/s", "Avg", 2.0) for way, number in (("Read", "1"), ("Write", "2"))
    ]
    path = write(tmp_path / "x.db", metrics)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE compute_metadata SET compute_version = ?", (version,))
    (found,) = read_profiles(path)
    assert ("dram_bytes_per_s" in found.metrics) is there
    assert any("half the bytes" in note for note in found.notes) is not there
