"""Lines of an ncu CSV file into checked rows: encodings, dialects, and the noise around and between them."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple

from kopt_kb.analysis.readers.common.base import encoding_of
from kopt_kb.analysis.readers.common.errors import ReportError

__all__ = ["HEADER", "Noise", "TableRow", "lines_of", "rows_of"]

HEADER = re.compile(r'\s*(?:"ID",|ID,)')
_MAX_LINE_CHARS = 1 << 24
_MAX_JOINED = 64
_CHUNK_BYTES = 1 << 18
_TAIL_BYTES = 2  # a line break in UTF-16
_QUOTED_ROW = re.compile(r'(?:"(?:[^"]++|"")*+"|)(?:,(?:"(?:[^"]++|"")*+"|))*+,?')
_QUOTED_START = re.compile(r'"\d+","')
_PLAIN_START = re.compile(r"\d+,\s*\d+,")
_UNIT_START = re.compile(r'(?:"",){3}|,,,')


class TableRow(NamedTuple):
    """One table row with the number of its first line."""

    line: int
    cells: list[str]


@dataclass(slots=True)
class Noise:
    """Lines after a header that are no whole row: output of the application or of the profiler, a last row cut off."""

    count: int = 0
    first_line: int = 0
    cut_line: int = 0

    def see(self, line: int) -> None:
        """Count one line."""
        self.count += 1
        self.first_line = self.first_line or line

    @property
    def note(self) -> str:
        """One clause for the reader of the profile, empty without noise."""
        return f"{self.count} lines that are no rows were skipped, first line {self.first_line}" if self.count else ""

    @property
    def cut_note(self) -> str:
        """One clause about a last row that the file ends inside of, empty without one."""
        if not self.cut_line:
            return ""
        return f"the file ends inside line {self.cut_line}: that row is left out, and what would follow is missing"


def lines_of(path: Path) -> Iterator[tuple[int, str]]:
    """Yield numbered lines of a text file in any encoding ncu's output is met in.

    Raises:
        ReportError: A line is longer than any report's, or UTF-16 text lost a byte.
    """
    with path.open("rb") as stream:
        encoding = encoding_of(stream.read(8))
        stream.seek(0)
        rest, line = "", 0
        for text in _decoded(stream, encoding):
            parts = (rest + text).split("\n")
            rest = parts.pop()
            for part in parts:
                line += 1
                yield line, _clean(part, line, path, encoding)
            if len(rest) > _MAX_LINE_CHARS:
                raise ReportError("a line is longer than any report's", where=path, line=line + 1)
        if rest:
            yield line + 1, _clean(rest, line + 1, path, encoding)


def _decoded(stream: BinaryIO, encoding: str) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    while chunk := stream.read(_CHUNK_BYTES):
        yield decoder.decode(chunk)
    yield decoder.decode(b"", final=True)


def _clean(text: str, line: int, path: Path, encoding: str) -> str:
    if encoding.startswith("utf-16") and sum(ord(one) & 0xFF == 0 for one in text) > len(text) // 2:
        raise ReportError("UTF-16 text that lost a byte", where=path, line=line, fix="export the page again")
    return text.rstrip("\r")


def rows_of(path: Path, noise: Noise) -> Iterator[TableRow]:
    """Yield the header rows and table rows of an ncu CSV file; a header row starts with `ID`.

    In a quoted table every cell is quoted, so that a row with a stray quote is found. A cell may only span lines in
    the last columns (rule descriptions).

    Raises:
        ReportError: A line starts like a row and isn't one.
    """
    header: list[str] = []
    quoted = False
    source = lines_of(path)
    for line, text in source:
        if HEADER.match(text):
            quoted = text.lstrip().startswith('"')
            header = [cell.strip() for cell in _cells(text.strip(), line, path)]
            yield TableRow(line, header)
        elif header:
            start = _QUOTED_START if quoted else _PLAIN_START
            if start.match(text) or _UNIT_START.match(text):
                row = _row(line, text, header, source if quoted else iter(()), path)
                if len(row.cells) < _needed(header) and _ends_inside(path, source):
                    noise.cut_line = line
                    return
                yield row
            elif text.strip():
                noise.see(line)


def _needed(header: list[str]) -> int:
    """Cells without which a row says nothing; pages with rules leave out the cells after the value."""
    return header.index("Metric Value") + 1 if "Metric Value" in header else len(header)


def _ends_inside(path: Path, rest: Iterator[tuple[int, str]]) -> bool:
    """Whether nothing is left and the file has no line break at its end, so that its last row may be cut."""
    if next(rest, None) is not None:
        return False
    with path.open("rb") as stream:
        stream.seek(-_TAIL_BYTES, 2)
        return b"\n" not in stream.read(_TAIL_BYTES)


def _row(line: int, text: str, header: list[str], source: Iterator[tuple[int, str]], path: Path) -> TableRow:
    whole = text
    joined = 0
    while text.startswith('"') and _QUOTED_ROW.fullmatch(whole) is None:
        more = next(source, None)
        joined += 1
        if more is None and _ends_inside(path, source):
            return TableRow(line, [])
        if more is None or joined > _MAX_JOINED or _QUOTED_START.match(more[1]):
            raise ReportError("a cell has no end", where=path, line=line, fix="export the page again")
        whole += "\n" + more[1]
    cells = _cells(whole, line, path)
    surplus = cells[len(header) :]
    if any(surplus):
        raise ReportError(
            f"{len(cells)} cells under a header of {len(header)}", where=path, line=line, fix="export the page again"
        )
    if any("\n" in cell for cell in cells[: header.index("Metric Value") + 1 if "Metric Value" in header else None]):
        raise ReportError("a line break inside a cell", where=path, line=line, fix="export the page again")
    return TableRow(line, cells[: len(header)])


def _cells(text: str, line: int, path: Path) -> list[str]:
    try:
        return next(csv.reader([text], skipinitialspace=True), [])
    except csv.Error as error:
        raise ReportError(f"unreadable row: {error}", where=path, line=line, fix="export the page again") from error
