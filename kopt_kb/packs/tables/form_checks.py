"""What is wrong with a table by itself: no compiler, no engine, no device is asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from kopt_kb.base.wire import Wire
from kopt_kb.doors.table_form import TableForm
from kopt_kb.packs.tables.findings import TableFinding
from kopt_kb.problem.tuned_table import TunedRow, TunedTable

__all__ = ["RowSpan", "form_findings", "spans"]

_WIDEST_STEP = 2

Serves = Callable[[TunedTable, Mapping[str, int]], TunedRow | None]


@dataclass(frozen=True, slots=True)
class RowSpan(Wire):
    """Which sizes a row serves.

    Attributes:
        key: The row.
        size: What is counted, such as tokens.
        first: Least size.
        last: Largest size; None: all above.
    """

    key: str
    size: str
    first: int
    last: int | None


def spans(table: TunedTable, form: TableForm) -> tuple[RowSpan, ...]:
    """Return which sizes each row serves, in order of size; empty where rows differ in more than one extent."""
    ladder = _ladder(table)
    if form.serves is None or ladder is None:
        return ()
    name, rows = ladder
    starts = [1]
    starts += [_first_of_next(table, form.serves, name, one, other) for one, other in pairwise(rows)]
    ends: list[int | None] = [*(start - 1 for start in starts[1:]), None]
    return tuple(RowSpan(row.key, name, *each) for row, each in zip(rows, zip(starts, ends, strict=True), strict=True))


def form_findings(table: TunedTable, form: TableForm, file: str) -> Iterator[TableFinding]:
    """Yield what is wrong with settings and sizes of the rows."""
    yield from _strange(table, form, file)
    yield from _shadowed(table, file)
    found = spans(table, form)
    if not found:
        return
    lines = {row.key: row for row in table.rows}
    if found[0].size and (size := lines[found[0].key].sizes[found[0].size]) > 1 + _WIDEST_STEP:
        what = f"1 to {size - 1} {found[0].size} have no row, this one serves them"
        yield TableFinding("gap", file, what, lines[found[0].key].line, found[0].key)
    for one, other in pairwise(found):
        yield from _between(lines[one.key], lines[other.key], one, file)
    yield from _redundant([lines[one.key] for one in found], file)


def _ladder(table: TunedTable) -> tuple[str, list[TunedRow]] | None:
    names = {tuple(row.sizes) for row in table.rows if row.sizes}
    if len(names) != 1 or len(next(iter(names))) != 1:
        return None
    (name,) = next(iter(names))
    rows = sorted((row for row in table.rows if row.sizes), key=lambda row: row.sizes[name])
    return (name, rows) if len({row.sizes[name] for row in rows}) == len(rows) else None


def _first_of_next(table: TunedTable, serves: Serves, name: str, one: TunedRow, other: TunedRow) -> int:
    """Return the least size that the larger of two neighbours serves."""
    low, high = one.sizes[name], other.sizes[name]
    while high - low > 1:
        middle = (low + high) // 2
        taken = serves(table, {**table.shape, name: middle})
        low, high = (low, middle) if taken is not None and taken.key == other.key else (middle, high)
    return high


def _between(one: TunedRow, other: TunedRow, span: RowSpan, file: str) -> Iterator[TableFinding]:
    low, high = one.sizes[span.size], other.sizes[span.size]
    if high > _WIDEST_STEP * low and high - low > 1 and span.last is not None:
        served = (
            f"up to {span.last} this row serves them, then row {other.key}"
            if span.last > low
            else f"row {other.key} serves them"
        )
        yield TableFinding("gap", file, f"{low + 1} to {high - 1} {span.size} have no row: {served}", one.line, one.key)


def _redundant(rows: list[TunedRow], file: str) -> Iterator[TableFinding]:
    """Yield rows between two that set the same, and the last one behind such a row."""
    for before, row, after in zip([None, *rows], rows, [*rows[1:], None], strict=False):
        beside = [one for one in (before, after) if one is not None]
        if beside and before is not None and all(_settings(one) == _settings(row) for one in beside):
            what = f"sets the same as {' and '.join(f'row {one.key}' for one in beside)}"
            yield TableFinding("redundant-row", file, what, row.line, row.key)


def _settings(row: TunedRow) -> dict[str, tuple[type, object]]:
    return {name: (type(value), value) for name, value in row.settings.items()}


def _strange(table: TunedTable, form: TableForm, file: str) -> Iterator[TableFinding]:
    if not form.settings:
        return
    for row in table.rows:
        strange = [name for name in row.settings if name not in form.settings]
        if strange:
            what = f"{', '.join(strange)} is no setting of {table.kernel}"
            yield TableFinding("unknown-setting", file, what, row.line, row.key)


def _shadowed(table: TunedTable, file: str) -> Iterator[TableFinding]:
    """Yield rows for which a later one of the same key stands in the table."""
    last = {(row.key, row.device): row for row in table.rows}
    for row in table.rows:
        other = last[row.key, row.device]
        if other is not row:
            times = [one.facts.get("us", "") for one in (row, other)]
            timed = f", {times[0]} us here and {times[1]} there" if all(times) else ""
            what = f"line {other.line} is for the same{timed}"
            yield TableFinding("shadowed-row", file, what, row.line, row.key)
