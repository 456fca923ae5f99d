"""AMD dispatches into kernel profiles: sums before ratios, one profile a configuration, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from kopt_kb.analysis.profile import Dim3, KernelProfile, Launch, Place, RawMetric, Source
from kopt_kb.analysis.profile.amd_counters import AmdDevice, Counted, averaged_counters, count_amd
from kopt_kb.analysis.profile.collect import KEPT_LAUNCHES
from kopt_kb.analysis.profile.tally import DurationTally
from kopt_kb.analysis.readers.amd_names import plain_name

__all__ = ["AmdCollector", "CounterSum", "Dispatch", "Shape"]

_NS_PER_S = 1e9
_KEPT_IN_ALL = 5000
_KIB = {"FETCH_SIZE": 1024, "WRITE_SIZE": 1024, "FetchSize": 1024, "WriteSize": 1024}
_ALIASES = {"FetchSize": "FETCH_SIZE", "WriteSize": "WRITE_SIZE", "Wavefronts": "SQ_WAVES"}


@dataclass(frozen=True, slots=True)
class Shape:
    """What all launches of one profile share.

    Attributes:
        name: Kernel name as the report prints it.
        device: Where it ran.
        threads: Work-items along each axis, None when only their number is printed.
        block: Work-items of a workgroup along each axis, None when only their number is printed.
        grid_threads: Work-items in all.
        block_threads: Work-items of a workgroup in all.
        extra: Vocabulary id and value of registers, LDS and scratch, as far as printed.
    """

    name: str
    device: AmdDevice
    threads: Dim3 | None = None
    block: Dim3 | None = None
    grid_threads: int | None = None
    block_threads: int | None = None
    extra: tuple[tuple[str, float], ...] = ()

    @property
    def grid(self) -> Dim3 | None:
        """Workgroups along each axis; a partly filled one counts."""
        if self.threads is None or self.block is None or not self.block.size:
            return None
        pairs = zip(self.threads, self.block, strict=True)
        return Dim3(*(-(-threads // block) for threads, block in pairs))

    def metrics(self) -> dict[str, float]:
        """Return the launch shape by vocabulary id."""
        block_threads = self.block.size if self.block else self.block_threads
        grid_threads = self.threads.size if self.threads else self.grid_threads
        found: dict[str, float] = dict(self.extra)
        if grid_threads:
            found["grid_threads"] = grid_threads
        if block_threads:
            found["block_threads"] = block_threads
        if self.grid is not None:
            found["grid_blocks"] = self.grid.size
        elif grid_threads and block_threads:
            found["grid_blocks"] = -(-grid_threads // block_threads)
        if self.device.cu_count:
            found["sm_count"] = self.device.cu_count
        if self.device.wave_threads:
            found["wave_threads"] = self.device.wave_threads
        return found


@dataclass(slots=True)
class Dispatch:
    """One launch with everything that files say about it.

    Attributes:
        id: Identifier in the report.
        place: Where it stands first.
        shape: Configuration.
        duration_ns: Time, None when none is printed; zero and negative times are no times.
        counters: Values by the tool's names.
    """

    id: str
    place: Place
    shape: Shape
    duration_ns: float | None = None
    counters: Mapping[str, float] = field(default_factory=dict)


@dataclass(slots=True)
class CounterSum:
    """Sum of one counter over launches."""

    launches: int = 0
    total: float = 0.0
    weighted: float = 0.0
    weight_ns: float = 0.0

    def add(self, value: float, duration_ns: float | None) -> None:
        """Count one launch."""
        self.launches += 1
        self.total += value
        if duration_ns is not None and duration_ns > 0:
            self.weighted += value * duration_ns
            self.weight_ns += duration_ns

    def mean(self, *, by_time: bool) -> float:
        """Return the mean of one launch, weighted by time for ratios of the tool."""
        if by_time and self.weight_ns > 0:
            return self.weighted / self.weight_ns
        return self.total / self.launches


@dataclass(slots=True)
class _Group:
    shape: Shape
    place: Place
    launches: int = 0
    times: DurationTally = field(default_factory=DurationTally)
    sums: dict[str, CounterSum] = field(default_factory=dict)
    extra: dict[str, float] = field(default_factory=dict)
    kept: list[Launch] = field(default_factory=list)

    def widen(self, shape: Shape) -> None:
        for metric, value in shape.extra:
            self.extra[metric] = max(value, self.extra.get(metric, value))


class AmdCollector:
    """Groups dispatches by name, device, grid and workgroup.

    Args:
        source: The report they come from.
        keep: Launch records a profile keeps; sums cover all launches.
    """

    def __init__(self, source: Source, *, keep: int = KEPT_LAUNCHES) -> None:
        self._source = source
        self._keep = keep
        self._kept = 0
        self._groups: dict[tuple[object, ...], _Group] = {}
        self._notes: dict[str, None] = {}

    @property
    def empty(self) -> bool:
        """Whether no dispatch was added yet."""
        return not self._groups

    def note(self, text: str) -> None:
        """Keep a remark once; it goes into every profile."""
        self._notes[text] = None

    def _group(self, shape: Shape, place: Place) -> _Group:
        key = (shape.name, shape.device, shape.threads, shape.block, shape.grid_threads, shape.block_threads)
        group = self._groups.get(key)
        if group is None:
            group = self._groups[key] = _Group(shape, place)
        group.widen(shape)
        return group

    def add(self, dispatch: Dispatch, *, again: bool = False) -> None:
        """Count one dispatch; one that was counted before (`again`) adds its counters only."""
        group = self._group(dispatch.shape, dispatch.place)
        group.launches += not again
        if dispatch.duration_ns is not None and not again:
            group.times.add(dispatch.duration_ns)
        for name, value in dispatch.counters.items():
            group.sums.setdefault(name, CounterSum()).add(value, dispatch.duration_ns)
        if not again and len(group.kept) < self._keep and self._kept < _KEPT_IN_ALL:
            group.kept.append(_launch(dispatch))
            self._kept += 1

    def add_sums(self, shape: Shape, place: Place, launches: int, times: DurationTally) -> None:
        """Count launches that were counted elsewhere, with the times of those that have one."""
        group = self._group(shape, place)
        group.launches += launches
        group.times.merge(times)

    def add_counter(self, shape: Shape, place: Place, name: str, amount: CounterSum) -> None:
        """Add a counter's sum over launches that `add_sums` counted."""
        held = self._group(shape, place).sums.setdefault(name, CounterSum())
        held.launches += amount.launches
        held.total += amount.total
        held.weighted += amount.weighted
        held.weight_ns += amount.weight_ns

    def keep(self, dispatch: Dispatch) -> bool:
        """Keep the record of a launch that `add_sums` counted; False when there is no room for more."""
        group = self._group(dispatch.shape, dispatch.place)
        if len(group.kept) < self._keep and self._kept < _KEPT_IN_ALL:
            group.kept.append(_launch(dispatch))
            self._kept += 1
        return self._kept < _KEPT_IN_ALL

    def profiles(self, notes: Iterable[str] = ()) -> Iterator[KernelProfile]:
        """Yield one profile a configuration, in order of the first dispatch."""
        remarks = (*self._notes, *notes)
        for group in self._groups.values():
            yield self._profile(group, remarks)

    def _profile(self, group: _Group, notes: tuple[str, ...]) -> KernelProfile:
        ratios = averaged_counters()
        counters = {name: one.mean(by_time=_ALIASES.get(name, name) in ratios) for name, one in group.sums.items()}
        stats = group.times.stats()
        shape = group.shape
        counted = _counted(counters, shape)
        metrics = {**shape.metrics(), **group.extra, **counted.metrics}
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
            notes=notes,
        )


def _counted(counters: Mapping[str, float], shape: Shape) -> Counted:
    return count_amd({_ALIASES.get(name, name): value for name, value in counters.items()}, shape.device)


def _launch(dispatch: Dispatch) -> Launch:
    shape = dispatch.shape
    counted = _counted(dispatch.counters, shape)
    metrics = {**shape.metrics(), **counted.metrics}
    if dispatch.duration_ns is not None and dispatch.duration_ns > 0:
        metrics["duration_s"] = dispatch.duration_ns / _NS_PER_S
    raw = {
        name: RawMetric(value * _KIB[name], "B") if name in _KIB else RawMetric(value, "1")
        for name, value in dispatch.counters.items()
    }
    return Launch(
        id=dispatch.id,
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
