"""Rows of rocprofv3's counter and kernel tables into dispatch records, at the speed of splitting lines.

A counter table repeats everything but four cells for each counter of a dispatch. Where those four stand last, as all
releases write them, a line is cut there and the rest is only read when it differs from the line before.
"""

from __future__ import annotations

import csv
import math
import re
import sys
from collections.abc import Callable
from pathlib import Path

from kopt_kb.analysis.readers.amd.amd_csv import (
    Columns,
    csv_rows,
    cut_row,
    ends_in_line,
    folded,
    header_of,
    number_in,
    whole_in,
)
from kopt_kb.analysis.readers.amd.amd_devices import Devices
from kopt_kb.analysis.readers.amd.amd_dispatch import Dispatch, DispatchShape
from kopt_kb.analysis.readers.amd.amd_shapes import ShapeReader
from kopt_kb.analysis.readers.amd.amd_store import DispatchStore
from kopt_kb.analysis.readers.common.errors import ReportError

__all__ = ["TableReader"]

_TAIL = ("counter_name", "counter_value", "start_timestamp", "end_timestamp")
_COUNTER = re.compile(rb'"?([A-Za-z_][A-Za-z0-9_:.\[\]=-]*)"?')
_NUMBER = re.compile(rb'"?([+-]?[0-9][0-9.]*(?:[eE][+-]?[0-9]+)?)"?')
_WHOLE = re.compile(rb'"?([0-9]{1,19})"?')
_HEAD_BYTES = 1 << 16
_MAX_LINE_BYTES = 1 << 20
_CACHED = 1 << 16
_DIGITS = 20
_LARGEST = sys.float_info.max
_AGAIN = "record or export the report again"


