"""What the devices of a trace did over time: work, copies, idle time and what it waited for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from kopt_kb.analysis.profile.kernel_profile import KernelProfile
from kopt_kb.analysis.profile.launch import ReportSource
from kopt_kb.base.wire import Wire

__all__ = ["DeviceTimeline", "DirectionCopies", "EventKind", "GapCause", "IdleGap", "StreamTime", "Trace"]

EventKind = Literal["kernel", "communication", "copy", "fill"]
GapCause = Literal["host", "synchronisation", "device", "unknown"]


@dataclass(frozen=True, slots=True)
class DirectionCopies(Wire):
    """Copies of one direction.

    Attributes:
        direction: As the trace names it, such as `Host-to-Device`.
        count: How many.
        moved_bytes: Bytes of all, None where the trace doesn't say.
        time_s: Sum of their times; those that overlap count twice.
    """

    direction: str
    count: int
    moved_bytes: int | None
    time_s: float

    @property
    def rate_si(self) -> float | None:
        """Bytes a second of copy time, None without bytes."""
        return self.moved_bytes / self.time_s if self.moved_bytes and self.time_s else None


@dataclass(frozen=True, slots=True)
class StreamTime(Wire):
    """One stream or queue.

    Attributes:
        stream: Its number or name in the trace.
        events: Kernels, copies and fills on it.
        busy_s: Sum of their times.
    """

    stream: str
    events: int
    busy_s: float


@dataclass(frozen=True, slots=True)
class IdleGap(Wire):
    """A time in which nothing ran on a device.

    Attributes:
        at_s: Start, from the device's first event.
        time_s: Length.
        after: What ended before it.
        before: What began after it.
        cause: `host` when most of it passed before the call that launched the work returned, `synchronisation` when
            the host waited for the device as it began, `device` when the work was launched already, `unknown` when
            the trace doesn't have the call.
    """

    at_s: float
    time_s: float
    after: str
    before: str
    cause: GapCause


@dataclass(frozen=True, slots=True)
class DeviceTimeline(Wire):
    """One GPU from its first to its last event. Times are unions: what overlaps counts once.

    Attributes:
        rank: Number of the process in a distributed run, empty when the trace doesn't say.
        device: Number of the device as the trace has it, `-` when it has none.
        name: Product name as the trace has it, empty when unknown.
        span_s: First start to last end.
        busy_s: Anything ran.
        kernel_s: A kernel ran that is no collective.
        communication_s: A collective ran.
        copy_s: A copy or fill ran.
        copy_alone_s: A copy or fill ran and nothing else.
        communication_alone_s: A collective ran and nothing else.
        launches: Kernels, collectives included.
        called_launches: Those of them whose launch call the trace has and that share it with no other.
        short_launches: Those of the called ones that are shorter than the call.
        host_s: Idle, and the call that launches the next work had not returned.
        synchronisation_s: The part of `host_s` that follows a host wait for the device.
        device_s: Idle although the next work was launched: other streams, events, latency.
        unknown_s: Idle before work whose launch the trace doesn't have.
        gaps: Number of idle times.
        longest: The longest of them.
        streams: By stream, the busiest first.
        copies: By direction, the longest first.
    """

    rank: str
    device: str
    name: str
    span_s: float
    busy_s: float
    kernel_s: float
    communication_s: float
    copy_s: float
    copy_alone_s: float
    communication_alone_s: float
    launches: int
    called_launches: int
    short_launches: int
    host_s: float
    synchronisation_s: float
    device_s: float
    unknown_s: float
    gaps: int
    longest: tuple[IdleGap, ...] = ()
    streams: tuple[StreamTime, ...] = ()
    copies: tuple[DirectionCopies, ...] = ()

    WIRE: ClassVar = (
        "rank", "device", "name", "span_s", "busy_s", "idle_pct", "kernel_s", "communication_s", "copy_s",
        "copy_alone_s", "communication_alone_s", "launches", "called_launches", "short_launches", "host_s",
        "synchronisation_s", "device_s", "unknown_s", "gaps", "longest", "streams", "copies",
    )  # fmt: skip

    def pct(self, time_s: float) -> float:
        """Return a time as a share of the span in percent; 0 for an empty span."""
        return 100 * time_s / self.span_s if self.span_s else 0.0

    @property
    def idle_pct(self) -> float:
        """Share of the span in which nothing ran."""
        return self.pct(max(0.0, self.span_s - self.busy_s))


@dataclass(frozen=True, slots=True)
class Trace:
    """A report of times: its kernels and what each device did.

    Attributes:
        source: The report.
        profiles: Kernels, without counters.
        devices: Timelines; empty for a report that has sums only.
    """

    source: ReportSource
    profiles: tuple[KernelProfile, ...]
    devices: tuple[DeviceTimeline, ...] = ()
