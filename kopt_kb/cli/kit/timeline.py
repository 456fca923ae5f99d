"""Timelines of devices as text: what they were busy with, what they waited for, and the longest gaps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from kopt_kb.analysis.profile.timeline import DeviceTimeline, DirectionCopies
from kopt_kb.analysis.rules.trace import TraceFinding, judge_timeline
from kopt_kb.base.wire import Wire, inside
from kopt_kb.cli.kit.output import printable, table
from kopt_kb.quantity.readable import duration, rounded, si

__all__ = ["JudgedTimeline", "judged_timelines", "render_timelines"]

_NAME_CHARS = 60
_DEVICES_SHOWN = 8
_STREAMS_SHOWN = 6


@dataclass(frozen=True, slots=True)
class JudgedTimeline(Wire):
    """A device of a trace with what limits it."""

    WIRE: ClassVar = ("file", *inside("timeline", DeviceTimeline), "verdicts=findings")
    file: str
    timeline: DeviceTimeline
    findings: tuple[TraceFinding, ...]


def judged_timelines(file: str, timelines: Sequence[DeviceTimeline]) -> list[JudgedTimeline]:
    """Return the devices of a trace with what limits each."""
    return [JudgedTimeline(file, one, judge_timeline(one)) for one in timelines]


def render_timelines(judged: Sequence[JudgedTimeline]) -> str:
    """Return one block a device, the longest span first."""
    ranked = sorted(judged, key=lambda one: -one.timeline.span_s)
    several = len({device.file for device in judged}) > 1
    blocks = [_block(device, several=several) for device in ranked[:_DEVICES_SHOWN]]
    if len(ranked) > _DEVICES_SHOWN:
        blocks.append(f"{len(ranked) - _DEVICES_SHOWN} more devices; --json has all")
    return "\n\n".join(blocks)


def _time(seconds: float) -> str:
    return duration(seconds)


def _block(device: JudgedTimeline, *, several: bool) -> str:
    timeline = device.timeline
    who = f"rank {timeline.rank} " if timeline.rank else ""
    name = f" ({timeline.name})" if timeline.name else ""
    place = f" in {device.file}" if several else ""
    span = f"{_time(timeline.span_s)} from first to last event, busy {rounded(100 - timeline.idle_pct)} %"
    title = printable(who + timeline.device + name + place)
    lines = [f"GPU {title}: {span}, {timeline.launches} kernel launches"]
    for finding in device.findings:
        lines.append(f"  Limit: {finding.limiter}")
        lines.append(f"    Evidence: {finding.proof}")
        lines += [f"    {number}. {step}" for number, step in enumerate(finding.advice, 1)]
    lines += [f"  {text}" for text in (_work(timeline), _idle(timeline), *map(_copies, timeline.copies)) if text]
    streams = timeline.streams[:_STREAMS_SHOWN]
    if len(timeline.streams) > 1:
        more = f"; {len(timeline.streams) - len(streams)} more" if len(timeline.streams) > len(streams) else ""
        each = "; ".join(f"{printable(at.stream)}: {at.events} events, {_time(at.busy_s)}" for at in streams)
        lines.append(f"  streams {each}{more}")
    return "\n".join([*lines, *_gaps(timeline)])


def _work(timeline: DeviceTimeline) -> str:
    parts = [f"kernels {rounded(timeline.pct(timeline.kernel_s))} %"]
    for word, time_s, alone_s in (
        ("collectives", timeline.communication_s, timeline.communication_alone_s),
        ("copies and fills", timeline.copy_s, timeline.copy_alone_s),
    ):
        if time_s:
            parts.append(
                f"{word} {rounded(timeline.pct(time_s))} % ({rounded(timeline.pct(alone_s))} % with nothing beside)"
            )
    return "busy: " + ", ".join(parts)


def _idle(timeline: DeviceTimeline) -> str:
    if not timeline.gaps:
        return ""
    host_s = max(0.0, timeline.host_s - timeline.synchronisation_s)
    parts = [
        f"{rounded(timeline.pct(time_s))} % {words}"
        for time_s, words in (
            (host_s, "before the host had launched"),
            (timeline.synchronisation_s, "after the host waited for the device"),
            (timeline.device_s, "although launched"),
            (timeline.unknown_s, "of unknown cause (no launch call in the trace)"),
        )
        if time_s
    ]
    return f"idle {rounded(timeline.idle_pct)} % in {timeline.gaps} gaps: " + ", ".join(parts)


def _copies(copies: DirectionCopies) -> str:
    size = "" if copies.moved_bytes is None else f", {si(copies.moved_bytes, 'B')}"
    rate = "" if copies.rate_si is None else f", {si(copies.rate_si, 'B/s')}"
    return f"{printable(copies.direction)}: {copies.count} x{size} in {_time(copies.time_s)}{rate}"


def _gaps(timeline: DeviceTimeline) -> list[str]:
    if not timeline.longest:
        return []
    rows = [["gap", "share", "at", "cause", "after", "before"]]
    rows += [
        [_time(one.time_s), f"{rounded(timeline.pct(one.time_s))} %", _time(one.at_s), one.cause,
         one.after[:_NAME_CHARS], one.before[:_NAME_CHARS]]
        for one in timeline.longest
    ]  # fmt: skip
    return ["  longest gaps:", table(rows, indent=4, right=range(3))]