class TableReader:
    """Reads one `counter_collection` or `kernel_trace` file into a store.

    Args:
        path: The file.
        devices: The GPUs that agent cells name.
        store: Where dispatches are put together.
        scope: Returns the scope of dispatch ids for the text of the process cell.
        by_row: Whether the median time of a dispatch is over its rows, as rocprof-compute takes it, not its passes.
    """

    def __init__(
        self,
        path: Path,
        devices: Devices,
        store: DispatchStore,
        scope: Callable[[str], str] = str,
        *,
        by_row: bool = False,
    ) -> None:
        self._path = path
        self._file = str(path)
        self._devices = devices
        self._store = store
        self._scope = scope
        self._by_row = by_row
        with path.open("rb") as stream:
            head = stream.read(_HEAD_BYTES)
        self._plain = b"\x00" not in head and not head.startswith((b"\xff\xfe", b"\xfe\xff"))
        self._columns = Columns(header_of(head.decode("utf-8", errors="replace")))
        self._shapes = ShapeReader(path, self._columns, devices)
        self._names: dict[bytes, str] = {}
        self._heads: dict[bytes, tuple[DispatchShape, str]] = {}

    def read(self, *, quick: bool = True) -> int:
        """Read all rows and return their number; `quick=False` takes the general way for every table.

        Raises:
            ReportError: A row is damaged.
        """
        if not quick or not self.is_quick:
            return self._read_rows()
        try:
            return self._read_lines()
        except ReportError as error:
            if error.line is None or not ends_in_line(self._path, error.line):
                raise
            self._store.note(cut_row(error.line))
            return error.line - 2

    @property
    def is_quick(self) -> bool:
        """Whether lines can be cut before their last four cells."""
        return self._plain and self._columns.header[-len(_TAIL) :] == _TAIL and self._columns.has("dispatch", "kernel")

    def _read_rows(self) -> int:
        rows = csv_rows(self._path, self._store.note)
        self._columns = Columns([folded(one) for one in next(rows, (0, []))[1]])
        self._shapes = ShapeReader(self._path, self._columns, self._devices)
        at = {one: self._columns.at(one) for one in ("counter", "value", "start", "end")}
        count = 0
        for line, cells in rows:
            count += 1
            record = self._record(cells, line)
            if at["start"] is not None and at["end"] is not None:
                start, end = (whole_in(cells[one], self._path, line) for one in (at["start"], at["end"]))
                if start is not None and end is not None:
                    record.span(start, end, by_row=self._by_row)
            if at["counter"] is not None and at["value"] is not None:
                value = number_in(cells[at["value"]], self._path, line)
                name = cells[at["counter"]].strip()
                if not name:
                    raise ReportError("a value without a counter name", where=self._path, line=line, fix=_AGAIN)
                if value is not None:
                    record.count(name, value)
        return count

    def _record(self, cells: list[str], line: int) -> Dispatch:
        at = self._columns.at("dispatch")
        number = None if at is None else whole_in(cells[at], self._path, line)
        if number is None:
            raise ReportError("a row without a dispatch id", where=self._path, line=line, fix=_AGAIN)
        process = self._columns.at("process")
        scope = self._scope("" if process is None else cells[process].strip())
        return self._store.open(scope, number, self._shapes.read(cells, line), self._file, line)

    def _read_lines(self) -> int:
        last_head = last_start = last_end = b""
        record: Dispatch | None = None
        counters: dict[str, float] = {}
        names = self._names
        line = 0
        with self._path.open("rb", buffering=1 << 20) as stream:
            while raw := stream.readline(_MAX_LINE_BYTES):
                line += 1
                parts = raw.rsplit(b",", 4)
                if line == 1 or not raw.strip():
                    continue
                if len(parts) != len(_TAIL) + 1 or len(raw) == _MAX_LINE_BYTES:
                    raise ReportError("a row that is cut or too long", where=self._path, line=line, fix=_AGAIN)
                head, counter, value, start, end = parts
                if head != last_head:
                    record = self._quick_record(head, line)
                    counters = record.counters
                    last_head, last_start, last_end = head, b"", b""
                if start != last_start or end != last_end:
                    self._span(record, start, end, line)
                    last_start, last_end = start, end
                name = names.get(counter) or self._name(counter, line)
                try:
                    number = float(value)
                except ValueError:
                    number = math.nan
                if b"_" in value or not -_LARGEST < number < _LARGEST:
                    other = self._number(value, line)
                    if other is None:
                        continue
                    number = other
                if name in counters and record is not None:
                    record.count(name, number)
                else:
                    counters[name] = number
        return max(line - 1, 0)

    def _quick_record(self, head: bytes, line: int) -> Dispatch:
        number, shape, scope = self.head(head, line)
        return self._store.open(scope, number, shape, self._file, line)

    def head(self, head: bytes, line: int) -> tuple[int, DispatchShape, str]:
        """Return dispatch id, configuration and scope of a line without its last four cells.

        What stands after the dispatch id repeats over dispatches and is read once.

        Raises:
            ReportError: The line is damaged.
        """
        at = self._columns.at("dispatch") or 0
        process = self._columns.at("process")
        *first, rest = head.split(b",", at + 1)
        number = _whole(first[at]) if len(first) == at + 1 else None
        if number is None:
            raise ReportError("a row without a dispatch id", where=self._path, line=line, fix=_AGAIN)
        known = self._heads.get(rest)
        if known is None:
            known = self._read_head(at + 1, rest, line)
        shape, scope = known
        if process is not None and process <= at:
            scope = self._scope(_text(first[process]))
        return number, shape, scope

    def counter_name(self, cell: bytes, line: int) -> str:
        """Return the counter that a cell names; raises `ReportError` for another cell."""
        return self._names.get(cell) or self._name(cell, line)

    def _read_head(self, before: int, rest: bytes, line: int) -> tuple[DispatchShape, str]:
        try:
            cells = next(csv.reader([rest.decode("utf-8", errors="replace")], strict=True), [])
        except csv.Error as error:
            raise ReportError(f"damaged CSV: {error}", where=self._path, line=line, fix=_AGAIN) from error
        width = len(self._columns.header)
        found = before + len(cells) + len(_TAIL)
        if found != width:
            raise ReportError(f"{found} cells under a header of {width}", where=self._path, line=line, fix=_AGAIN)
        row = [""] * before + cells + [""] * len(_TAIL)
        process = self._columns.at("process")
        scope = self._scope(row[process].strip() if process is not None and process >= before else "")
        if len(self._heads) >= _CACHED:
            self._heads.clear()
        known = self._heads[rest] = (self._shapes.read(row, line), scope)
        return known

    def _span(self, record: Dispatch | None, start: bytes, end: bytes, line: int) -> None:
        start_ns, end_ns = _whole(start), _whole(end.rstrip())
        if record is None or start_ns is None or end_ns is None:
            raise ReportError("a row without its two times", where=self._path, line=line, fix=_AGAIN)
        record.spans_ns[start_ns] = end_ns - start_ns

    def _name(self, cell: bytes, line: int) -> str:
        match = _COUNTER.fullmatch(cell.strip())
        if match is None or cell.count(b'"') not in {0, 2}:
            raise ReportError("a cell that is no counter name", where=self._path, line=line, fix=_AGAIN)
        if len(self._names) >= _CACHED:
            self._names.clear()
        name = self._names[cell] = match[1].decode("ascii")
        return name

    def _number(self, cell: bytes, line: int) -> float | None:
        match = _NUMBER.fullmatch(cell)
        try:
            return float(match[1]) if match is not None else number_in(_text(cell), self._path, line)
        except ValueError as error:
            raise ReportError("a cell that is no number", where=self._path, line=line, fix=_AGAIN) from error


def _whole(cell: bytes) -> int | None:
    if cell.isdigit() and len(cell) < _DIGITS:
        return int(cell)
    match = _WHOLE.fullmatch(cell)
    return None if match is None else int(match[1])


def _text(cell: bytes) -> str:
    return cell.decode("ascii", errors="replace").strip().strip('"')
