"""Launches into kernel profiles: sums before ratios, the median time, one profile a configuration."""

from __future__ import annotations

import statistics
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field

from kopt_kb.analysis.profile.kernel_profile import DurationStats, KernelProfile
from kopt_kb.analysis.profile.launch import ProfiledLaunch, ReportSource
from kopt_kb.analysis.profile.vocabulary import METRICS, MetricDef, definition_of
from kopt_kb.quantity import Exactness

__all__ = ["KEPT_LAUNCHES", "Collector", "duration_stats"]

KEPT_LAUNCHES = 1000
"""Launch records a profile keeps; statistics cover all of them."""

_RATIOS = tuple((one.id, *one.over) for one in METRICS.values() if one.over)


@dataclass(slots=True)
class _Sums:
    """Running sums of one metric over launches."""

    count: int = 0
    total: float = 0.0
    largest: float = float("-inf")
    timed: int = 0
    weighted: float = 0.0
    weight_s: float = 0.0

    def add(self, value: float, duration_s: float | None) -> None:
        self.count += 1
        self.total += value
        self.largest = max(self.largest, value)
        if duration_s:
            self.timed += 1
            self.weighted += value * duration_s
            self.weight_s += duration_s

    @property
    def mean(self) -> float:
        return self.total / self.count

    @property
    def mean_by_time(self) -> float:
        if self.timed < self.count or self.count == 1:
            return self.mean
        return self.weighted / self.weight_s


@dataclass(slots=True)
class _Group:
    """All launches of one configuration."""

    first: ProfiledLaunch
    count: int = 0
    kept: list[ProfiledLaunch] = field(default_factory=list)
    durations_s: array[float] = field(default_factory=lambda: array("d"))
    sums: dict[str, _Sums] = field(default_factory=dict)
    parts: dict[str, list[float]] = field(default_factory=dict)
    bounds: dict[str, Exactness] = field(default_factory=dict)
    notes: dict[str, None] = field(default_factory=dict)

    def add(self, launch: ProfiledLaunch, keep: int) -> None:
        self.count += 1
        if len(self.kept) < keep:
            self.kept.append(launch)
        duration_s = launch.duration_s
        if duration_s is not None:
            self.durations_s.append(duration_s)
        for metric, value in launch.metrics.items():
            self.sums.setdefault(metric, _Sums()).add(value, duration_s)
        for ratio, upper, lower in _RATIOS:
            if upper in launch.metrics and lower in launch.metrics:
                part = self.parts.setdefault(ratio, [0.0, 0.0])
                part[0] += launch.metrics[upper]
                part[1] += launch.metrics[lower]
        self.bounds.update(launch.bounds)
        self.notes.update(dict.fromkeys(launch.notes))

    def metrics(self) -> dict[str, float]:
        found = {metric: _combined(definition_of(metric), sums) for metric, sums in self.sums.items()}
        for ratio, (upper, lower) in self.parts.items():
            if lower and (self.count > 1 or ratio not in found):
                found[ratio] = METRICS[ratio].scale * upper / lower
        if self.durations_s:
            found["duration_s"] = statistics.median(self.durations_s)
        return {metric: found[metric] for metric in METRICS if metric in found}


def _combined(definition: MetricDef, sums: _Sums) -> float:
    if definition.combine == "sum":
        return sums.mean
    if definition.combine == "max":
        return sums.largest
    return sums.mean_by_time


def duration_stats(durations_s: array[float]) -> DurationStats | None:
    """Return statistics of times in seconds, None for no times."""
    if not durations_s:
        return None
    return DurationStats(
        count=len(durations_s),
        total_s=sum(durations_s),
        median_s=statistics.median(durations_s),
        min_s=min(durations_s),
        max_s=max(durations_s),
    )


class Collector:
    """Groups launches by name, device, grid and block.

    Args:
        source: The report they come from.
        keep: Launch records each profile keeps.
    """

    def __init__(self, source: ReportSource, *, keep: int = KEPT_LAUNCHES) -> None:
        self._source = source
        self._keep = keep
        self._groups: dict[tuple[object, ...], _Group] = {}

    def add(self, launch: ProfiledLaunch) -> None:
        """Count one launch; raises `BadInput` later, in `profiles`, for an id outside the vocabulary."""
        key = (launch.demangled or launch.name, launch.name, launch.device, launch.grid, launch.block)
        group = self._groups.get(key)
        if group is None:
            group = self._groups[key] = _Group(launch)
        group.add(launch, self._keep)

    def profiles(self, *notes: str) -> Iterator[KernelProfile]:
        """Yield one profile a configuration, in order of first launch; `notes` go into each."""
        for group in self._groups.values():
            first = group.first
            yield KernelProfile(
                name=first.name,
                demangled=first.demangled or first.name,
                source=self._source,
                place=first.place,
                launch_count=group.count,
                metrics=group.metrics(),
                durations=duration_stats(group.durations_s),
                launches=tuple(group.kept),
                bounds=dict(group.bounds),
                device=first.device,
                target=first.target,
                grid=first.grid,
                block=first.block,
                rules=next((one.rules for one in group.kept if one.rules), ()),
                notes=(*notes, *group.notes),
            )
