"""AMD dispatches into kernel profiles: sums before ratios, one profile a configuration, in bounded memory."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from kopt_kb.analysis.profile import KernelProfile, ProfiledLaunch, RawMetric, ReportPlace, ReportSource
from kopt_kb.analysis.profile.amd_counters import CountedMetrics, averaged_counters, count_amd, counters_used
from kopt_kb.analysis.profile.collect import KEPT_LAUNCHES
from kopt_kb.analysis.profile.tally import DurationTally
from kopt_kb.analysis.readers.amd.amd_dispatch import Dispatch, DispatchShape
from kopt_kb.analysis.readers.amd.amd_names import plain_name

__all__ = ["AmdCollector", "CounterSum"]

_NS_PER_S = 1e9
_KEPT_IN_ALL = 5000
_NEAR = 1 << 16
_WAITING = 1 << 12
_KIB = {"FETCH_SIZE": 1024, "WRITE_SIZE": 1024, "FetchSize": 1024, "WriteSize": 1024}
_ALIASES = {"FetchSize": "FETCH_SIZE", "WriteSize": "WRITE_SIZE", "Wavefronts": "SQ_WAVES"}


@dataclass(slots=True)
class CounterSum:
    """Sum of one counter over launches."""

    launches: int = 0
    total: float = 0.0
    weighted: float = 0.0
    weight_ns: float = 0.0

    def add(self, value: float, duration_ns: float | None) -> None:
        """Count one launch; a time has to be positive."""
        self.launches += 1
        self.total += value
        if duration_ns:
            self.weighted += value * duration_ns
            self.weight_ns += duration_ns

    def mean(self, *, by_time: bool) -> float:
        """Return the mean of one launch, weighted by time for ratios of the tool."""
        if by_time and self.weight_ns > 0:
            return self.weighted / self.weight_ns
        return self.total / self.launches


@dataclass(slots=True)
class _Group:
    shape: DispatchShape
    place: ReportPlace
    launches: int = 0
    waiting: array[float] = field(default_factory=lambda: array("d"))
    times: DurationTally = field(default_factory=DurationTally)
    sums: dict[str, CounterSum] = field(default_factory=dict)
    extra: dict[str, float] = field(default_factory=dict)
    kept: list[ProfiledLaunch] = field(default_factory=list)

    def widen(self, shape: DispatchShape) -> None:
        for metric, value in shape.extra:
            self.extra[metric] = max(value, self.extra.get(metric, value))

    def settle(self) -> None:
        self.times.add_all(self.waiting)
        del self.waiting[:]


class AmdCollector:
    """Groups dispatches by name, device, grid and workgroup.

    Args:
        source: The report they come from.
        keep: Launch records a profile keeps; sums cover all launches.
    """

    def __init__(self, source: ReportSource, *, keep: int = KEPT_LAUNCHES) -> None:
        self._source = source
        self._keep = keep
        self._kept = 0
        self._groups: dict[tuple[object, ...], _Group] = {}
        self._near: dict[int, tuple[DispatchShape, _Group]] = {}
        self._notes: dict[str, None] = {}
        self._peaks: dict[str, float] = {}
        self._used = counters_used() | set(_ALIASES)

    @property
    def empty(self) -> bool:
        """Whether no dispatch was added yet."""
        return not self._groups

    def note(self, text: str) -> None:
        """Keep a remark once; it goes into every profile."""
        self._notes[text] = None

    def peaks(self, measured: Mapping[str, float]) -> None:
        """Give every profile peaks that the tool measured on the device."""
        self._peaks.update(measured)

    def _group(self, shape: DispatchShape, place: ReportPlace) -> _Group:
        key = (shape.name, shape.device, shape.threads, shape.block, shape.grid_threads, shape.block_threads)
        group = self._groups.get(key)
        if group is None:
            group = self._groups[key] = _Group(shape, place, extra=dict(shape.extra))
        elif shape is not group.shape:
            group.widen(shape)
        if len(self._near) >= _NEAR:
            self._near.clear()
        self._near[id(shape)] = (shape, group)
        return group

    def add(self, dispatch: Dispatch) -> None:
        """Count one dispatch; one that was handed over before adds its counters only."""
        shape = dispatch.shape
        near = self._near.get(id(shape))
        group = near[1] if near is not None and near[0] is shape else self._group(shape, dispatch.place)
        duration_ns = dispatch.settle()
        sums, used = group.sums, self._used
        for name, value in dispatch.counters.items():
            if name not in used:
                continue
            held = sums.get(name)
            if held is None:
                held = sums[name] = CounterSum()
            held.add(value, duration_ns)
        if dispatch.again:
            return
        group.launches += 1
        if duration_ns is None:
            group.times.impossible += bool(dispatch.spans_ns)
        else:
            group.waiting.append(duration_ns)
            if len(group.waiting) >= _WAITING:
                group.settle()
        if len(group.kept) < self._keep and self._kept < _KEPT_IN_ALL:
            self._keep_launch(group, dispatch, duration_ns)

    def _keep_launch(self, group: _Group, dispatch: Dispatch, duration_ns: float | None) -> None:
        group.kept.append(_launch(dispatch, duration_ns))
        self._kept += 1

    def add_sums(self, shape: DispatchShape, place: ReportPlace, launches: int, times: DurationTally) -> None:
        """Count launches that were counted elsewhere, with the times of those that have one."""
        group = self._group(shape, place)
        group.launches += launches
        if group.times.count or group.times.impossible:
            group.times.merge(times)
        else:
            group.times = times

    def add_counter(self, shape: DispatchShape, place: ReportPlace, name: str, amount: CounterSum) -> None:
        """Add a counter's sum over launches that `add_sums` counted."""
        held = self._group(shape, place).sums.setdefault(name, CounterSum())
        held.launches += amount.launches
        held.total += amount.total
        held.weighted += amount.weighted
        held.weight_ns += amount.weight_ns

    @property
    def keeps(self) -> bool:
        """Whether any launch record would still be kept."""
        return self._kept < _KEPT_IN_ALL

    def has_room(self, shape: DispatchShape) -> bool:
        """Return whether another launch record of this configuration would be kept."""
        near = self._near.get(id(shape))
        held = len(near[1].kept) if near is not None and near[0] is shape else 0
        return held < self._keep and self._kept < _KEPT_IN_ALL

    def keep(self, dispatch: Dispatch) -> None:
        """Keep the record of a launch that `add_sums` counted, as long as there is room."""
        group = self._group(dispatch.shape, dispatch.place)
        if len(group.kept) < self._keep and self._kept < _KEPT_IN_ALL:
            self._keep_launch(group, dispatch, dispatch.settle())

    def profiles(self, notes: Iterable[str] = ()) -> Iterator[KernelProfile]:
        """Yield one profile a configuration, in order of the first dispatch."""
        remarks = (*self._notes, *notes)
        for group in self._groups.values():
            yield self._profile(group, remarks)

    def _profile(self, group: _Group, notes: tuple[str, ...]) -> KernelProfile:
        ratios = averaged_counters()
        counters = {name: one.mean(by_time=_ALIASES.get(name, name) in ratios) for name, one in group.sums.items()}
        if group.waiting:
            group.settle()
        stats = group.times.stats()
        shape = group.shape
        counted = _counted(counters, shape)
        metrics = {**shape.metrics(), **group.extra, **counted.metrics, **self._peaks}
        if stats is not None:
            metrics["duration_s"] = stats.median_s
            if "dram_bytes" in metrics:
                metrics["dram_bytes_per_s"] = metrics["dram_bytes"] * stats.count / stats.total_s
                counted.bounds["dram_bytes_per_s"] = counted.bounds.get("dram_bytes", "exact")
        return KernelProfile(
            name=shape.name,
            demangled=plain_name(shape.name),
            source=self._source,
            place=group.place,
            launch_count=group.launches,
            metrics=metrics,
            durations=stats,
            launches=tuple(group.kept),
            bounds=counted.bounds,
            device=shape.device.name,
            target=shape.device.target,
            grid=shape.grid,
            block=shape.block,
            notes=(*notes, *filter(None, (group.times.note,))),
        )


def _counted(counters: Mapping[str, float], shape: DispatchShape) -> CountedMetrics:
    if not counters:
        return CountedMetrics()
    if any(name in counters for name in _ALIASES):
        counters = {_ALIASES.get(name, name): value for name, value in counters.items()}
    return count_amd(counters, shape.device)


def _launch(dispatch: Dispatch, duration_ns: float | None) -> ProfiledLaunch:
    shape = dispatch.shape
    counted = _counted(dispatch.counters, shape)
    metrics = {**shape.metrics(), **counted.metrics}
    if duration_ns is not None:
        metrics["duration_s"] = duration_ns / _NS_PER_S
    raw = {
        name: RawMetric(value * _KIB[name], "B") if name in _KIB else RawMetric(value, "1")
        for name, value in dispatch.counters.items()
    }
    return ProfiledLaunch(
        id=str(dispatch.number),
        name=shape.name,
        place=dispatch.place,
        demangled=plain_name(shape.name),
        device=shape.device.name,
        target=shape.device.target,
        grid=shape.grid,
        block=shape.block,
        metrics=metrics,
        bounds=counted.bounds,
        raw=raw,
    )
