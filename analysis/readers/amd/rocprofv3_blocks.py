"""Large kernel tables of rocprofv3 by blocks of bytes: where cells end is found for all rows of a block at once.

A row is a launch. What stands outside the dispatch id, the correlation id and the two times is the same for all
launches of a configuration: as bytes it is the key of a configuration, and only its first row is read cell by cell. A
table is read this way when its dispatch ids ascend in one process, the cells of numbers hold digits, and only kernel
names hold commas; for any other None is returned.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from kopt_kb.analysis.profile import ReportPlace, ReportSource
from kopt_kb.analysis.profile.tally import DurationTally
from kopt_kb.analysis.readers.amd.amd_collect import AmdCollector
from kopt_kb.analysis.readers.amd.amd_csv import Columns, folded
from kopt_kb.analysis.readers.amd.amd_devices import Devices
from kopt_kb.analysis.readers.amd.amd_dispatch import Dispatch, DispatchShape
from kopt_kb.analysis.readers.amd.amd_shapes import ShapeReader
from kopt_kb.analysis.readers.common.errors import ReportError

__all__ = ["read_trace_blocks"]

_BLOCK_BYTES = 1 << 22
_COMMA, _BREAK, _RETURN, _QUOTE = b',\n\r"'
_ZERO, _NINE = b"09"
_DIGITS = 18
_HALF = 9
_ORDER = ("dispatch", "kernel", "start", "end")

Offsets = NDArray[np.int64]


class _NotPlain(Exception):
    """The table has to be read row by row."""


@dataclass(slots=True)
class _Config:
    shape: DispatchShape
    line: int
    launches: int = 0
    room: bool = True
    times: DurationTally = field(default_factory=DurationTally)


def read_trace_blocks(path: Path, devices: Devices, source: ReportSource) -> AmdCollector | None:
    """Return the dispatches of a kernel table, None for a table that can't be read by blocks, or is damaged."""
    collector = AmdCollector(source)
    try:
        with path.open("rb") as stream:
            header = stream.readline(_BLOCK_BYTES)
            reader = _Blocks(path, header, devices, collector)
            for block in _blocks(stream):
                reader.add(block)
        reader.done()
    except (_NotPlain, ReportError, ValueError, OverflowError, csv.Error, IndexError):
        return None
    return collector


def _blocks(stream: BinaryIO) -> Iterator[bytes]:
    """Yield pieces of whole lines; raises `_NotPlain` for a line that is longer than a block or ends with the file."""
    rest = b""
    while data := stream.read(_BLOCK_BYTES):
        data = rest + data
        end = data.rfind(b"\n") + 1
        if not end:
            raise _NotPlain
        rest = data[end:]
        yield data[:end]
    if rest:
        raise _NotPlain


