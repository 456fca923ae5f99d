"""Unions and gaps of packed times: sorted once, then sums over arrays."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from kopt_kb.analysis.profile.kernel_profile import DurationStats
from kopt_kb.analysis.profile.timeline import GapCause
from kopt_kb.base.errors import MissingTool

try:
    import numpy as np
    from numpy.typing import NDArray
except ImportError:
    raise MissingTool(
        "the package numpy is not installed, and traces are summed with it",
        where="traces",
        fix='pip install numpy, or kopt-kb with its extra "traces"',
        code="KB120",
    ) from None

__all__ = ["COLLECTIVES", "COPIES", "KERNELS", "Calls", "Events", "Idle", "as_times", "durations_by"]

TimesNs = NDArray[np.int64]
KERNELS, COPIES, COLLECTIVES = range(3)
"""Groups of kinds that unions are taken over."""
_NS_PER_S = 1e9


def as_times(packed: array[int]) -> TimesNs:
    """Return packed whole numbers as an array of 64 bits; those of 64 bits are not copied."""
    if not packed:
        return np.zeros(0, dtype=np.int64)
    if packed.itemsize == np.dtype(np.int64).itemsize:
        return np.frombuffer(packed, dtype=np.int64)
    return np.frombuffer(packed, dtype=np.int32).astype(np.int64)


def durations_by(groups: array[int], starts: array[int], ends: array[int]) -> dict[int, tuple[int, DurationStats]]:
    """Return, for each group of events, its first start and the statistics of its times, exact.

    Args:
        groups: Group of each event.
        starts: Starts in ns.
        ends: Ends in ns.
    """
    numbers, begin = as_times(groups), as_times(starts)
    spans = as_times(ends) - begin
    order = np.lexsort((spans, numbers))
    numbers, spans, begin = numbers[order], spans[order], begin[order]
    firsts = np.flatnonzero(np.r_[True, numbers[1:] != numbers[:-1]])
    least = np.minimum.reduceat(begin, firsts)
    found = {}
    for at, (one, stop) in enumerate(zip(firsts, [*firsts[1:], len(numbers)], strict=True)):
        part = spans[one:stop]
        middle = (int(part[(len(part) - 1) // 2]) + int(part[len(part) // 2])) / 2
        found[int(numbers[one])] = (
            int(least[at]),
            DurationStats(
                count=len(part),
                total_s=int(part.sum()) / _NS_PER_S,
                median_s=middle / _NS_PER_S,
                min_s=int(part[0]) / _NS_PER_S,
                max_s=int(part[-1]) / _NS_PER_S,
            ),
        )
    return found


class Calls:
    """Calls of the host: those that launch work, by identifier, and those that wait for a device.

    Args:
        ids: Identifiers of launch calls.
        starts: Their starts in ns.
        ends: Their ends.
        waits: Starts of the waits.
        released: Ends of the waits.
    """

    def __init__(self, ids: TimesNs, starts: TimesNs, ends: TimesNs, waits: TimesNs, released: TimesNs) -> None:
        order = np.argsort(ids, kind="stable")
        self._ids, self._starts, self._ends = ids[order], starts[order], ends[order]
        order = np.argsort(released, kind="stable")
        self._waits, self._released = waits[order], released[order]

    def spans(self, wanted: TimesNs) -> tuple[TimesNs, TimesNs]:
        """Return start and end of the calls with the wanted identifiers; -1 for those that are not known."""
        if not len(self._ids):
            none = np.full(len(wanted), -1, dtype=np.int64)
            return none, none
        at = np.minimum(np.searchsorted(self._ids, wanted), len(self._ids) - 1)
        known = (self._ids[at] == wanted) & (wanted >= 0)
        return np.where(known, self._starts[at], -1), np.where(known, self._ends[at], -1)

    def waited(self, moments: TimesNs) -> NDArray[np.bool_]:
        """Return whether the host was waiting for a device at each moment."""
        if not len(self._waits):
            return np.zeros(len(moments), dtype=np.bool_)
        at = np.searchsorted(self._released, moments)
        inside = at < len(self._released)
        begun: NDArray[np.bool_] = self._waits[np.minimum(at, len(self._waits) - 1)] <= moments
        return inside & begun


@dataclass(frozen=True)
class Idle:
    """The gaps of a device, in order.

    Attributes:
        begin_s: Starts from the first event.
        length_s: Lengths.
        host: The part of each before the call that launched its work returned.
        synchronised: Whether the host waited for the device when the gap began.
        launched: Whether the launch is known.
        after: Kind of the event that ended before each.
        before: Kind of the event that began after each.
        called: Kernels that have a launch call of their own.
        short: Those of them that are shorter than the call.
    """

    begin_s: NDArray[np.float64]
    length_s: NDArray[np.float64]
    host: NDArray[np.float64]
    synchronised: NDArray[np.bool_]
    launched: NDArray[np.bool_]
    after: TimesNs
    before: TimesNs
    called: int
    short: int

    @property
    def count(self) -> int:
        """Number of gaps."""
        return len(self.length_s)

    @property
    def host_s(self) -> float:
        """Time before launch calls returned."""
        return float(self.host.sum())

    @property
    def synchronisation_s(self) -> float:
        """The part of it that follows a wait of the host."""
        return float(self.host[self.synchronised].sum())

    @property
    def device_s(self) -> float:
        """Time after launch calls returned."""
        return float((self.length_s - self.host)[self.launched].sum())

    @property
    def unknown_s(self) -> float:
        """Time before work whose launch is not known."""
        return float(self.length_s[~self.launched].sum())

    def longest(self, count: int) -> Iterator[tuple[float, float, int, int, GapCause]]:
        """Yield start, length, kinds around, and cause of the longest gaps, the longest first."""
        for at in np.argsort(-self.length_s, kind="stable")[:count]:
            cause: GapCause = "unknown"
            if self.launched[at]:
                late = self.host[at] > self.length_s[at] / 2
                cause = "device" if not late else "synchronisation" if self.synchronised[at] else "host"
            yield float(self.begin_s[at]), float(self.length_s[at]), int(self.after[at]), int(self.before[at]), cause


class Events:
    """Events of one device, sorted by start.

    Args:
        starts: Starts in ns; at least one.
        ends: Ends.
        kinds: Number of each event's kind.
        streams: Number of its stream.
        calls: Identifier of its launch.
        groups: Group of each kind: what a union can leave out.
    """

    def __init__(
        self, starts: TimesNs, ends: TimesNs, kinds: TimesNs, streams: TimesNs, calls: TimesNs, groups: Sequence[int]
    ) -> None:
        order = np.argsort(starts, kind="stable")
        self._starts, self._ends, self._kinds = starts[order], ends[order], kinds[order]
        self._streams, self._calls = streams[order], calls[order]
        self._groups = np.asarray(groups, dtype=np.int64)[self._kinds]

    @cached_property
    def _latest(self) -> TimesNs:
        """Latest end up to each event."""
        return np.maximum.accumulate(self._ends)

    @property
    def span_s(self) -> float:
        """First start to last end."""
        return int(self._latest[-1] - self._starts[0]) / _NS_PER_S

    @property
    def busy_s(self) -> float:
        """Time in which anything ran."""
        return _union_s(self._starts, self._ends)

    def union_s(self, groups: set[int]) -> float:
        """Return the time in which an event of the groups ran."""
        chosen = np.isin(self._groups, list(groups))
        return _union_s(self._starts[chosen], self._ends[chosen])

    def by_kind(self) -> dict[int, tuple[int, float]]:
        """Return count and summed seconds of each kind."""
        return self._sums(self._kinds)

    def by_stream(self) -> list[tuple[int, int, float]]:
        """Return (stream, count, summed seconds), the busiest first."""
        found = [(one, count, busy_s) for one, (count, busy_s) in self._sums(self._streams).items()]
        return sorted(found, key=lambda one: -one[2])

    def _sums(self, numbers: TimesNs) -> dict[int, tuple[int, float]]:
        counts = np.bincount(numbers)
        times = np.bincount(numbers, weights=self._ends - self._starts)
        return {int(one): (int(counts[one]), float(times[one]) / _NS_PER_S) for one in np.flatnonzero(counts)}

    def idle(self, calls: Calls) -> Idle:
        """Return the gaps with what they waited for."""
        called, returned = calls.spans(self._calls)
        alone = self._alone(called)
        first = np.flatnonzero(self._starts[1:] > self._latest[:-1])
        begin, end = self._latest[first], self._starts[first + 1]
        launched = returned[first + 1]
        last = np.maximum.accumulate(np.where(self._ends == self._latest, np.arange(len(self._ends)), 0))[first]
        host = np.where(launched >= 0, np.clip(np.minimum(launched, end) - begin, 0, None), 0)
        return Idle(
            begin_s=(begin - self._starts[0]) / _NS_PER_S,
            length_s=(end - begin) / _NS_PER_S,
            host=host / _NS_PER_S,
            synchronised=calls.waited(begin),
            launched=launched >= 0,
            after=self._kinds[last],
            before=self._kinds[first + 1],
            called=int(alone.sum()),
            short=int((alone & (self._ends - self._starts < returned - called)).sum()),
        )

    def _alone(self, called: TimesNs) -> NDArray[np.bool_]:
        """Return which events are kernels that share their launch call with no other event, as those of a graph do."""
        _, at, counts = np.unique(self._calls, return_inverse=True, return_counts=True)
        single: NDArray[np.bool_] = counts[at] == 1
        kernels: NDArray[np.bool_] = self._groups != COPIES
        return kernels & single & (called >= 0)


def _union_s(starts: TimesNs, ends: TimesNs) -> float:
    """Return the time that sorted spans cover."""
    if not len(starts):
        return 0.0
    latest = np.maximum.accumulate(ends)
    gaps = starts[1:] - latest[:-1]
    return int(latest[-1] - starts[0] - gaps[gaps > 0].sum()) / _NS_PER_S
