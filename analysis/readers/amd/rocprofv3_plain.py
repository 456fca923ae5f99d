"""Plain counter and kernel tables of rocprofv3 without holding dispatches.

A table is plain when one process writes ascending dispatch ids, all rows of a dispatch stand together and come from
one pass. Then a line is cut before its last four cells, and what stands in front is only read when it changes. For any
other table None is returned, and the reader that holds dispatches is asked. A kernel table is plain when its dispatch
ids ascend: a row is a launch.
"""

from __future__ import annotations

import csv
import math
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from typing import Protocol

from kopt_kb.analysis.profile import ReportPlace, ReportSource
from kopt_kb.analysis.profile.tally import DurationTally
from kopt_kb.analysis.readers.amd.amd_collect import AmdCollector, CounterSum
from kopt_kb.analysis.readers.amd.amd_csv import Columns, folded
from kopt_kb.analysis.readers.amd.amd_devices import Devices
from kopt_kb.analysis.readers.amd.amd_dispatch import Dispatch, DispatchShape
from kopt_kb.analysis.readers.amd.amd_shapes import ShapeReader
from kopt_kb.analysis.readers.amd.amd_store import DispatchStore
from kopt_kb.analysis.readers.amd.rocprofv3_rows import TableReader
from kopt_kb.analysis.readers.common.base import encoding_of
from kopt_kb.analysis.readers.common.errors import ReportError

__all__ = ["read_plain", "read_plain_trace"]

_MAX_LINE_BYTES = 1 << 20
_PACKED = 1 << 12
_DIGITS = 20


class _Rows(Protocol):
    """What `csv.reader` returns."""

    line_num: int

    def __iter__(self) -> Iterator[list[str]]: ...

    def __next__(self) -> list[str]: ...


class _NotPlain(Exception):
    """The table has to be read with open dispatches."""


@dataclass(slots=True)
class _Config:
    """Sums of one configuration: count, total, total × time and time of each counter; whether records are kept."""

    shape: DispatchShape
    line: int
    launches: int = 0
    packed: array[int] = field(default_factory=lambda: array("q"))
    times: DurationTally = field(default_factory=DurationTally)
    sums: dict[str, list[float]] = field(default_factory=dict)
    room: bool = False

    def settle(self) -> None:
        self.times.add_all(self.packed)
        del self.packed[:]


def read_plain(path: Path, devices: Devices, source: ReportSource) -> AmdCollector | None:
    """Return the dispatches of a plain counter table, None for a table that is not plain or damaged."""
    table = TableReader(path, devices, DispatchStore(AmdCollector(source)))
    if not table.is_quick:
        return None
    collector = AmdCollector(source)
    try:
        return _Plain(path, table, collector).read()
    except (_NotPlain, ReportError, ValueError, OverflowError):
        return None


def read_plain_trace(path: Path, devices: Devices, source: ReportSource) -> AmdCollector | None:
    """Return the dispatches of a plain kernel table, None for a table that is not plain or damaged."""
    collector = AmdCollector(source)
    try:
        with path.open("rb") as head:
            encoding = encoding_of(head.read(8))
        with path.open(encoding=encoding, errors="replace", newline="") as stream:
            _add_trace(path, csv.reader(stream, strict=True), devices, collector)
    except (_NotPlain, ReportError, ValueError, OverflowError, csv.Error, IndexError):
        return None
    return collector


def _add_trace(path: Path, rows: _Rows, devices: Devices, collector: AmdCollector) -> None:
    """Add up all rows; raises `_NotPlain` or another error at the first that isn't plain."""
    columns = Columns([folded(one) for one in next(rows, [])])
    known = [columns.at(one) for one in ("dispatch", "start", "end")]
    at = [one for one in known if one is not None]
    if len(at) < len(known) or not columns.has("kernel"):
        raise _NotPlain
    shapes, width, process = ShapeReader(path, columns, devices), len(columns.header), columns.at("process")
    configs: dict[tuple[str, ...], _Config] = {}
    key_of, times_of, last_id, scope = shapes.key, itemgetter(*at), -1, None
    for cells in rows:
        number, start, end = times_of(cells)
        text = number + start + end
        if len(cells) != width or not (text.isdigit() and text.isascii() and len(text) < 3 * _DIGITS):
            raise _NotPlain
        if int(number) <= last_id or (process is not None and scope not in {None, cells[process]}):
            raise _NotPlain
        last_id, span = int(number), int(end) - int(start)
        scope = None if process is None else cells[process]
        key = key_of(cells)
        config = configs.get(key)
        if config is None:
            config = configs[key] = _Config(shapes.read(cells, rows.line_num), rows.line_num)
            config.room = collector.keeps
        config.launches += 1
        config.packed.append(span)
        if len(config.packed) >= _PACKED:
            config.settle()
        if config.room:
            record = Dispatch(last_id, str(path), rows.line_num, config.shape)
            record.span(0, span)
            collector.keep(record)
            config.room = collector.has_room(config.shape)
    for config in configs.values():
        config.settle()
        collector.add_sums(config.shape, ReportPlace(str(path), f"line {config.line}"), config.launches, config.times)


