"""Dispatches into profiles: sums before ratios."""

from __future__ import annotations

import pytest

from kopt_kb.analysis.profile import ReportPlace, ReportSource
from kopt_kb.analysis.profile.amd_counters import AmdDevice
from kopt_kb.analysis.profile.tally import DurationTally
from kopt_kb.analysis.readers.amd.amd_collect import AmdCollector, CounterSum
from kopt_kb.analysis.readers.amd.amd_dispatch import Dispatch, DispatchShape

GPU = AmdDevice("MI300X", "gfx942", 304, 8)


def collected(*dispatches, keep=1000):
    collector = AmdCollector(ReportSource("f", "x", "t", "amd"), keep=keep)
    for number, (span, counters) in enumerate(dispatches):
        one = Dispatch(number, "f", number + 2, DispatchShape("k", GPU, grid_threads=64, block_threads=64))
        one.span(0, span)
        one.counters.update(counters)
        collector.add(one)
    return list(collector.profiles())


def test_hits_are_summed_before_they_are_divided():
    """1 of 1 and 0 of 99 is 1 %, not 50 %."""
    (found,) = collected(
        (10, {"TCC_HIT_sum": 1.0, "TCC_MISS_sum": 0.0}), (10, {"TCC_HIT_sum": 0.0, "TCC_MISS_sum": 99.0})
    )
    assert found.metrics["l2_hit_pct"] == 1.0
    assert found.metrics["l2_lookups"] == 50


def test_ratios_of_the_tool_are_weighted_by_time():
    """90 % for 100 ns and 10 % for 300 ns is 30 %."""
    (found,) = collected((100, {"VALUBusy": 90.0}), (300, {"VALUBusy": 10.0}))
    assert found.metrics["pipe_elapsed.valu_pct"] == pytest.approx(30.0)


def test_counters_are_kept_in_base_units():
    """FETCH_SIZE is KiB; both spellings count."""
    (found,) = collected((100, {"FetchSize": 2.0}))
    assert found.launches[0].raw["FetchSize"].value == 2048
    assert found.metrics["fabric_read_bytes"] == 2048


def test_a_launch_without_a_time_is_a_launch():
    """Missing times are absent and never 0."""
    (found,) = collected((0, {}), (100, {}))
    assert (found.launch_count, found.durations.count, found.duration_s) == (2, 1, 1e-7)


def test_only_some_launch_records_are_kept():
    """Statistics cover all launches."""
    (found,) = collected(*[(100, {})] * 5, keep=2)
    assert (found.launch_count, len(found.launches)) == (5, 2)


def test_rates_follow_from_sums():
    """2048 B in 100 ns and none recorded elsewhere: 20.48 GB/s."""
    (found,) = collected((100, {"FETCH_SIZE": 1.0, "WRITE_SIZE": 1.0}))
    assert found.metrics["dram_bytes_per_s"] == pytest.approx(2048 / 1e-7)
    assert found.bounds["dram_bytes_per_s"] == "upper"


def test_sums_counted_elsewhere_give_the_same_profile():
    """A database adds up itself."""
    collector = AmdCollector(ReportSource("f", "x", "t", "amd"))
    shape, place = DispatchShape("k", GPU, grid_threads=64, block_threads=64), ReportPlace("f", "dispatch 0")
    times = DurationTally()
    times.add_all([10, 10])
    collector.add_sums(shape, place, 2, times)
    for name, total in (("TCC_HIT_sum", 1.0), ("TCC_MISS_sum", 99.0)):
        collector.add_counter(shape, place, name, CounterSum(2, total, total * 10, 20))
    (found,) = collector.profiles()
    (twin,) = collected(
        (10, {"TCC_HIT_sum": 1.0, "TCC_MISS_sum": 0.0}), (10, {"TCC_HIT_sum": 0.0, "TCC_MISS_sum": 99.0})
    )
    assert (found.metrics, found.durations, found.launch_count) == (twin.metrics, twin.durations, 2)
