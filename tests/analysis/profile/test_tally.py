"""Times of many launches."""

from __future__ import annotations

import statistics

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kopt_kb.analysis.profile.tally import DurationTally


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 10**12), min_size=1, max_size=60), st.integers(0, 60))
def test_statistics_are_those_of_the_list(times, cut):
    """Added one by one, in bulk or merged, the tally equals the list."""
    tally, other = DurationTally(), DurationTally()
    for one in times[:cut]:
        tally.add(one)
    other.add_all(times[cut:])
    tally.merge(other)
    found = tally.stats()
    assert found is not None
    assert found.count == len(times)
    assert found.total_s == pytest.approx(sum(times) / 1e9)
    assert found.median_s == pytest.approx(statistics.median(times) / 1e9)
    assert (found.min_s, found.max_s) == (min(times) / 1e9, max(times) / 1e9)


def test_zero_and_negative_times_are_no_times():
    """They count nowhere."""
    tally = DurationTally()
    tally.add(0)
    tally.add(-5)
    tally.add_all([0, -1])
    assert tally.stats() is None
    tally.add_all([-1, 7])
    assert tally.stats().total_s == 7e-9


def test_memory_is_bounded_and_the_median_stays_near():
    """200000 different times keep at most 65536 entries; the median is within one part in 4096."""
    tally = DurationTally()
    for start in range(1, 200_001, 1000):
        tally.add_all(range(start, start + 1000))
    assert len(tally.counts) <= 1 << 16
    found = tally.stats()
    assert (found.count, found.min_s, found.max_s) == (200_000, 1e-9, 2e-4)
    assert found.total_s == pytest.approx(200_000 * 200_001 / 2 / 1e9)
    assert found.median_s == pytest.approx(1.000005e-4, rel=1 / 4096)


@pytest.mark.parametrize("how", ["one by one", "in bulk", "merged"])
def test_very_many_different_times_stay_within_their_bounds(how):
    """100,000 times from 1 to 100,000 ns: count, total, ends exact; the median of 50,000.5 ns within one part in 4096."""
    tally, other = DurationTally(), DurationTally()
    times = range(1, 100_001)
    if how == "one by one":
        for one in times:
            tally.add(one)
    elif how == "in bulk":
        tally.add_all(times)
    else:
        tally.add_all(range(1, 50_001))
        other.add_all(range(50_001, 100_001))
        tally.merge(other)
    assert len(tally.counts) < 1 << 16
    assert (tally.count, tally.total_ns, tally.min_ns, tally.max_ns) == (100_000, 5_000_050_000, 1, 100_000)
    assert 50_000.5 * (1 - 1 / 4096) - 16 <= tally.median_ns <= 50_000.5


def test_nothing_counted_is_no_median():
    """Neither no launch nor launches a negative number of times."""
    tally = DurationTally()
    tally.add(5.0, times=0)
    tally.add(5.0, times=-2)
    assert (tally.count, tally.median_ns, tally.note) == (0, 0.0, "")
    tally.add(0.0, times=3)
    assert tally.note.startswith("3 launch(es)")
