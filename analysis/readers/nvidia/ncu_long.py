"""ncu CSV with one row a metric: the details page and `ncu --csv` while profiling, dialects of 2020 to 2026."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from kopt_kb.analysis.profile import StoredRule
from kopt_kb.analysis.profile.launch import RuleKind
from kopt_kb.analysis.readers.common.errors import ReportError
from kopt_kb.analysis.readers.common.numerals import Decimal, DecimalVote, number
from kopt_kb.analysis.readers.nvidia.ncu_labels import metric_name, sol_title
from kopt_kb.analysis.readers.nvidia.ncu_parts import LaunchParts, metric_of
from kopt_kb.analysis.readers.nvidia.ncu_rows import Noise, TableRow, rows_of

__all__ = ["read_long"]

_NEEDED = ("ID", "Kernel Name", "Metric Name", "Metric Unit", "Metric Value")
_KINDS: dict[str, RuleKind] = {"OPT": "optimization", "INF": "ok", "WRN": "warning", "ERR": "error"}
_SCOPES: dict[str, Literal["local", "global"]] = {"local": "local", "global": "global"}
_AGAIN = "export the page again"


class _Columns:
    """Cells of a row by column name."""

    def __init__(self, header: TableRow, file: Path) -> None:
        self._at = {name: index for index, name in enumerate(header.cells)}
        missing = [name for name in _NEEDED if name not in self._at]
        if missing:
            raise ReportError(f"the header lacks {', '.join(missing)}", where=file, line=header.line, fix=_AGAIN)
        self.needed = self._at["Metric Value"] + 1

    def cell(self, row: TableRow, name: str) -> str:
        """Return a cell, empty when the table or the row lacks it."""
        index = self._at.get(name)
        return row.cells[index] if index is not None and index < len(row.cells) else ""


def read_long(file: Path, noise: Noise) -> Iterator[LaunchParts]:
    """Yield launches in file order.

    Raises:
        ReportError: A row is short, contradicts its launch or stands apart from it, with its line.
    """
    decimal = _decimal(file)
    columns: _Columns | None = None
    done: set[tuple[int, str, str]] = set()
    current: _Open | None = None
    table = 0
    for row in rows_of(file, noise):
        if row.cells[0] == "ID":
            columns, table = _Columns(row, file), table + 1
            continue
        if columns is None or len(row.cells) < columns.needed:
            raise ReportError(f"a row of {len(row.cells)} cells is cut short", where=file, line=row.line, fix=_AGAIN)
        key = (table, columns.cell(row, "Process ID"), columns.cell(row, "ID"))
        if current is None or current.ends_before(key, columns, row):
            if current is not None:
                yield current.parts
            if key in done:
                raise ReportError(f"rows of launch {key[2]} stand apart", where=file, line=row.line, fix=_AGAIN)
            done.add(key)
            current = _Open(key, _start(columns, row, file))
        current.seen.add(_content(columns, row))
        _take(current.parts, columns, row, decimal)
    if current is not None:
        yield current.parts


@dataclass(slots=True)
class _Open:
    """The launch whose rows are being read."""

    key: tuple[int, str, str]
    parts: LaunchParts
    seen: set[tuple[str, str]] = field(default_factory=set)

    def ends_before(self, key: tuple[int, str, str], columns: _Columns, row: TableRow) -> bool:
        """Return whether a row belongs to the next launch; a process id alone only with a repeated metric."""
        if key == self.key:
            return False
        if (key[0], key[2]) == (self.key[0], self.key[2]) and _content(columns, row) not in self.seen:
            raise ReportError(f"the row contradicts launch {key[2]}", where=self.parts.file, line=row.line, fix=_AGAIN)
        return True


def _content(columns: _Columns, row: TableRow) -> tuple[str, str]:
    return columns.cell(row, "Section Name"), columns.cell(row, "Metric Name")


def _decimal(file: Path) -> Decimal:
    vote = DecimalVote(str(file))
    columns: _Columns | None = None
    for row in rows_of(file, Noise()):
        if row.cells[0] == "ID":
            columns = _Columns(row, file)
        elif columns is not None:
            vote.see(columns.cell(row, "Metric Value"), row.line)
    return vote.decided


def _shape(columns: _Columns, row: TableRow) -> tuple[str, str, str]:
    return columns.cell(row, "Grid Size"), columns.cell(row, "Block Size"), columns.cell(row, "CC")


def _start(columns: _Columns, row: TableRow, file: Path) -> LaunchParts:
    return LaunchParts(
        file=file,
        line=row.line,
        id=columns.cell(row, "ID"),
        name=columns.cell(row, "Kernel Name"),
        shape=_shape(columns, row),
    )


def _take(parts: LaunchParts, columns: _Columns, row: TableRow, decimal: Decimal) -> None:
    if (columns.cell(row, "Kernel Name"), _shape(columns, row)) != (parts.name, parts.shape):
        raise ReportError(f"the row contradicts launch {parts.id}", where=parts.file, line=row.line, fix=_AGAIN)
    label = columns.cell(row, "Metric Name")
    if label:
        value, unit = columns.cell(row, "Metric Value"), columns.cell(row, "Metric Unit")
        section = columns.cell(row, "Section Name")
        name = metric_name(section, label, unit)
        parts.put(name, metric_of(name, value, unit, decimal, (parts.file, row.line)), section, row.line)
    elif columns.cell(row, "Rule Name"):
        parts.rules.append(_rule(columns, row, decimal))
    else:
        raise ReportError("a row with neither metric nor rule", where=parts.file, line=row.line, fix=_AGAIN)


def _rule(columns: _Columns, row: TableRow, decimal: Decimal) -> StoredRule:
    rule = columns.cell(row, "Rule Name")
    return StoredRule(
        rule=rule,
        section=columns.cell(row, "Section Name"),
        title=sol_title(columns.cell(row, "Rule Description")) if rule == "SOLBottleneck" else "",
        kind=_KINDS.get(columns.cell(row, "Rule Type"), "none"),
        speedup_pct=number(columns.cell(row, "Estimated Speedup"), decimal),
        scope=_SCOPES.get(columns.cell(row, "Estimated Speedup Type")),
    )
