"""Databases of RocmProfileData."""

from __future__ import annotations

import pytest

from kopt_kb.analysis.profile import Dim3
from kopt_kb.analysis.readers.common.errors import ReportError
from kopt_kb.analysis.readers.read import reader_of
from kopt_kb.analysis.readers.trace.rpd import read_rpd

STRINGS = [
    (1, ""), (2, "KernelExecution"), (3, "CopyHostToDevice"), (4, "FillBuffer"), (5, "Task"), (6, "Marker"),
    (7, "gemm(float*)"), (8, "hipLaunchKernel"), (9, "hipDeviceSynchronize"), (10, "in_a_graph"),
]  # fmt: skip


def made(traces, path):
    """Write a kernel, a copy, a fill, a kernel of a graph and a marker, and the calls around them."""
    return traces.rpd(
        path,
        STRINGS,
        apis=[(1, 0, 5, 8), (2, 20, 30, 8), (3, 40, 90, 9), (4, 95, 99, 8)],
        ops=[(1, 2, 0, 10, 20, 7, 2), (2, 2, 0, 40, 50, 1, 3), (3, 2, 1, 50, 60, 1, 4), (4, 2, 0, 100, 110, 10, 5),
             (5, 2, 0, 0, 500, 1, 6)],
        pairs=[(1, 1), (2, 2), (4, 4)],
        kernels=[(1, 4, 2, 1, 256, 1, 1)],
        copies=[(2, 4096)],
    )  # fmt: skip


def test_operations_become_kernels_copies_and_fills(traces, tmp_path):
    """Kernels of a graph have the type `Task`; markers are no work."""
    path = made(traces, tmp_path / "t.rpd")
    trace = read_rpd(path)
    assert reader_of(path).id == "rpd"
    assert {one.name: (one.launch_count, one.grid) for one in trace.profiles} == {
        "gemm(float*)": (1, Dim3(4, 2, 1)),
        "in_a_graph": (1, None),
    }
    (device,) = trace.devices
    assert {one.direction: one.moved_bytes for one in device.copies} == {"HostToDevice": 4096, "FillBuffer": None}
    assert (device.span_s, device.busy_s) == (pytest.approx(1e-7), pytest.approx(4e-8))
    assert trace.source.vendor == "amd"


def test_idle_time_is_of_the_host_of_its_waits_or_of_the_device(traces, tmp_path):
    """20 to 40: launched at 30; 60 to 100: the host waits from 40 to 90 and has launched at 99."""
    (device,) = read_rpd(made(traces, tmp_path / "t.rpd")).devices
    assert device.host_s == pytest.approx(49e-9)
    assert device.synchronisation_s == pytest.approx(39e-9)
    assert device.device_s == pytest.approx(11e-9)


def test_early_databases_lack_tables_and_columns(tmp_path):
    """Operations alone are enough."""
    import sqlite3

    with sqlite3.connect(tmp_path / "t") as base:
        base.executescript(
            "CREATE TABLE rocpd_string (id, string); INSERT INTO rocpd_string VALUES (1, 'k');"
            'CREATE TABLE rocpd_api (id, start, "end", apiName_id);'
            'CREATE TABLE rocpd_op (id, gpuId, queueId, start, "end", description_id, opType_id);'
            "INSERT INTO rocpd_op VALUES (1, 0, 0, 5, 9, 1, 1), (2, 0, 0, 'x', 9, 1, 1), (3, NULL, NULL, 9, 5, 99, 99)"
        )
    base.close()
    (profile,) = read_rpd(tmp_path / "t").profiles
    assert (profile.name, profile.notes) == ("k", ("2 event(s) end before they start: left out",))


def test_a_database_without_operations_is_told(traces, tmp_path):
    """Nothing ran on a GPU."""
    with pytest.raises(ReportError, match="no operation"):
        read_rpd(traces.rpd(tmp_path / "t.rpd", STRINGS))
