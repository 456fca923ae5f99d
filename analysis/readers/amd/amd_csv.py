"""CSV files of AMD's tools: rows with line numbers, headers under one spelling, cells into numbers."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from kopt_kb.analysis.readers.common.base import encoding_of
from kopt_kb.analysis.readers.common.errors import ReportError

__all__ = ["Columns", "csv_rows", "cut_row", "ends_in_line", "folded", "header_of", "number_in", "whole_in"]

_AGAIN = "record or export the report again"
_ABSENT = frozenset({"", "n/a", "na", "nan", "none", "null"})
_MAX_WHOLE = 1 << 64
_CHUNK_BYTES = 1 << 20
_ALIASES: dict[str, tuple[str, ...]] = {
    "kernel": ("kernel_name", "kernelname"),
    "dispatch": ("dispatch_id", "index"),
    "agent": ("agent_id", "gpu_id"),
    "process": ("guid", "process_id", "pid"),
    "start": ("start_timestamp", "beginns"),
    "end": ("end_timestamp", "endns"),
    "threads": ("grid_size", "grd"),
    "threads_x": ("grid_size_x",),
    "threads_y": ("grid_size_y",),
    "threads_z": ("grid_size_z",),
    "block": ("workgroup_size", "wgr"),
    "block_x": ("workgroup_size_x",),
    "block_y": ("workgroup_size_y",),
    "block_z": ("workgroup_size_z",),
    "lds": ("lds_block_size", "lds_block_size_v", "group_segment_size", "lds_per_workgroup", "lds"),
    "scratch": ("scratch_size", "private_segment_size", "scratch_per_workitem", "scr"),
    "vgpr": ("vgpr_count", "arch_vgpr", "vgpr"),
    "agpr": ("accum_vgpr_count", "accum_vgpr"),
    "sgpr": ("sgpr_count", "sgpr"),
    "wave": ("wave_size",),
    "duration": ("durationns",),
    "counter": ("counter_name",),
    "value": ("counter_value",),
}


_SPELLINGS = frozenset(alias for aliases in _ALIASES.values() for alias in aliases)


def folded(name: str) -> str:
    """Return a column name in lower case with underscores: `gpu-id` and `GPU_ID` are one."""
    return name.strip().strip('"').strip().lower().replace("-", "_").replace(" ", "_")


def header_of(text: str) -> tuple[str, ...]:
    """Return the folded column names of the first line of a CSV text; empty for text without a comma."""
    line = text.split("\n", 1)[0].lstrip("\ufeff").rstrip("\r")
    if "," not in line:
        return ()
    try:
        return tuple(folded(one) for one in next(csv.reader([line]), []))
    except csv.Error:
        return ()


class Columns:
    """Where the known columns of a file stand, whatever release spelled them.

    Attributes:
        header: Folded names in order.
    """

    def __init__(self, header: Sequence[str]) -> None:
        self.header = tuple(header)
        place: dict[str, int] = {}
        for at, name in enumerate(self.header):
            if name in _SPELLINGS:
                place.setdefault(name, at)
        self._at = {
            known: place[alias] for known, aliases in _ALIASES.items() for alias in reversed(aliases) if alias in place
        }

    def at(self, known: str) -> int | None:
        """Return the index of a column by its common name, None when the file has none."""
        return self._at.get(known)

    def has(self, *known: str) -> bool:
        """Return whether all of the columns are there."""
        return all(one in self._at for one in known)

    @property
    def known(self) -> frozenset[int]:
        """Indexes of the columns that have a common name."""
        return frozenset(self._at.values())


def csv_rows(path: Path, on_cut: Callable[[str], None] | None = None) -> Iterator[tuple[int, list[str]]]:
    """Yield (line, cells) of a CSV file, the header first; blank lines are skipped.

    Args:
        path: The file.
        on_cut: Told in words about a last row that the file ends inside of, which is left out; None refuses it.

    Raises:
        ReportError: A row has more or fewer cells than the header, a cell has no end, or the text is damaged.
    """
    with path.open("rb") as head:
        encoding = encoding_of(head.read(8))
    width = 0
    with path.open(encoding=encoding, errors="replace", newline="") as stream:
        reader = csv.reader(stream, strict=True)
        while True:
            fault = ""
            try:
                cells = next(reader, None)
            except (csv.Error, UnicodeError) as error:
                cells, fault = [], f"damaged CSV: {error}"
            if cells is None:
                return
            if not any(cells) and not fault:
                continue
            width = width or len(cells)
            line = max(reader.line_num, 1)
            if not fault and len(cells) != width:
                fault = f"{len(cells)} cells under a header of {width}"
            if fault and on_cut is not None and width and len(cells) < width and ends_in_line(path, line):
                on_cut(cut_row(line))
                return
            if fault:
                raise ReportError(fault, where=path, line=line, fix=_AGAIN)
            yield line, cells


def ends_in_line(path: Path, line: int) -> bool:
    """Return whether a line is the last of a file and has no line break, so that its row may be cut."""
    breaks, last = 0, b""
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK_BYTES):
            breaks, last = breaks + chunk.count(b"\n"), chunk
    return breaks == line - 1 and not last.endswith(b"\n")


def cut_row(line: int) -> str:
    """Return the note about a last row that the file ends inside of."""
    return f"the file ends inside line {line}: that row is left out"


def number_in(cell: str, path: Path, line: int) -> float | None:
    """Return the finite number of a cell, None for an empty one; raises `ReportError` for other text."""
    text = cell.strip()
    if text.lower() in _ABSENT:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or "_" in text:
        raise ReportError(f"{text[:40]!r} is no number", where=path, line=line, fix=_AGAIN)
    return value


def whole_in(cell: str, path: Path, line: int) -> int | None:
    """Return the whole number of a cell (`16` or `16.0`), None for an empty one; raises `ReportError` otherwise."""
    text = cell.strip()
    if text.isascii() and text.isdigit() and len(text) < len(str(_MAX_WHOLE)):
        return int(text)
    value = number_in(text, path, line)
    if value is None:
        return None
    if value < 0 or value != int(value) or value > _MAX_WHOLE:
        raise ReportError(f"{text[:40]!r} is no count", where=path, line=line, fix=_AGAIN)
    return int(value)
