"""Unions and gaps of packed times."""

from __future__ import annotations

from array import array

import numpy as np
import pytest

from kopt_kb.analysis.profile.intervals import COPIES, KERNELS, Calls, Events, as_times, durations_by


def times(*values):
    """Return packed times."""
    return as_times(array("q", values))


def events(spans, calls=None, groups=(KERNELS,)):
    """Return events of kind 0 on stream 0."""
    count = len(spans)
    zeros = times(*[0] * count)
    return Events(times(*(a for a, _ in spans)), times(*(b for _, b in spans)), zeros, zeros,
                  times(*(calls or [-1] * count)), groups)  # fmt: skip


def calls(*rows, waits=()):
    """Return calls of (identifier, start, end) and waits of (start, end)."""
    columns = [times(*column) for column in zip(*rows, strict=True)] if rows else [times()] * 3
    held = [times(*column) for column in zip(*waits, strict=True)] if waits else [times()] * 2
    return Calls(*columns, *held)


def test_packed_numbers_of_both_widths_become_arrays():
    """Empty ones too."""
    assert as_times(array("i", [1, -2])).tolist() == [1, -2]
    assert (as_times(array("q")).tolist(), as_times(array("q", [1 << 60])).tolist()) == ([], [1 << 60])


def test_durations_of_groups():
    """First start and exact statistics of each group."""
    found = durations_by(array("i", [3, 1, 3]), array("q", [10, 0, 5]), array("q", [12, 7, 9]))
    assert found[1][0] == 0
    assert (found[3][0], found[3][1].median_s, found[3][1].total_s) == (5, pytest.approx(3e-9), pytest.approx(6e-9))


def test_a_gap_ends_at_the_event_that_starts_next():
    """An event inside a longer one makes no gap, and the longer one is what the gap comes after."""
    made = events([(0, 100), (10, 20), (130, 140)])
    idle = made.idle(calls())
    assert idle.count == 1
    assert next(idle.longest(1))[:2] == (pytest.approx(1e-7), pytest.approx(3e-8))
    assert (idle.unknown_s, idle.host_s) == (pytest.approx(3e-8), 0)


def test_calls_are_found_by_identifier():
    """Unknown and negative identifiers have none."""
    begun, ended = calls((5, 10, 20), (3, 30, 40)).spans(np.array([3, 4, 5, -1]))
    assert (begun.tolist(), ended.tolist()) == ([30, -1, 10, -1], [40, -1, 20, -1])


def test_waits_cover_moments():
    """Both ends count."""
    made = calls(waits=[(10, 20), (30, 40)])
    assert made.waited(np.array([9, 10, 20, 25, 40, 41])).tolist() == [False, True, True, False, True, False]


def test_a_call_that_launches_several_kernels_is_no_measure_of_their_length():
    """Kernels of a graph share one call."""
    made = events([(0, 5), (5, 10), (20, 30)], calls=[1, 1, 2])
    idle = made.idle(calls((1, 0, 100), (2, 0, 100)))
    assert (idle.called, idle.short) == (1, 1)
    assert events([(0, 5)], calls=[1], groups=(COPIES,)).idle(calls((1, 0, 100))).called == 0
