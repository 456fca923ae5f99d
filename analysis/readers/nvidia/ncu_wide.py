"""ncu CSV with one row a launch: the raw page, whose second row holds the units."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from kopt_kb.analysis.readers.common.errors import ReportError
from kopt_kb.analysis.readers.common.numerals import Decimal, DecimalVote
from kopt_kb.analysis.readers.nvidia.ncu_parts import LaunchParts, metric_of
from kopt_kb.analysis.readers.nvidia.ncu_rows import Noise, TableRow, rows_of

__all__ = ["read_wide"]

_METRIC = re.compile(r"[A-Za-z][\w.:]*")
_IDENTITY = frozenset({"ID", "Context", "Stream", "Device", "CC"})
_AGAIN = "export the page again"


class _Table:
    """One header with its unit row."""

    def __init__(self, header: TableRow, file: Path) -> None:
        self.file = file
        self.line = header.line
        self.names = header.cells
        self.units: list[str] | None = None
        self._at = {name: index for index, name in reversed(list(enumerate(header.cells)))}
        self.metrics = [
            (index, name)
            for name, index in self._at.items()
            if _METRIC.fullmatch(name) and name not in _IDENTITY and ("_" in name)
        ]
        if "Kernel Name" not in self._at or not self.metrics:
            raise ReportError("the header has no metrics", where=file, line=header.line, fix=_AGAIN)

    def cell(self, row: TableRow, name: str) -> str:
        """Return an identity cell, empty when the table lacks the column."""
        index = self._at.get(name)
        return "" if index is None else row.cells[index]

    def check(self, row: TableRow) -> None:
        """Raise `ReportError` for a row of another length than the header."""
        if len(row.cells) != len(self.names):
            raise ReportError(
                f"{len(row.cells)} cells under a header of {len(self.names)}",
                where=self.file,
                line=row.line,
                fix=_AGAIN,
            )


def read_wide(file: Path, noise: Noise) -> Iterator[LaunchParts]:
    """Yield launches in file order; raises `ReportError` with the line of what can't be."""
    decimal = _decimal(file)
    seen: set[tuple[str, ...]] = set()
    for table, row in _data_rows(file, noise):
        key = (table.cell(row, "Process ID"), table.cell(row, "ID"), str(table.line))
        if key in seen:
            raise ReportError(f"a second row of launch {key[1]}", where=file, line=row.line, fix=_AGAIN)
        seen.add(key)
        yield _parts(table, row, decimal)


def _data_rows(file: Path, noise: Noise) -> Iterator[tuple[_Table, TableRow]]:
    table: _Table | None = None
    for row in rows_of(file, noise):
        if row.cells[0] == "ID":
            table = _Table(row, file)
            continue
        if table is None:
            continue
        table.check(row)
        if table.units is None:
            if row.cells[0]:
                raise ReportError("the row of units is missing", where=file, line=row.line, fix=_AGAIN)
            table.units = row.cells
        elif row.cells[0]:
            yield table, row


def _decimal(file: Path) -> Decimal:
    vote = DecimalVote(str(file))
    for table, row in _data_rows(file, Noise()):
        for index, _ in table.metrics:
            vote.see(row.cells[index], row.line)
    return vote.decided


def _parts(table: _Table, row: TableRow, decimal: Decimal) -> LaunchParts:
    parts = LaunchParts(
        file=table.file,
        line=row.line,
        id=table.cell(row, "ID"),
        name=table.cell(row, "Kernel Name"),
        shape=(table.cell(row, "Grid Size"), table.cell(row, "Block Size"), table.cell(row, "CC")),
    )
    units = table.units or []
    for index, name in table.metrics:
        metric = metric_of(name, row.cells[index], units[index], decimal, (table.file, row.line))
        parts.put(name, metric, "", row.line)
    return parts
