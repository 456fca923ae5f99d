"""Times of any number of launches in bounded memory: exact until there are very many different ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kopt_kb.analysis.profile.kernel_profile import DurationStats

__all__ = ["DurationTally"]

_DISTINCT = 1 << 16
_KEPT_BITS = 12
_NS_PER_S = 1e9


@dataclass(slots=True)
class DurationTally:
    """How often each time was seen, in ns.

    Count, total, minimum and maximum are exact. The median is exact up to 65 536 different times, then within one
    part in 4096. `impossible` counts launches whose time is zero or negative.
    """

    counts: dict[float, int] = field(default_factory=dict)
    count: int = 0
    total_ns: float = 0.0
    min_ns: float = float("inf")
    max_ns: float = 0.0
    impossible: int = 0

    def add(self, duration_ns: float, times: int = 1) -> None:
        """Count launches of one duration; a zero or negative time is counted as impossible and is no time."""
        if times <= 0:
            return
        if duration_ns <= 0:
            self.impossible += times
            return
        self.count += times
        self.total_ns += duration_ns * times
        self.min_ns = min(self.min_ns, duration_ns)
        self.max_ns = max(self.max_ns, duration_ns)
        self.counts[duration_ns] = self.counts.get(duration_ns, 0) + times
        if len(self.counts) > _DISTINCT:
            self._coarsen()

    def add_all(self, durations_ns: Sequence[float]) -> None:
        """Count launches one by one, as fast as many need it."""
        if len(durations_ns) == 1:
            self.add(durations_ns[0])
            return
        usable = [one for one in durations_ns if one > 0] if min(durations_ns, default=1) <= 0 else durations_ns
        self.impossible += len(durations_ns) - len(usable)
        if not usable:
            return
        self.count += len(usable)
        self.total_ns += sum(usable)
        least_ns, most_ns = min(usable), max(usable)
        self.min_ns = min(self.min_ns, least_ns)
        self.max_ns = max(self.max_ns, most_ns)
        if not isinstance(self.counts, Counter):  # which most of very many kernels never need
            self.counts = Counter(self.counts)
        self.counts.update(usable)
        if len(self.counts) > _DISTINCT:
            self._coarsen()

    def merge(self, other: DurationTally) -> None:
        """Count what another tally counted."""
        self.count += other.count
        self.impossible += other.impossible
        self.total_ns += other.total_ns
        self.min_ns = min(self.min_ns, other.min_ns)
        self.max_ns = max(self.max_ns, other.max_ns)
        self._count(other.counts)
        if len(self.counts) > _DISTINCT:
            self._coarsen()

    def _count(self, more: Mapping[float, int]) -> None:
        counts = self.counts
        for duration_ns, times in more.items():
            counts[duration_ns] = counts.get(duration_ns, 0) + times

    @property
    def note(self) -> str:
        """What a reader must know of launches without a possible time; empty when there are none."""
        if not self.impossible:
            return ""
        return f"{self.impossible} launch(es) end before they start or take no time: left out of the times"

    def _coarsen(self) -> None:
        coarse: Counter[float] = Counter()
        for duration_ns, times in self.counts.items():
            whole = int(duration_ns)
            coarse[float(whole >> (shift := max(0, whole.bit_length() - _KEPT_BITS)) << shift)] += times
        self.counts = coarse

    def _ranked(self, ranks: Sequence[int]) -> list[float]:
        found: list[float] = []
        seen = 0
        for duration_ns, times in sorted(self.counts.items()):
            seen += times
            while len(found) < len(ranks) and seen > ranks[len(found)]:
                found.append(duration_ns)
        return found

    @property
    def median_ns(self) -> float:
        """Median, the mean of the middle two for an even count; 0 without times."""
        if not self.count:
            return 0.0
        if len(self.counts) == 1:
            return next(iter(self.counts))
        middle = self._ranked([(self.count - 1) // 2, self.count // 2])
        return sum(middle) / len(middle)

    def stats(self) -> DurationStats | None:
        """Return the statistics in seconds, None without times."""
        if not self.count:
            return None
        return DurationStats(
            count=self.count,
            total_s=self.total_ns / _NS_PER_S,
            median_s=self.median_ns / _NS_PER_S,
            min_s=self.min_ns / _NS_PER_S,
            max_s=self.max_ns / _NS_PER_S,
        )
