"""What limits a device over a trace: collectives, copies, launches, waits of the host, or its kernels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from kopt_kb.analysis.evidence import Evidence
from kopt_kb.analysis.profile.timeline import DeviceTimeline
from kopt_kb.analysis.rules.thresholds import Thresholds, load_thresholds
from kopt_kb.base.wire import Wire

__all__ = ["TRACE_RULES", "TraceFinding", "TraceLimiter", "judge_timeline"]

TraceLimiter = Literal["communication", "copies", "launches", "synchronisation", "idle", "kernels"]

_ADVICE: Mapping[TraceLimiter, tuple[str, ...]] = {
    "communication": (
        "Overlap the collective with independent kernels on another stream",
        "Send fewer or narrower bytes; look for the rank that arrives last",
    ),
    "copies": (
        "Keep the data on the device, or copy it once",
        "Copy from pinned memory on a stream of its own, under kernels",
    ),
    "launches": (
        "Capture the repeated sequence in a graph, or compile it into fewer kernels",
        "Give each launch more work: larger batches, fused operations",
        "Look at what the host does before the longest gaps",
    ),
    "synchronisation": (
        "Remove waits of the host between launches: `.item()`, `.cpu()`, prints, synchronize calls",
        "Wait on events of streams instead of the whole device",
    ),
    "idle": ("Look at what stands around the longest gaps; record the calls of the host too",),
    "kernels": ("Record counters of the kernels that take most time; give both reports to `kb profile read`",),
}


@dataclass(frozen=True, slots=True)
class TraceFinding(Wire):
    """What limits a device, or one of the things that do.

    Attributes:
        limiter: One word.
        code: Rule that found it.
        evidence: Why.
    """

    limiter: TraceLimiter
    code: str
    evidence: tuple[Evidence, ...]

    WIRE: ClassVar = ("limiter", "code", "evidence", "advice")

    @property
    def advice(self) -> tuple[str, ...]:
        """What to do, the first first."""
        return _ADVICE[self.limiter]

    @property
    def proof(self) -> str:
        """The evidence on one line."""
        return "; ".join(map(str, self.evidence))


TRACE_RULES: Mapping[str, tuple[TraceLimiter, str, str]] = {
    "BN-TRACE-COMMUNICATION": ("communication", "communication_alone_pct", "nothing ran beside a collective"),
    "BN-TRACE-COPY": ("copies", "copy_alone_pct", "only copies and fills ran"),
    "BN-TRACE-LAUNCH": ("launches", "host_pct", "idle before the host had launched"),
    "BN-TRACE-SYNC": ("synchronisation", "synchronisation_pct", "idle since the host waited for the device"),
    "BN-TRACE-IDLE": ("idle", "idle_pct", "nothing ran"),
}
"""Limiter, metric and meaning of each rule, in order."""


def judge_timeline(timeline: DeviceTimeline, *, wiki: Path | None = None) -> tuple[TraceFinding, ...]:
    """Return what limits a device, the largest share of the span first; never empty.

    Args:
        timeline: What the device did.
        wiki: Folder of the wiki with thresholds; None takes KOPT_GPU_WIKI, else the packaged one.

    Raises:
        BadInput: The page of thresholds is missing or broken.
    """
    thresholds = load_thresholds(wiki)
    values = _values(timeline)
    found: list[tuple[float, TraceFinding]] = []
    for code, (limiter, metric, meaning) in TRACE_RULES.items():
        row, value = thresholds.row(code, metric), values[metric]
        if row.met(value) and not (limiter == "idle" and found):
            first = Evidence(metric, value, "%", row, meaning)
            more = _short(timeline, thresholds) if limiter == "launches" else ()
            found.append((value, TraceFinding(limiter, code, (first, *more))))
    ranked = sorted(found, key=lambda one: -one[0])
    return tuple(one for _, one in ranked) or (_kernels(timeline),)


def _values(timeline: DeviceTimeline) -> dict[str, float]:
    return {
        "communication_alone_pct": timeline.pct(timeline.communication_alone_s),
        "copy_alone_pct": timeline.pct(timeline.copy_alone_s),
        "host_pct": timeline.pct(max(0.0, timeline.host_s - timeline.synchronisation_s)),
        "synchronisation_pct": timeline.pct(timeline.synchronisation_s),
        "idle_pct": timeline.idle_pct,
    }


def _short(timeline: DeviceTimeline, thresholds: Thresholds) -> tuple[Evidence, ...]:
    if not timeline.called_launches:
        return ()
    share = 100 * timeline.short_launches / timeline.called_launches
    row = thresholds.row("BN-TRACE-LAUNCH", "short_launches_pct")
    met = row if row.met(share) else None
    return (Evidence("short_launches_pct", share, "%", met, "kernels shorter than their launch call"),)


def _kernels(timeline: DeviceTimeline) -> TraceFinding:
    share = timeline.pct(timeline.kernel_s)
    return TraceFinding("kernels", "BN-TRACE-KERNELS", (Evidence("kernel_pct", share, "%", None, "kernels ran"),))
