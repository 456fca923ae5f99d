"""Wide tables of AMD's tools: one row a dispatch, one column a counter."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from kopt_kb.analysis.readers.amd.amd_csv import Columns, csv_rows, cut_row, ends_in_line, folded, number_in, whole_in
from kopt_kb.analysis.readers.amd.amd_devices import Devices
from kopt_kb.analysis.readers.amd.amd_dispatch import Dispatch
from kopt_kb.analysis.readers.amd.amd_shapes import ShapeReader
from kopt_kb.analysis.readers.amd.amd_store import DispatchStore
from kopt_kb.analysis.readers.common.base import encoding_of
from kopt_kb.analysis.readers.common.errors import ReportError

__all__ = ["WideReader", "read_wide", "rows_with_text"]

_DIGITS = 19
_AGAIN = "record or export the report again"
_COUNTER = re.compile(r"[A-Za-z][A-Za-z0-9_]*(?:\[\d+\])?")
_NO_COUNTER = frozenset(
    {
        "queue_id", "queue_index", "tid", "pid", "sig", "obj", "dispatchns", "completens", "correlation_id",
        "kernel_id", "fbar", "node_id", "stream_id", "thread_id",
    }
)  # fmt: skip
_REPEATED = _NO_COUNTER | {"wave_size"}
_DUPLICATE = re.compile(r"_\d+$")


@dataclass(slots=True)
class WideReader:
    """What reading a wide table needs.

    Attributes:
        path: The file.
        devices: The GPUs that agent cells name.
        store: Where dispatches are put together.
        scope: Scope of the dispatch ids.
        only: Counters to take and the names to store them under; empty takes all by their own names.
        times: Whether the times of this table count.
    """

    path: Path
    devices: Devices
    store: DispatchStore
    scope: str = ""
    only: dict[str, str] = field(default_factory=dict)
    times: bool = True


def read_wide(reader: WideReader, rows: Iterator[tuple[int, list[str]]] | None = None) -> int:
    """Read a table and return the number of its rows; raises `ReportError` for a damaged row."""
    path = reader.path
    source = csv_rows(path, reader.store.note) if rows is None else rows
    header = next(source, (0, []))[1]
    columns = Columns([folded(one) for one in header])
    if not columns.has("kernel"):
        raise ReportError("no column of kernel names", where=path, line=1, fix=_AGAIN)
    shapes = ShapeReader(path, columns, reader.devices)
    counters = _counters(header, columns, reader.only)
    count = 0
    for line, cells in source:
        count += 1
        at = columns.at("dispatch")
        number = count if at is None else whole_in(cells[at], path, line)
        if number is None:
            raise ReportError("a row without a dispatch id", where=path, line=line, fix=_AGAIN)
        record = reader.store.open(reader.scope, number, shapes.read(cells, line), str(path), line)
        for index, name in counters:
            value = _plain_number(cells[index])
            if value is None:
                value = number_in(cells[index], path, line)
            if value is not None:
                record.count(name, value)
        if reader.times:
            _time(record, columns, cells, path, line)
    return count


def _plain_number(cell: str) -> float | None:
    """Return the number of a cell of digits, None for any other: most cells are one."""
    return float(cell) if cell.isdigit() and cell.isascii() and len(cell) < _DIGITS else None


def _counters(header: list[str], columns: Columns, only: dict[str, str]) -> list[tuple[int, str]]:
    """Return index and name of the counter columns; of columns with one name the first."""
    found: dict[str, int] = {}
    taken = columns.known
    for index, title in enumerate(header):
        name = title.strip()
        key = columns.header[index]
        known = index in taken or key in _NO_COUNTER or (key[-1:].isdigit() and _DUPLICATE.sub("", key) in _REPEATED)
        if known or name in found or not _COUNTER.fullmatch(name):
            continue
        if not only or name in only:
            found[name] = index
    return [(index, only.get(name, name)) for name, index in found.items()]


def _time(record: Dispatch, columns: Columns, cells: list[str], path: Path, line: int) -> None:
    begin, end, duration = (columns.at(one) for one in ("start", "end", "duration"))
    if begin is not None and end is not None:
        start_ns, end_ns = (number_in(cells[one], path, line) for one in (begin, end))
        if start_ns is not None and end_ns is not None:
            record.span(start_ns, end_ns)
    elif duration is not None:
        span_ns = number_in(cells[duration], path, line)
        if span_ns is not None:
            record.span(0, span_ns)


def rows_with_text(
    path: Path, text_column: str, on_cut: Callable[[str], None] | None = None
) -> Iterator[tuple[int, list[str]]]:
    """Yield (line, cells) like `csv_rows` for a table whose one text column may hold commas without quotes.

    Cells beyond the header's number belong to that column; `on_cut` as in `csv_rows`.

    Raises:
        ReportError: A row has fewer cells than the header, or the column is missing.
    """
    with path.open("rb") as head:
        encoding = encoding_of(head.read(8))
    with path.open(encoding=encoding, errors="replace", newline="") as stream:
        reader = csv.reader(stream)
        header: list[str] = []
        at = 0
        try:
            for cells in reader:
                if not any(cells):
                    continue
                if not header:
                    header = cells
                    names = [folded(one) for one in header]
                    at = names.index(text_column) if text_column in names else -1
                surplus = len(cells) - len(header)
                if not surplus:
                    yield reader.line_num, cells
                    continue
                if surplus < 0 and on_cut is not None and ends_in_line(path, reader.line_num):
                    on_cut(cut_row(reader.line_num))
                    return
                if surplus < 0 or at < 0:
                    raise ReportError(
                        f"{len(cells)} cells under a header of {len(header)}",
                        where=path,
                        line=reader.line_num,
                        fix=_AGAIN,
                    )
                yield reader.line_num, [*cells[:at], ",".join(cells[at : at + surplus + 1]), *cells[at + surplus + 1 :]]
        except (csv.Error, UnicodeError) as error:
            raise ReportError(f"damaged CSV: {error}", where=path, line=max(reader.line_num, 1), fix=_AGAIN) from error