class _Plain:
    def __init__(self, path: Path, table: TableReader, collector: AmdCollector) -> None:
        self._path = path
        self._table = table
        self._collector = collector
        self._configs: dict[int, _Config] = {}
        self._last_id = -1
        self._scope: str | None = None
        self._open: Dispatch | None = None

    def read(self) -> AmdCollector:
        """Add up all lines; raises `_NotPlain`, `ReportError` or ValueError at the first that isn't plain."""
        names: dict[bytes, str] = {}
        last_head, last_times = b"", [b""]
        sums: dict[str, list[float]] = {}
        seen: set[str] = set()
        record: Dispatch | None = None
        span, line = 0, 1
        with self._path.open("rb", buffering=1 << 20) as stream:
            stream.readline(_MAX_LINE_BYTES)
            while raw := stream.readline(_MAX_LINE_BYTES):
                line += 1
                head, counter, value, *times = raw.rsplit(b",", 4)
                if head != last_head:
                    config, span = self._begin(head, times, line)
                    last_head, last_times, sums, record = head, times, config.sums, self._open
                    seen.clear()
                elif times != last_times:
                    raise _NotPlain
                name, number = names.get(counter), float(value)
                if name is None:
                    name = names[counter] = self._table.counter_name(counter, line)
                if name in seen or b"_" in value:
                    raise _NotPlain
                seen.add(name)
                held = sums.get(name)
                if held is None:
                    held = sums[name] = [0, 0.0, 0.0, 0.0]
                held[0] += 1
                held[1] += number
                held[2] += number * span
                held[3] += span
                if record is not None:
                    record.counters[name] = number
        return self._done()

    def _begin(self, head: bytes, times: list[bytes], line: int) -> tuple[_Config, int]:
        """Start a dispatch and return its configuration and its time in ns, 0 for none."""
        if len(times) != 2:
            raise _NotPlain
        start, end = times[0], times[1].rstrip()
        if not (start.isdigit() and end.isdigit() and len(start) < _DIGITS and len(end) < _DIGITS):
            raise _NotPlain
        number, shape, scope = self._table.head(head, line)
        if number <= self._last_id or (scope != self._scope and self._scope is not None):
            raise _NotPlain
        self._last_id, self._scope = number, scope
        config = self._configs.get(id(shape))
        if config is None:
            config = self._configs[id(shape)] = _Config(shape, line)
        span = max(int(end) - int(start), 0)
        config.launches += 1
        config.packed.append(span)
        if len(config.packed) >= _PACKED:
            config.settle()
        self._keep(shape, number, line, span)
        return config, span

    def _keep(self, shape: DispatchShape, number: int, line: int, span: int) -> None:
        if self._open is not None:
            self._collector.keep(self._open)
            self._open = None
        if self._collector.has_room(shape):
            self._open = Dispatch(number, str(self._path), line, shape)
            self._open.span(0, span)

    def _done(self) -> AmdCollector:
        if self._open is not None:
            self._collector.keep(self._open)
        for config in self._configs.values():
            config.settle()
            place = ReportPlace(str(self._path), f"line {config.line}")
            self._collector.add_sums(config.shape, place, config.launches, config.times)
            for name, (count, total, weighted, weight_ns) in config.sums.items():
                if not math.isfinite(total) or not math.isfinite(weighted):
                    raise _NotPlain
                amount = CounterSum(int(count), total, weighted, weight_ns)
                self._collector.add_counter(config.shape, place, name, amount)
        return self._collector
