"""One AMD dispatch: the configuration it shares with others, and what the rows of several passes say about it."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from functools import lru_cache

from kopt_kb.analysis.profile import Dim3, ReportPlace
from kopt_kb.analysis.profile.amd_counters import AmdDevice

__all__ = ["Dispatch", "DispatchShape"]


@lru_cache(maxsize=1 << 12)
def _grid(threads: Dim3, block: Dim3) -> Dim3 | None:
    if not block.size:
        return None
    return Dim3(*(-(-count // width) for count, width in zip(threads, block, strict=True)))


@dataclass(frozen=True, slots=True)
class DispatchShape:
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
        return None if self.threads is None or self.block is None else _grid(self.threads, self.block)

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


class Dispatch:
    """One launch, put together from rows that may come in several passes.

    Attributes:
        number: Dispatch id.
        file: File of its first row.
        line: Line there, or the place as text.
        shape: Its configuration.
        again: Whether the dispatch was handed over before.
        spans_ns: Time by start, one for each pass.
        counters: First value of each counter.
        rows: Rows by start, for tools that weigh a pass by its rows.
    """

    __slots__ = ("_repeated", "again", "counters", "file", "line", "number", "rows", "shape", "spans_ns")

    def __init__(self, number: int, file: str, line: int | str, shape: DispatchShape, *, again: bool = False) -> None:
        self.number = number
        self.file = file
        self.line = line
        self.shape = shape
        self.again = again
        self.spans_ns: dict[int, float] = {}
        self.counters: dict[str, float] = {}
        self.rows: dict[int, int] | None = None
        self._repeated: dict[str, list[float]] | None = None

    @property
    def place(self) -> ReportPlace:
        """Where the first row stands."""
        return ReportPlace(self.file, f"line {self.line}" if isinstance(self.line, int) else self.line)

    def count(self, name: str, value: float) -> None:
        """Take one counter value; a second one of the same name comes from another pass."""
        if name in self.counters:
            if self._repeated is None:
                self._repeated = {}
            self._repeated.setdefault(name, [self.counters[name]]).append(value)
        else:
            self.counters[name] = value

    def span(self, start_ns: float, end_ns: float, *, by_row: bool = False) -> None:
        """Take the times of one pass, once or again for each row."""
        start = int(start_ns)
        self.spans_ns[start] = end_ns - start_ns
        if by_row:
            if self.rows is None:
                self.rows = {}
            self.rows[start] = self.rows.get(start, 0) + 1

    def settle(self) -> float | None:
        """Turn what came in several passes into medians, never sums, and return the time in ns."""
        for name, values in (self._repeated or {}).items():
            self.counters[name] = statistics.median(values)
        if len(self.spans_ns) == 1:
            (only,) = self.spans_ns.values()
            return float(only) if only > 0 else None
        rows = self.rows or {}
        usable = [one for start, one in self.spans_ns.items() if one > 0 for _ in range(rows.get(start, 1))]
        return float(statistics.median(usable)) if usable else None
