"""Events of a trace, packed as they come and sorted once: kernels with their times, devices with their idle times.

An event takes 32 bytes and a launch call 24, whatever the trace spends on them; names and shapes are kept once.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from kopt_kb.analysis.profile.kernel_profile import DurationStats, KernelProfile
from kopt_kb.analysis.profile.launch import Dim3, ReportPlace, ReportSource
from kopt_kb.analysis.profile.names import function_name, role_of
from kopt_kb.analysis.profile.timeline import DeviceTimeline, DirectionCopies, EventKind, IdleGap, StreamTime, Trace

if TYPE_CHECKING:
    from kopt_kb.analysis.profile.intervals import Calls

__all__ = ["LARGEST_NS", "NO_LAUNCH", "EventLog", "TimedKind", "kind_of"]

NO_LAUNCH = -1
_LONGEST = 5
LARGEST_NS = 1 << 62


class TimedKind(NamedTuple):
    """What events have in common: a kernel with its shape, or copies of one direction.

    Attributes:
        kind: What ran.
        name: Name as the trace prints it; a direction for copies.
        demangled: Full name, empty when the trace has one name only.
        device: Device as `EventLog.device` returned it.
        grid: Blocks.
        block: Threads of a block.
        metrics: Facts of the launch by vocabulary id, as pairs.
    """

    kind: EventKind
    name: str
    device: int
    demangled: str = ""
    grid: Dim3 | None = None
    block: Dim3 | None = None
    metrics: tuple[tuple[str, float], ...] = ()


@dataclass(slots=True)
class _Device:
    """Labels of one device and its packed events."""

    label: str
    name: str = ""
    target: str = ""
    starts: array[int] = field(default_factory=lambda: array("q"))
    ends: array[int] = field(default_factory=lambda: array("q"))
    kinds: array[int] = field(default_factory=lambda: array("i"))
    streams: array[int] = field(default_factory=lambda: array("i"))
    calls: array[int] = field(default_factory=lambda: array("q"))

    def between(self, start_ns: int, end_ns: int) -> _Device:
        """Return the same device with the events that start in a span."""
        found = _Device(self.label, self.name, self.target)
        for event in zip(self.starts, self.ends, self.kinds, self.streams, self.calls, strict=True):
            if start_ns <= event[0] < end_ns:
                for packed, value in zip(
                    (found.starts, found.ends, found.kinds, found.streams, found.calls), event, strict=True
                ):
                    packed.append(value)
        return found


@dataclass(slots=True)
class EventLog:
    """Takes events in any order.

    Attributes:
        source: The report.
        rank: Number of the process in a distributed run, empty when there is none.
        notes: Remarks that go into every profile.
        impossible: Events that end before they start or are out of range: left out.
    """

    source: ReportSource
    rank: str = ""
    notes: dict[str, None] = field(default_factory=dict)
    impossible: int = 0
    _devices: list[_Device] = field(default_factory=list)
    _numbers: dict[str, int] = field(default_factory=dict)
    _kinds: dict[TimedKind, int] = field(default_factory=dict)
    _streams: dict[str, int] = field(default_factory=dict)
    _bytes: dict[int, int] = field(default_factory=dict)
    _calls: tuple[array[int], array[int], array[int]] = field(
        default_factory=lambda: (array("q"), array("q"), array("q"))
    )
    _waits: tuple[array[int], array[int]] = field(default_factory=lambda: (array("q"), array("q")))

    def device(self, label: str, name: str = "", target: str = "") -> int:
        """Return the number of a device by its label; a name or target that comes later completes it."""
        number = self._numbers.setdefault(label, len(self._devices))
        if number == len(self._devices):
            self._devices.append(_Device(label))
        known = self._devices[number]
        known.name, known.target = name or known.name, target or known.target
        return number

    def kind(self, kind: TimedKind) -> int:
        """Return the number of a kind of events."""
        return self._kinds.setdefault(kind, len(self._kinds))

    def stream(self, name: str) -> int:
        """Return the number of a stream by its name."""
        return self._streams.setdefault(name, len(self._streams))

    def add(self, device: int, kind: int, stream: int, start_ns: int, end_ns: int, call: int = NO_LAUNCH) -> None:
        """Add an event.

        Args:
            device: Number by `device`.
            kind: Number by `kind`.
            stream: Number by `stream`.
            start_ns: Start.
            end_ns: End; before the start, or out of range, makes the event impossible.
            call: Identifier of the call that launched it, as `launch` gets it.
        """
        if end_ns < start_ns or not -LARGEST_NS < start_ns <= end_ns < LARGEST_NS:
            self.impossible += 1
            return
        held = self._devices[device]
        held.starts.append(start_ns)
        held.ends.append(end_ns)
        held.kinds.append(kind)
        held.streams.append(stream)
        held.calls.append(call)

    def moved(self, kind: int, amount: int) -> None:
        """Add bytes to copies of a kind."""
        self._bytes[kind] = self._bytes.get(kind, 0) + amount

    def launch(self, call: int, start_ns: int, end_ns: int) -> None:
        """Add a call of the host that launches work."""
        if 0 <= start_ns <= end_ns < LARGEST_NS and 0 <= call < LARGEST_NS:
            for packed, value in zip(self._calls, (call, start_ns, end_ns), strict=True):
                packed.append(value)

    def wait(self, start_ns: int, end_ns: int) -> None:
        """Add a call in which the host waits for a device."""
        if 0 <= start_ns <= end_ns < LARGEST_NS:
            self._waits[0].append(start_ns)
            self._waits[1].append(end_ns)

    @property
    def labels(self) -> frozenset[str]:
        """Labels of the devices that have been named so far."""
        return frozenset(self._numbers)

    @property
    def empty(self) -> bool:
        """Whether there is no event yet."""
        return not any(one.starts for one in self._devices)

    def between(self, start_ns: int, end_ns: int) -> EventLog:
        """Return the events that start from one moment on and before another, with all calls of the host."""
        part = replace(self, _devices=[one.between(start_ns, end_ns) for one in self._devices], _bytes={})
        part.notes = dict(self.notes)
        return part

    def trace(self) -> Trace:
        """Return kernels and devices."""
        from kopt_kb.analysis.profile.intervals import Calls, as_times

        if self.impossible:
            self.notes[f"{self.impossible} event(s) end before they start: left out"] = None
        kinds = list(self._kinds)
        calls = Calls(*(as_times(one) for one in (*self._calls, *self._waits)))
        used = [one for one in self._devices if one.starts]
        profiles = [one for device in used for one in self._profiles(device, kinds)]
        first = {one: at for at, one in enumerate(kinds)}
        profiles.sort(key=lambda pair: first[pair[0]])
        timelines = [_timeline(one, self.rank, kinds, list(self._streams), self._bytes, calls) for one in used]
        return Trace(self.source, tuple(one for _, one in profiles), tuple(timelines))

    def _profiles(self, device: _Device, kinds: list[TimedKind]) -> Iterator[tuple[TimedKind, KernelProfile]]:
        from kopt_kb.analysis.profile.intervals import durations_by

        for number, (first, stats) in durations_by(device.kinds, device.starts, device.ends).items():
            kind = kinds[number]
            if kind.kind in {"kernel", "communication"}:
                yield kind, self._profile(device, kind, first, stats)

    def _profile(self, device: _Device, kind: TimedKind, first_ns: int, stats: DurationStats) -> KernelProfile:
        metrics: dict[str, float] = dict(kind.metrics)
        for axis, metric in ((kind.grid, "grid_blocks"), (kind.block, "block_threads")):
            if axis is not None:
                metrics[metric] = float(axis.size)
        metrics["duration_s"] = stats.median_s
        return KernelProfile(
            name=kind.name,
            demangled=kind.demangled or kind.name,
            source=self.source,
            place=ReportPlace(self.source.file, f"device {device.label}, first at {first_ns} ns"),
            launch_count=stats.count,
            metrics=metrics,
            durations=stats,
            device=device.name,
            target=device.target,
            grid=kind.grid,
            block=kind.block,
            notes=tuple(self.notes),
        )


def kind_of(name: str) -> EventKind:
    """Return whether a kernel is a collective."""
    return "communication" if role_of(function_name(name)) == "communication" else "kernel"


def _timeline(
    device: _Device, rank: str, kinds: list[TimedKind], streams: list[str], moved: Mapping[int, int], calls: Calls
) -> DeviceTimeline:
    from kopt_kb.analysis.profile.intervals import COLLECTIVES, COPIES, KERNELS, Events, as_times

    groups = {"kernel": KERNELS, "copy": COPIES, "fill": COPIES, "communication": COLLECTIVES}
    events = Events(
        as_times(device.starts), as_times(device.ends), as_times(device.kinds), as_times(device.streams),
        as_times(device.calls), [groups[one.kind] for one in kinds],
    )  # fmt: skip
    idle = events.idle(calls)
    sums = events.by_kind()
    return DeviceTimeline(
        rank=rank,
        device=device.label,
        name=device.name,
        span_s=events.span_s,
        busy_s=events.busy_s,
        kernel_s=events.union_s({KERNELS}),
        communication_s=events.union_s({COLLECTIVES}),
        copy_s=events.union_s({COPIES}),
        copy_alone_s=events.busy_s - events.union_s({KERNELS, COLLECTIVES}),
        communication_alone_s=events.busy_s - events.union_s({KERNELS, COPIES}),
        launches=sum(count for one, (count, _) in sums.items() if kinds[one].kind in {"kernel", "communication"}),
        called_launches=idle.called,
        short_launches=idle.short,
        host_s=idle.host_s,
        synchronisation_s=idle.synchronisation_s,
        device_s=idle.device_s,
        unknown_s=idle.unknown_s,
        gaps=idle.count,
        longest=tuple(
            IdleGap(at_s, time_s, kinds[after].name, kinds[before].name, cause)
            for at_s, time_s, after, before, cause in idle.longest(_LONGEST)
        ),
        streams=tuple(StreamTime(streams[one], count, busy_s) for one, count, busy_s in events.by_stream()),
        copies=_copies(kinds, sums, moved),
    )


def _copies(
    kinds: list[TimedKind], sums: Mapping[int, tuple[int, float]], moved: Mapping[int, int]
) -> tuple[DirectionCopies, ...]:
    found = [
        DirectionCopies(kinds[one].name, count, moved.get(one), time_s)
        for one, (count, time_s) in sums.items()
        if kinds[one].kind in {"copy", "fill"}
    ]
    return tuple(sorted(found, key=lambda one: -one.time_s))
