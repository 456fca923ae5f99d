"""Packed events of a trace."""

from __future__ import annotations

import random

import pytest

from kopt_kb.analysis.profile import Dim3, ReportSource
from kopt_kb.analysis.profile.events import EventLog, TimedKind, kind_of


def log():
    """Return a log with one device."""
    found = EventLog(ReportSource("t", "f", "tool", "nvidia"))
    found.device("0", "GPU", "sm_90")
    return found


def test_profiles_have_exact_statistics_in_order_of_first_mention():
    """Events in any order; median of an even count is the mean of the middle two."""
    made = log()
    first, second = (
        made.kind(TimedKind("kernel", "b", 0, grid=Dim3(2), block=Dim3(64))),
        made.kind(TimedKind("kernel", "a", 0)),
    )
    stream = made.stream("7")
    for start, length in ((100, 4), (0, 1), (50, 2), (20, 9)):
        made.add(0, first, stream, start, start + length)
    made.add(0, second, stream, 10, 11)
    one, other = made.trace().profiles
    assert (one.name, one.launch_count, one.grid, one.get("block_threads")) == ("b", 4, Dim3(2), 64)
    stats = one.durations
    assert (stats.count, stats.total_s, stats.median_s, stats.min_s, stats.max_s) == (
        4, pytest.approx(16e-9), pytest.approx(3e-9), pytest.approx(1e-9), pytest.approx(9e-9)
    )  # fmt: skip
    assert (other.name, one.device, one.target) == ("a", "GPU", "sm_90")


def test_impossible_events_are_counted_and_left_out():
    """Ends before starts, and numbers that no clock has."""
    made = log()
    kind, stream = made.kind(TimedKind("kernel", "k", 0)), made.stream("7")
    for start, end in ((5, 4), (0, 1 << 63), (-(1 << 63), 0)):
        made.add(0, kind, stream, start, end)
    assert made.empty
    made.add(0, kind, stream, 1, 3)
    made.launch(1, 5, 2)
    made.launch(-1, 0, 1)
    made.wait(9, 3)
    assert made.trace().profiles[0].notes == ("3 event(s) end before they start: left out",)


def test_what_is_said_later_completes_a_device():
    """Names may follow events."""
    made = EventLog(ReportSource("t", "f", "tool", "nvidia"))
    number = made.device("3")
    assert made.device("3", "GPU three") == number
    made.add(number, made.kind(TimedKind("kernel", "k", number)), made.stream("1"), 0, 1)
    assert made.trace().devices[0].name == "GPU three"
    assert made.labels == {"3"}


def test_copies_keep_their_bytes_by_direction():
    """The longest direction first."""
    made = log()
    up, down = made.kind(TimedKind("copy", "up", 0)), made.kind(TimedKind("copy", "down", 0))
    for kind, start, end in ((up, 0, 5), (down, 5, 50), (up, 50, 60)):
        made.add(0, kind, made.stream("7"), start, end)
    made.moved(up, 8)
    made.moved(up, 2)
    trace = made.trace()
    assert [(one.direction, one.count, one.moved_bytes) for one in trace.devices[0].copies] == [
        ("down", 1, None),
        ("up", 2, 10),
    ]
    assert trace.profiles == ()


def test_collectives_are_known_by_name():
    """As profiles know them."""
    assert [kind_of(one) for one in ("ncclDevKernel_AllReduce(x)", "gemm")] == ["communication", "kernel"]


@pytest.mark.parametrize("seed", range(20))
def test_times_are_those_of_a_sweep_over_single_nanoseconds(seed):
    """Busy, by group, alone and idle, against sets of nanoseconds."""
    chance = random.Random(seed)
    made = log()
    kinds = [
        TimedKind("kernel", "k", 0),
        TimedKind("copy", "c", 0),
        TimedKind("communication", "ncclKernel", 0),
        TimedKind("fill", "f", 0),
    ]
    numbers = [made.kind(one) for one in kinds]
    filled = [set() for _ in kinds]
    calls = {}
    for call in range(chance.randint(1, 25)):
        start, which = chance.randint(0, 200), chance.randrange(len(kinds))
        end = start + chance.randint(0, 20)
        filled[which].update(range(start, end))
        made.add(0, numbers[which], made.stream(str(which)), start, end, call)
        begun = chance.randint(0, 200)
        calls[call] = (begun, begun + chance.randint(0, 30))
        if chance.random() < 0.8:
            made.launch(call, *calls[call])
    (device,) = made.trace().devices
    ns = 1e-9
    busy = set().union(*filled)
    assert device.busy_s == pytest.approx(len(busy) * ns)
    assert device.kernel_s == pytest.approx(len(filled[0]) * ns)
    assert device.copy_s == pytest.approx(len(filled[1] | filled[3]) * ns)
    assert device.copy_alone_s == pytest.approx(len((filled[1] | filled[3]) - filled[0] - filled[2]) * ns)
    assert device.communication_alone_s == pytest.approx(len(filled[2] - filled[0] - filled[1] - filled[3]) * ns)
    idle_s = device.host_s + device.device_s + device.unknown_s
    assert idle_s == pytest.approx(device.span_s - device.busy_s, abs=1e-15)


def test_a_part_of_a_log_has_the_events_that_start_in_it_and_all_calls():
    """Names, streams and launch calls stay; the whole log is left as it was."""
    made = log()
    kind, stream = made.kind(TimedKind("kernel", "a", 0)), made.stream("7")
    for start in (0, 100, 200):
        made.add(0, kind, stream, start, start + 10, start)
        made.launch(start, start, start + 5)
    part = made.between(100, 201).trace()
    assert (part.profiles[0].launch_count, part.devices[0].name) == (2, "GPU")
    assert (part.devices[0].span_s, part.devices[0].called_launches) == (pytest.approx(110e-9), 2)
    assert made.trace().profiles[0].launch_count == 3
