"""Several launches of a kernel are statistics: sums before ratios, the median time."""

from __future__ import annotations

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kopt_kb.analysis.profile import Collector, Dim3, ProfiledLaunch, ReportPlace, ReportSource, duration_stats
from kopt_kb.base.errors import BadInput

SOURCE = ReportSource("run.csv", "ncu-csv", "ncu", "nvidia")


def launch(index, name="k", grid=None, bounds=None, **metrics):
    place = ReportPlace("run.csv", f"line {index}")
    return ProfiledLaunch(str(index), name, place, grid=grid, metrics=metrics, bounds=bounds or {})


def collected(*launches, keep=1000):
    collector = Collector(SOURCE, keep=keep)
    for one in launches:
        collector.add(one)
    return list(collector.profiles())


def test_ten_launches_of_one_name_are_one_kernel_with_the_median_time():
    """An outlier doesn't move the time."""
    times = [1.0, 1.0, 1.0, 1.0, 1.0, 3.0, 3.0, 3.0, 3.0, 900.0]
    (profile,) = collected(*(launch(i, duration_s=one) for i, one in enumerate(times)))
    assert profile.launch_count == 10
    assert profile.duration_s == 2.0
    assert profile.durations.total_s == 917.0
    assert (profile.durations.min_s, profile.durations.max_s) == (1.0, 900.0)


def test_another_grid_is_another_profile():
    """Launches of different size are not mixed."""
    profiles = collected(launch(0, grid=Dim3(8)), launch(1, grid=Dim3(9)), launch(2, grid=Dim3(8)))
    assert [(one.grid.x, one.launch_count) for one in profiles] == [(8, 2), (9, 1)]


def test_amounts_are_means_of_one_launch_and_rates_are_sums_over_sums():
    """100 B in 1 s and 500 B in 2 s are 300 B a launch at 200 B/s, not the mean of 100 and 250."""
    (profile,) = collected(
        launch(0, duration_s=1.0, dram_read_bytes=100.0), launch(1, duration_s=2.0, dram_read_bytes=500.0)
    )
    assert profile.get("dram_read_bytes") == 300.0
    assert profile.rate("dram_read_bytes") == pytest.approx(200.0)


def test_shares_are_weighted_by_time():
    """10 % for 1 s and 40 % for 3 s are 32.5 %."""
    (profile,) = collected(launch(0, duration_s=1.0, sm_sol_pct=10.0), launch(1, duration_s=3.0, sm_sol_pct=40.0))
    assert profile.get("sm_sol_pct") == pytest.approx(32.5)


def test_shares_of_launches_without_time_are_plain_means():
    """Without weights every launch counts the same."""
    (profile,) = collected(launch(0, duration_s=1.0, sm_sol_pct=10.0), launch(1, sm_sol_pct=40.0))
    assert profile.get("sm_sol_pct") == pytest.approx(25.0)


def test_ratios_come_from_their_sums():
    """8 sectors in 2 requests and 32 in 1 are 40 / 3, not the mean of 4 and 32."""
    parts = [
        {"global_load_sectors": 8.0, "global_load_requests": 2.0, "global_load_sectors_per_request": 4.0},
        {"global_load_sectors": 32.0, "global_load_requests": 1.0, "global_load_sectors_per_request": 32.0},
    ]
    (profile,) = collected(*(launch(i, duration_s=1.0, **one) for i, one in enumerate(parts)))
    assert profile.get("global_load_sectors_per_request") == pytest.approx(40 / 3)


def test_one_launch_keeps_the_tools_own_ratio():
    """The tool's hit rate may come from other passes than its hit counts."""
    (profile,) = collected(launch(0, l2_hits=1.0, l2_lookups=4.0, l2_hit_pct=26.0))
    assert profile.get("l2_hit_pct") == 26.0


def test_an_empty_denominator_leaves_no_ratio():
    """No requests have no bytes a request."""
    (profile,) = collected(launch(0, global_load_sectors=0.0, global_load_requests=0.0))
    assert profile.get("global_load_sectors_per_request") is None


def test_what_one_launch_lacks_is_averaged_over_the_others():
    """An absent counter is not a zero."""
    (profile,) = collected(launch(0, duration_s=1.0, dram_read_bytes=100.0), launch(1, duration_s=1.0))
    assert profile.get("dram_read_bytes") == 100.0
    assert profile.get("dram_write_bytes") is None


def test_records_are_capped_and_statistics_are_not():
    """A long trace keeps its count."""
    (profile,) = collected(*(launch(i, duration_s=1.0) for i in range(5)), keep=2)
    assert (profile.launch_count, len(profile.launches), profile.durations.count) == (5, 2, 5)


def test_one_bounded_launch_bounds_the_profile():
    """A lower bound stays one after summing."""
    (profile,) = collected(
        launch(0, dram_read_bytes=1.0), launch(1, bounds={"dram_read_bytes": "lower"}, dram_read_bytes=1.0)
    )
    assert profile.bound("dram_read_bytes") == "lower"


def test_an_id_outside_of_the_vocabulary_is_refused():
    """Readers can't invent metrics."""
    with pytest.raises(BadInput, match="no profile metric"):
        collected(launch(0, speed=1.0))


@given(st.lists(st.floats(1e-9, 1e3), min_size=1, max_size=30))
def test_the_median_lies_between_the_extremes(times):
    """Statistics agree with each other."""
    stats = duration_stats(array("d", times))
    assert stats.min_s <= stats.median_s <= stats.max_s
    assert stats.count == len(times)


def test_no_times_have_no_statistics():
    """An empty list is absent."""
    assert duration_stats(array("d")) is None
