"""Address sets as runs, against plain sets."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kopt_kb.analysis.ir.triton.footprint import Footprint, runs_of, sectors_per_row, union_length

INTERVALS = st.lists(st.tuples(st.integers(0, 300), st.integers(1, 40)), max_size=30)


def arrays(intervals):
    starts = np.array([start for start, _ in intervals], np.int64)
    return starts, starts + np.array([size for _, size in intervals], np.int64)


@given(INTERVALS)
def test_the_union_is_as_long_as_the_set_of_its_bytes(intervals):
    """In any order, with any overlap."""
    expected = {byte for start, size in intervals for byte in range(start, start + size)}
    assert union_length(*arrays(intervals)) == len(expected)


@given(INTERVALS, INTERVALS)
def test_a_footprint_forgets_repeats(one, two):
    """Bytes and 32-byte sectors of two batches together."""
    first, second = Footprint(), Footprint()
    first.add(*arrays(one))
    second.add(*arrays(two))
    first.update(second)
    expected = {byte for start, size in [*one, *two] for byte in range(start, start + size)}
    assert first.size_bytes() == len(expected)
    assert first.sectors() == len({byte // 32 for byte in expected})


@settings(max_examples=20)
@given(st.lists(st.integers(0, 500), min_size=1, max_size=40), st.data())
def test_runs_cover_exactly_the_active_lanes(elements, data):
    """Masked lanes break runs; rows stay apart."""
    address = np.array([elements, elements], np.int64) * 4
    mask = np.array([data.draw(st.lists(st.booleans(), min_size=len(elements), max_size=len(elements))) for _ in "ab"])
    rows, starts, ends = runs_of(address, mask, 4)
    for row in (0, 1):
        mine = rows == row
        covered = {byte for a, b in zip(starts[mine], ends[mine], strict=True) for byte in range(a, b)}
        assert covered == {byte for a in address[row][mask[row]] for byte in range(a, a + 4)}
    sectors = [{byte // 32 for a in address[row][mask[row]] for byte in range(a, a + 4)} for row in (0, 1)]
    assert sectors_per_row(rows, starts, ends) == len(sectors[0]) + len(sectors[1])


def test_compaction_changes_nothing(monkeypatch):
    """A footprint that compacts after every batch holds the same bytes."""
    monkeypatch.setattr("kopt_kb.analysis.ir.triton.footprint._COMPACT_AT_RUNS", 3)
    footprint = Footprint()
    for start in (0, 50, 4, 8, 52, 100, 0):
        footprint.add(np.array([start], np.int64), np.array([start + 4], np.int64))
    assert footprint.size_bytes() == 4 + 4 + 4 + 6 + 4
    assert Footprint().size_bytes() == Footprint().sectors() == 0
