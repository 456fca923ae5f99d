"""Exports of Nsight Systems."""

from __future__ import annotations

import sqlite3

import pytest

from kopt_kb.analysis.readers.common.errors import ReportError
from kopt_kb.analysis.readers.read import reader_of
from kopt_kb.analysis.readers.trace.nsys import read_nsys

GPUS = [(0, "NVIDIA H100 80GB HBM3", 9, 0), (1, "NVIDIA H100 80GB HBM3", 9, 0)]


def test_the_recording_has_the_sums_of_its_tables(traces, tmp_path):
    """Kernels, graphs and copies against plain SQL."""
    path = traces.recorded("nsys_h100.sqlite.gz", tmp_path)
    trace = read_nsys(path)
    with sqlite3.connect(path) as base:
        (launches, total_ns) = base.execute(
            "SELECT count(*), sum(end - start) FROM CUPTI_ACTIVITY_KIND_KERNEL"
        ).fetchone()
        (copied,) = base.execute("SELECT sum(bytes) FROM CUPTI_ACTIVITY_KIND_MEMCPY").fetchone()
    base.close()
    graphs = next(one for one in trace.profiles if one.name == "CUDA graph 1")
    others = [one for one in trace.profiles if one is not graphs]
    assert (sum(one.launch_count for one in others), graphs.launch_count) == (launches, 3)
    assert sum(one.durations.total_s for one in others) == pytest.approx(total_ns / 1e9)
    (device,) = trace.devices
    assert sum(one.moved_bytes for one in device.copies) == copied
    assert (device.name, trace.source.tool_version) == ("NVIDIA H100 80GB HBM3", "2025.3.2.0")
    assert {one.target for one in trace.profiles} == {"sm_90"}
    assert any("--cuda-graph-trace=node" in note for note in graphs.notes)
    assert reader_of(path).id == "nsys-sqlite"


def test_recorded_launches_are_joined(traces, tmp_path):
    """Each kernel and copy of the recording has its call, so nothing of the idle time is unknown."""
    (device,) = read_nsys(traces.recorded("nsys_h100.sqlite.gz", tmp_path)).devices
    assert device.unknown_s == 0
    assert device.host_s > 0.9 * device.span_s


def test_processes_with_a_gpu_each_are_told_apart(traces, tmp_path):
    """Both see their GPU as number 0; correlation numbers are per process."""
    path = traces.nsys(
        tmp_path / "t.sqlite",
        kernels=[traces.kernel(0, 10_000, pid=11), traces.kernel(50_000, 60_000, pid=11, correlation=2),
                 traces.kernel(0, 10_000, pid=12), traces.kernel(20_000, 30_000, pid=12, correlation=2)],
        calls=[(40_000, 50_000, 11 << 24 | 7, 2, 2), (1000, 2000, 12 << 24 | 7, 2, 2)],
        gpus=GPUS,
        devices=[(0, 0, 11), (1, 0, 12)],
    )  # fmt: skip
    first, second = read_nsys(path).devices
    assert (first.device, second.device) == ("0", "1")
    assert (first.host_s, first.device_s) == (pytest.approx(40e-6), 0)
    assert (second.host_s, second.device_s) == (0, pytest.approx(10e-6))


def test_names_shapes_and_copies(traces, tmp_path):
    """Facts of the launch, and directions without the table that names them."""
    path = traces.nsys(
        tmp_path / "t.sqlite",
        kernels=[traces.kernel(0, 10, grid=(4, 2, 1)), traces.kernel(20, 30, grid=(8, 1, 1))],
        copies=[(40, 50, 0, 7, 3, 0, 4096, 1)],
    )
    trace = read_nsys(path)
    assert [(one.name, one.demangled, one.grid.size) for one in trace.profiles] == [
        ("k", "k(int)", 8),
        ("k", "k(int)", 8),
    ]
    assert trace.profiles[0].get("registers_per_thread") == 32
    (copies,) = trace.devices[0].copies
    assert (copies.direction, copies.moved_bytes, copies.rate_si) == ("copy kind 1", 4096, pytest.approx(4096 / 1e-8))


def test_an_export_without_gpu_work_is_told(traces, tmp_path):
    """The command that records it stands in the message."""
    path = traces.nsys(tmp_path / "t.sqlite", calls=[(1, 2, 3, 4, 1)])
    with pytest.raises(ReportError, match="no work of a GPU") as told:
        read_nsys(path)
    assert "nsys profile --trace cuda" in str(told.value)


def test_values_of_any_type_are_survived(traces, tmp_path):
    """SQLite columns hold what they like."""
    rows = [traces.kernel(0, 10), traces.kernel("x", None), traces.kernel(5, 1), (2**62, 2**63 - 1, *traces.kernel(0, 1)[2:]),
            tuple(b"\xff" for _ in traces.KERNEL_COLUMNS), (20, 30, "a", None, -5, "q", None, 77, None, *"abcdef")]  # fmt: skip
    path = traces.nsys(tmp_path / "t.sqlite", kernels=rows, calls=[("x", 1, 2, 3, 4), (1, 2, None, None, None)])
    found = read_nsys(path)
    assert sum(one.launch_count for one in found.profiles) == 2


def test_a_view_that_never_ends_is_stopped(tmp_path, monkeypatch):
    """A table of kernels may be a view with a loop."""
    from kopt_kb.analysis.readers.common import sqlite

    monkeypatch.setattr(sqlite, "_LIMIT_S", 0.2)
    with sqlite3.connect(tmp_path / "t.sqlite") as base:
        base.execute("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)")
        base.execute(
            'CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL (start, "end") AS'
            " WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT 1, 2 FROM n WHERE i < 0"
        )
    base.close()
    with pytest.raises(ReportError, match="not read within"):
        read_nsys(tmp_path / "t.sqlite")
