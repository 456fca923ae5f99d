"""Sets of byte addresses kept as runs: how many distinct bytes and 32-byte sectors a kernel touches."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["SECTOR_BYTES", "Footprint", "runs_of", "sectors_per_row", "union_length"]

SECTOR_BYTES = 32
"""The memory transaction unit that NVIDIA's profiler counts (metric `*_sectors`)."""
_COMPACT_AT_RUNS = 1 << 20

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


def union_length(starts: Ints, ends: Ints) -> int:
    """Length of the union of half-open intervals, in any order."""
    if starts.size == 0:
        return 0
    if np.any(starts[1:] < starts[:-1]):
        order = np.argsort(starts, kind="stable")
        starts, ends = starts[order], ends[order]
    reached = np.maximum.accumulate(ends)
    before = np.concatenate((starts[:1], reached[:-1]))
    return int(np.maximum(ends - np.maximum(starts, before), 0).sum())


def runs_of(addresses: Ints, mask: Bools, itemsize_bytes: int) -> tuple[Ints, Ints, Ints]:
    """Contiguous runs per row of (rows, lanes) addresses: row of each run, first byte, byte after the last.

    Active lanes with neighbouring addresses belong to one run, also across lanes that are off.
    """
    width = addresses.shape[1]
    flat = addresses.reshape(-1)
    if mask.all():
        breaks = flat[1:] - flat[:-1] != itemsize_bytes
        breaks[width - 1 :: width] = True
        first = np.concatenate(([0], np.flatnonzero(breaks) + 1)) if flat.size else np.empty(0, np.int64)
        last = np.concatenate((first[1:] - 1, [flat.size - 1])) if flat.size else first
        return first // max(width, 1), flat[first], flat[last] + itemsize_bytes
    active = np.flatnonzero(mask)
    if active.size == 0:
        return active, active, active
    rows, flat = active // width, flat[active]
    breaks = (flat[1:] - flat[:-1] != itemsize_bytes) | (rows[1:] != rows[:-1])
    first = np.concatenate(([0], np.flatnonzero(breaks) + 1))
    last = np.concatenate((first[1:] - 1, [flat.size - 1]))
    return rows[first], flat[first], flat[last] + itemsize_bytes


def sectors_per_row(rows: Ints, starts: Ints, ends: Ints) -> int:
    """Distinct 32-byte sectors, counted anew in every row."""
    if starts.size == 0:
        return 0
    first, after = starts // SECTOR_BYTES, (ends - 1) // SECTOR_BYTES + 1
    low = int(first.min())
    span = int(after.max()) - low + 1
    offset = rows * span - low
    return union_length(first + offset, after + offset)


class Footprint:
    """A growing set of byte addresses."""

    def __init__(self) -> None:
        self._runs: list[tuple[Ints, Ints]] = []
        self._count = 0

    def add(self, starts: Ints, ends: Ints) -> None:
        """Add half-open byte intervals."""
        if starts.size:
            self._runs.append((starts, ends))
            self._count += starts.size
            if self._count > _COMPACT_AT_RUNS:
                self._compact()

    def add_shifted(self, bases: Ints, starts: Ints, ends: Ints) -> None:
        """Add the same half-open intervals at each of some bases."""
        at_once = max(1, _COMPACT_AT_RUNS // max(starts.size, 1))
        for first in range(0, bases.size, at_once):
            some = bases[first : first + at_once, None]
            self.add((some + starts).reshape(-1), (some + ends).reshape(-1))

    def update(self, other: Footprint) -> None:
        """Add everything another footprint holds."""
        for starts, ends in other._runs:
            self.add(starts, ends)

    def _compact(self) -> None:
        starts, ends = self._joined()
        order = np.argsort(starts, kind="stable")
        starts, reached = starts[order], np.maximum.accumulate(ends[order])
        opens = np.concatenate(([True], starts[1:] > reached[:-1]))
        closes = np.concatenate((opens[1:], [True]))
        self._runs = [(starts[opens], reached[closes])]
        self._count = int(opens.sum())

    def _joined(self) -> tuple[Ints, Ints]:
        if not self._runs:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        return np.concatenate([run[0] for run in self._runs]), np.concatenate([run[1] for run in self._runs])

    def size_bytes(self) -> int:
        """Distinct bytes."""
        return union_length(*self._joined())

    def sectors(self) -> int:
        """Distinct 32-byte sectors."""
        starts, ends = self._joined()
        return union_length(starts // SECTOR_BYTES, (ends - 1) // SECTOR_BYTES + 1)
