"""Dispatches and their configurations."""

from __future__ import annotations

from kopt_kb.analysis.profile import Dim3
from kopt_kb.analysis.profile.amd_counters import AmdDevice
from kopt_kb.analysis.readers.amd.amd_dispatch import Dispatch, DispatchShape


def test_work_items_become_blocks_and_stay():
    """1000 x 6 work-items in groups of 256 x 4 are 4 x 2 blocks, the last ones partly filled."""
    shape = DispatchShape("k", AmdDevice(), Dim3(1000, 6, 1), Dim3(256, 4, 1))
    assert shape.grid == Dim3(4, 2, 1)
    assert shape.metrics() == {"grid_threads": 6000, "block_threads": 1024, "grid_blocks": 8}


def test_totals_without_axes_give_no_axes():
    """A counter table prints totals only: the number of blocks is known, their axes are not."""
    shape = DispatchShape("k", AmdDevice(cu_count=304), grid_threads=1000, block_threads=256)
    assert shape.grid is None
    assert shape.metrics() == {"grid_threads": 1000, "block_threads": 256, "grid_blocks": 4, "sm_count": 304}


def test_passes_become_medians():
    """Times 100, 200, 600 and counters 1, 2, 9: the median, never the sum or the mean."""
    dispatch = Dispatch(1, "f", 2, DispatchShape("k", AmdDevice()))
    for start, span, value in ((0, 100, 1.0), (1000, 200, 2.0), (5000, 600, 9.0)):
        dispatch.span(start, start + span)
        dispatch.count("C", value)
    assert dispatch.settle() == 200
    assert dispatch.counters == {"C": 2.0}


def test_rows_of_one_pass_count_once_unless_they_weigh():
    """Three rows of 100 and one of 300: 200 over passes, 100 over rows."""
    plain, weighed = (Dispatch(1, "f", 2, DispatchShape("k", AmdDevice())) for _ in range(2))
    for start, span in ((0, 100), (0, 100), (0, 100), (500, 300)):
        plain.span(start, start + span)
        weighed.span(start, start + span, by_row=True)
    assert (plain.settle(), weighed.settle()) == (200, 100)


def test_a_time_that_is_not_positive_is_no_time():
    """Zero and negative times are absent."""
    dispatch = Dispatch(1, "f", 2, DispatchShape("k", AmdDevice()))
    dispatch.span(10, 10)
    assert dispatch.settle() is None
    dispatch.span(20, 5)
    assert dispatch.settle() is None
    assert str(dispatch.place) == "f, line 2"