class _Blocks:
    """Adds up blocks of one table."""

    def __init__(self, path: Path, header: bytes, devices: Devices, collector: AmdCollector) -> None:
        names = next(csv.reader([header.decode("ascii")], strict=True), [])
        columns = Columns([folded(one) for one in names])
        at = [columns.at(one) for one in _ORDER]
        if None in at or at != sorted(at, key=lambda one: one or 0):
            raise _NotPlain
        self._path, self._collector, self._width = path, collector, len(names)
        self._dispatch, self._name, self._start, self._end = (one or 0 for one in at)
        self._process = columns.at("process")
        if self._start <= self._name or self._end != self._start + 1 or self._process is not None:
            raise _NotPlain
        self._shapes = ShapeReader(path, columns, devices)
        self._configs: list[_Config] = []
        self._known: dict[bytes, int] = {}
        self._line, self._last_id = 1, -1

    def add(self, block: bytes) -> None:
        """Count the rows of a block; raises `_NotPlain` at the first that isn't plain."""
        if b"\r" in block:
            raise _NotPlain
        data = np.frombuffer(block, dtype=np.uint8)
        ends = np.flatnonzero(data == _BREAK)
        starts = np.concatenate(([0], ends[:-1] + 1))
        commas = np.flatnonzero(data == _COMMA)
        first = np.searchsorted(commas, starts)
        stop = np.append(first[1:], len(commas))
        if (stop - first < self._width - 1).any():
            raise _NotPlain
        last = self._width - 1
        after = commas[stop - (last - self._name)]
        id_end = commas[first + self._dispatch]
        id_begin = commas[first + self._dispatch - 1] + 1 if self._dispatch else starts
        between = commas[stop - (last - self._start)]
        start_begin = commas[stop - (last - self._start) - 1] + 1
        end_end = commas[stop - (last - self._end)] if self._end < last else ends
        numbers = _numbers(data, id_begin, id_end)
        spans = _numbers(data, between + 1, end_end) - _numbers(data, start_begin, between)
        if numbers[0] <= self._last_id or (np.diff(numbers) <= 0).any():
            raise _NotPlain
        self._last_id = int(numbers[-1])
        keys = [
            block[a:b] + block[c:d] + block[e:f]
            for a, b, c, d, e, f in zip(
                starts.tolist(), id_begin.tolist(), id_end.tolist(), after.tolist(), end_end.tolist(),
                ends.tolist(), strict=True,
            )
        ]  # fmt: skip
        groups = list(map(self._known.get, keys))
        if None in groups:
            texts = (block[a:b] for a, b in zip(starts.tolist(), ends.tolist(), strict=True))
            rows = zip(keys, texts, numbers.tolist(), spans.tolist(), strict=True)
            groups = [self._group(key, text, row, (number, span)) for row, (key, text, number, span) in enumerate(rows)]
        self._count(np.array(groups, dtype=np.int64), numbers, spans)
        self._line += len(ends)

    def _group(self, key: bytes, text: bytes, row: int, numbers: tuple[int, int]) -> int:
        """Return the configuration of a row; its first row is read cell by cell and held against the numbers."""
        found = self._known.get(key)
        if found is None:
            cells = next(csv.reader([text.decode("utf-8", errors="replace")], strict=True), [])
            if len(cells) != self._width:
                raise _NotPlain
            if (int(cells[self._dispatch]), int(cells[self._end]) - int(cells[self._start])) != numbers:
                raise _NotPlain
            found = self._known[key] = len(self._configs)
            shape = self._shapes.read(cells, self._line + row + 1)
            self._configs.append(_Config(shape, self._line + row + 1, room=self._collector.keeps))
        return found

    def _count(self, groups: Offsets, numbers: Offsets, spans: Offsets) -> None:
        order = np.argsort(groups, kind="stable")
        ordered, sorted_spans = groups[order], spans[order].astype(np.float64)
        firsts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
        for one, stop in zip(firsts.tolist(), [*firsts[1:].tolist(), len(ordered)], strict=True):
            config = self._configs[ordered[one]]
            config.launches += stop - one
            config.times.add_all(sorted_spans[one:stop].tolist())
        if self._collector.keeps:
            self._keep(groups, numbers, spans)

    def _keep(self, groups: Offsets, numbers: Offsets, spans: Offsets) -> None:
        """Keep the records of the first launches, in the order of the rows."""
        roomy = np.array([one.room for one in self._configs])
        for row in np.flatnonzero(roomy[groups]).tolist():
            config = self._configs[groups[row]]
            if not config.room:
                continue
            record = Dispatch(int(numbers[row]), str(self._path), self._line + row + 1, config.shape)
            record.span(0, int(spans[row]))
            self._collector.keep(record)
            config.room = self._collector.has_room(config.shape)

    def done(self) -> None:
        """Hand all configurations over."""
        for config in self._configs:
            place = ReportPlace(str(self._path), f"line {config.line}")
            self._collector.add_sums(config.shape, place, config.launches, config.times)


def _numbers(data: NDArray[np.uint8], begin: Offsets, end: Offsets) -> Offsets:
    """Return the whole numbers in cells of digits; raises `_NotPlain` for other cells."""
    lengths = end - begin
    longest = int(lengths.max(initial=0))
    if not longest or longest > _DIGITS or int(lengths.min(initial=1)) < 1:
        raise _NotPlain
    if int(end[0]) < longest:
        raise _NotPlain
    digits = np.lib.stride_tricks.sliding_window_view(data, longest)[end - longest]
    if int(lengths.min()) < longest:
        digits = np.where(np.arange(longest) >= longest - lengths[:, None], digits, _ZERO)
    if int(digits.min()) < _ZERO or int(digits.max()) > _NINE:
        raise _NotPlain
    values = (digits - _ZERO).astype(np.float64)
    powers = 10.0 ** np.arange(longest - 1, -1, -1)
    low = values[:, -_HALF:] @ powers[-_HALF:]
    if longest <= _HALF:
        return low.astype(np.int64)
    high = values[:, :-_HALF] @ (powers[:-_HALF] / 10.0**_HALF)
    whole: Offsets = high.astype(np.int64) * 10**_HALF + low.astype(np.int64)
    return whole
