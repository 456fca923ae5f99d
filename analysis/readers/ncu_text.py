"""Reader of ncu's console text: section tables under one heading a launch."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from kopt_kb.analysis.profile import Collector, KernelProfile, Source, StoredRule
from kopt_kb.analysis.readers.base import Head, Reader
from kopt_kb.analysis.readers.errors import ReportError
from kopt_kb.analysis.readers.ncu_labels import metric_name, sol_title
from kopt_kb.analysis.readers.ncu_parts import LaunchParts, metric_of
from kopt_kb.analysis.readers.ncu_rows import lines_of
from kopt_kb.analysis.readers.numerals import Decimal, DecimalVote

__all__ = ["NCU_TEXT", "read_ncu_text"]

_HEADING = re.compile(
    r"  (?P<name>\S.*) (?P<grid>\(\d+, \d+, \d+\))x(?P<block>\(\d+, \d+, \d+\)), Context \d+, Stream \d+"
    r"(?:, Device \d+, CC (?P<cc>\d+\.\d))?\s*$"
)
_SECTION = re.compile(r"    Section: (?P<name>\S.*?)\s*$")
_RULE_LINE = re.compile(r"    -+(?: -+)+\s*$")
_COLUMNS = 3
_CSV_ADVICE = "record with --csv --page raw, or import the report and export that page"
_FAILURES = {
    "No kernels were profiled": ("ncu profiled no kernel", "check the kernel filter and that the program launches any"),
    "ERR_NVGPUCTRPERM": (
        "ncu had no permission to read GPU counters (ERR_NVGPUCTRPERM)",
        "ask an administrator to allow counters to users, or run with the needed capability",
    ),
}


class _Reading:
    """State of one pass over the lines."""

    def __init__(self, file: Path, decimal: Decimal) -> None:
        self.file = file
        self.decimal = decimal
        self.launches = 0
        self.parts: LaunchParts | None = None
        self.section = ""
        self._spans: list[tuple[int, int]] = []
        self._rules_seen = 0

    def take(self, line: int, text: str) -> LaunchParts | None:
        """Read a line; returns the launch that it ends."""
        heading = _HEADING.match(text)
        if heading:
            return self._begin(heading, line)
        section = _SECTION.match(text)
        if section:
            self.section, self._rules_seen = section["name"], 0
        elif _RULE_LINE.match(text):
            self._spans = [match.span() for match in re.finditer("-+", text)]
            self._rules_seen += 1
        elif self.parts is not None:
            self._content(self.parts, line, text)
        return None

    def _begin(self, heading: re.Match[str], line: int) -> LaunchParts | None:
        ended = self.parts
        shape = (heading["grid"], heading["block"], heading["cc"] or "")
        self.parts = LaunchParts(self.file, line, str(self.launches), heading["name"], shape)
        self.launches += 1
        self.section, self._rules_seen = "", 0
        return ended

    def _content(self, parts: LaunchParts, line: int, text: str) -> None:
        cells = self.cells(text)
        if cells:
            name = metric_name(self.section, cells[0])
            parts.put(name, metric_of(name, cells[2], cells[1], self.decimal, (self.file, line)), line)
        elif self.section.startswith("GPU Speed Of Light") and sol_title(text):
            parts.rules.append(StoredRule("SOLBottleneck", "SpeedOfLight", sol_title(text), "optimization"))

    def cells(self, text: str) -> list[str]:
        """Return name, unit and value of a table row, empty for any other line."""
        inside = self._rules_seen in (1, 2) and len(self._spans) == _COLUMNS
        if not inside or not text.startswith("    ") or text[4:5] in ("", " "):
            return []
        cells = [text[start:end].strip() for start, end in self._spans]
        if not cells[2] or cells[0] == "Metric Name" or text[self._spans[2][1] :].strip():
            return []
        return cells


def read_ncu_text(path: Path) -> Iterator[KernelProfile]:
    """Yield the profiles of ncu's console output.

    Raises:
        ReportError: The output says that nothing was measured, or a value is damaged (with the line).
    """
    decimal = _decimal(path)
    reading = _Reading(path, decimal)
    collector = Collector(Source(str(path), "ncu-text", "ncu", "nvidia"))
    for line, text in lines_of(path):
        ended = reading.take(line, text)
        if ended is not None:
            collector.add(ended.launch())
    if reading.parts is None:
        raise _nothing(path)
    collector.add(reading.parts.launch())
    yield from collector.profiles("console text has two decimals; the CSV raw page has six")


def _decimal(path: Path) -> Decimal:
    vote = DecimalVote(str(path))
    reading = _Reading(path, ".")
    for line, text in lines_of(path):
        if _HEADING.match(text) or _SECTION.match(text) or _RULE_LINE.match(text):
            reading.take(line, text)
        else:
            cells = reading.cells(text)
            if cells:
                vote.see(cells[2], line)
    return vote.decided


def _nothing(path: Path) -> ReportError:
    for line, text in lines_of(path):
        for mark, (what, fix) in _FAILURES.items():
            if mark in text:
                return ReportError(what, where=path, line=line, fix=fix)
    return ReportError("ncu's console output without a table of metrics", where=path, fix=_CSV_ADVICE)


def _is_text(head: Head) -> bool:
    if head.is_folder:
        return False
    marks = ("==PROF==", "==ERROR==", "==WARNING==")
    if any(line.startswith(marks) for line in head.text.splitlines()):
        return True
    return any(_HEADING.match(line) for line in head.text.splitlines())


NCU_TEXT = Reader("ncu-text", "ncu console text", _is_text, read_ncu_text)
