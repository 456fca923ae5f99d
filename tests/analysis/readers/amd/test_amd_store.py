"""Dispatches put together in bounded memory."""

from __future__ import annotations

from kopt_kb.analysis.profile import Dim3, ReportSource
from kopt_kb.analysis.profile.amd_counters import AmdDevice
from kopt_kb.analysis.readers.amd.amd_collect import AmdCollector
from kopt_kb.analysis.readers.amd.amd_dispatch import DispatchShape
from kopt_kb.analysis.readers.amd.amd_store import DispatchStore

SHAPE = DispatchShape("k", AmdDevice(), grid_threads=64, block_threads=64)


def filled(window, ids):
    collector = AmdCollector(ReportSource("f", "x", "t", "amd"))
    store = DispatchStore(collector, window=window)
    for line, (scope, number) in enumerate(ids):
        record = store.open(scope, number, SHAPE, "f", line)
        record.span(line * 1000, line * 1000 + 100)
        record.count("C", 1.0)
    store.flush()
    return list(collector.profiles())


def test_rows_of_one_dispatch_are_one_launch():
    """Two ids seen twice each are two launches."""
    (found,) = filled(10, [("", 1), ("", 2), ("", 1), ("", 2)])
    assert found.launch_count == 2
    assert found.durations.count == 2


def test_ids_of_other_processes_are_other_launches():
    """Ids collide between processes."""
    (found,) = filled(10, [("a", 1), ("b", 1)])
    assert found.launch_count == 2


def test_a_dispatch_that_comes_back_late_is_no_new_launch():
    """A window of 2: id 1 returns after it was closed; launches and times don't grow, the profile says so."""
    (found,) = filled(2, [("", 1), ("", 2), ("", 3), ("", 4), ("", 1)])
    assert (found.launch_count, found.durations.count) == (4, 4)
    assert "come again" in found.notes[0]


def test_a_row_with_axes_completes_one_without():
    """A kernel table and a counter table describe one dispatch."""
    collector = AmdCollector(ReportSource("f", "x", "t", "amd"))
    store = DispatchStore(collector)
    store.open("", 1, SHAPE, "f", 1)
    store.open("", 1, DispatchShape("k", AmdDevice(), Dim3(64), Dim3(32)), "f", 2)
    store.flush()
    assert next(collector.profiles()).grid == Dim3(2)
