"""Reader of ncu's console text: section tables under one heading a launch."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from kopt_kb.analysis.profile import Collector, KernelProfile, ReportSource, StoredRule
from kopt_kb.analysis.readers.common.base import Reader, ReportHead
from kopt_kb.analysis.readers.common.errors import ReportError
from kopt_kb.analysis.readers.common.numerals import Decimal, DecimalVote
from kopt_kb.analysis.readers.nvidia.ncu_labels import metric_name, sol_title
from kopt_kb.analysis.readers.nvidia.ncu_parts import LaunchParts, metric_of
from kopt_kb.analysis.readers.nvidia.ncu_rows import lines_of

__all__ = ["NCU_TEXT", "read_ncu_text"]

_HEADING = re.compile(
    r"  (?P<name>\S.*) (?P<grid>\(\d+, \d+, \d+\))x(?P<block>\(\d+, \d+, \d+\)), Context \d+, Stream \d+"
    r"(?:, Device \d+, CC (?P<cc>\d+\.\d))?\s*$"
)
_SECTION = re.compile(r"    Section: (?P<name>\S.*?)\s*$")
_BORDER = re.compile(r"    -+(?: -+)+\s*$")
_BROKEN_HEADING = re.compile(r"  \S")
_COLUMNS = 3
_CSV_ADVICE = "record with --csv --page raw, or import the report and export that page"
_FAILURES = {
    "No kernels were profiled": ("ncu profiled no kernel", "check the kernel filter and that the program launches any"),
    "ERR_NVGPUCTRPERM": (
        "ncu had no permission to read GPU counters (ERR_NVGPUCTRPERM)",
        "ask an administrator to allow counters to users, or run with the needed capability",
    ),
}


class _Table:
    """Where in a section's table the lines are: outside, at its heading, or among its rows."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.state: Literal["outside", "heading", "rows"] = "outside"
        self._spans: list[tuple[int, int]] = []

    def border(self, line: int, text: str) -> None:
        """Take a line of dashes; raises `ReportError` when it doesn't fit the table's first one."""
        spans = [match.span() for match in re.finditer("-+", text)]
        if self.state == "outside":
            self.state, self._spans = "heading", spans
        elif spans != self._spans or len(spans) != _COLUMNS:
            raise self._damaged(line)
        else:
            self.state = "rows" if self.state == "heading" else "outside"

    def row(self, line: int, text: str) -> list[str]:
        """Return name, unit and value, empty outside of rows; raises `ReportError` for no row among rows."""
        if self.state == "outside" or text.lstrip().startswith("Metric Name"):
            return []
        self.state = "rows"
        cells = [text[start:end].strip() for start, end in self._spans]
        if len(cells) != _COLUMNS or not cells[0] or not cells[2] or text[self._spans[2][1] :].strip():
            raise self._damaged(line)
        return cells

    def close(self, line: int) -> None:
        """Raise `ReportError` when a table is still open."""
        if self.state != "outside":
            raise self._damaged(line)

    def _damaged(self, line: int) -> ReportError:
        return ReportError("damaged table", where=self.file, line=line, fix=_CSV_ADVICE)


class _Reading:
    """State of one pass over the lines."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.launches = 0
        self.parts: LaunchParts | None = None
        self.section = ""
        self.table = _Table(file)

    def take(self, line: int, text: str) -> list[str]:
        """Read a line; returns the cells of a table row, empty for any other line."""
        heading, section = _HEADING.match(text), _SECTION.match(text)
        if heading:
            self.table.close(line)
            shape = (heading["grid"], heading["block"], heading["cc"] or "")
            self.parts = LaunchParts(self.file, line, str(self.launches), heading["name"], shape)
            self.launches += 1
            self.section = ""
        elif _BROKEN_HEADING.match(text) and (self.parts is not None or "Stream" in text):
            raise ReportError("damaged heading of a launch", where=self.file, line=line, fix=_CSV_ADVICE)
        elif section:
            self.table.close(line)
            self.section = section["name"]
            if self.parts is None:
                raise ReportError("a section of no launch", where=self.file, line=line, fix=_CSV_ADVICE)
        elif self.parts is not None and _BORDER.match(text):
            self.table.border(line, text)
        elif self.parts is not None:
            return self.table.row(line, text)
        return []


def _launches(path: Path, decimal: Decimal) -> Iterator[LaunchParts]:
    reading = _Reading(path)
    line = 0
    for line, text in lines_of(path):
        before = reading.parts
        cells = reading.take(line, text)
        parts = reading.parts
        if before is not None and parts is not before:
            yield before
        if parts is None:
            continue
        if cells:
            name = metric_name(reading.section, cells[0], cells[1])
            parts.put(name, metric_of(name, cells[2], cells[1], decimal, (path, line)), reading.section, line)
        elif reading.section.startswith("GPU Speed Of Light") and sol_title(text):
            parts.rules.append(StoredRule("SOLBottleneck", "SpeedOfLight", sol_title(text), "optimization"))
    reading.table.close(line)
    if reading.parts is not None:
        yield reading.parts


def read_ncu_text(path: Path) -> Iterator[KernelProfile]:
    """Yield the profiles of ncu's console output.

    Raises:
        ReportError: The output says that nothing was measured, or a value is damaged (with the line).
    """
    collector = Collector(ReportSource(str(path), "ncu-text", "ncu", "nvidia"))
    launches = 0
    for parts in _launches(path, _decimal(path)):
        collector.add(parts.launch())
        launches += 1
    if launches == 0:
        raise _nothing(path)
    yield from collector.profiles("console text has two decimals; the CSV raw page has six")


def _decimal(path: Path) -> Decimal:
    vote = DecimalVote(str(path))
    reading = _Reading(path)
    for line, text in lines_of(path):
        for cell in reading.take(line, text)[_COLUMNS - 1 :]:
            vote.see(cell, line)
    return vote.decided


def _nothing(path: Path) -> ReportError:
    for line, text in lines_of(path):
        for mark, (what, fix) in _FAILURES.items():
            if mark in text:
                foreign = "text without the magic NVR: " if path.suffix == ".ncu-rep" else ""
                return ReportError(foreign + what, where=path, line=line, fix=fix, code="KB204")
    return ReportError("ncu's console output without a table of metrics", where=path, fix=_CSV_ADVICE, code="KB204")


def _is_text(head: ReportHead) -> bool:
    if head.is_folder:
        return False
    marks = ("==PROF==", "==ERROR==", "==WARNING==")
    if any(line.startswith(marks) for line in head.text.splitlines()):
        return True
    return any(_HEADING.match(line) for line in head.text.splitlines())


NCU_TEXT = Reader("ncu-text", "ncu console text", _is_text, read_ncu_text)
