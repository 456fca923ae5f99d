"""Tables of logs: Markdown, CSV and TSV, each row with a round or with a name and a speed is one record."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kopt_kb.packs.foreign_logs.names import PERFORMANCE, is_claim, role_of
from kopt_kb.packs.foreign_logs.record import (
    ClaimedDecision,
    Field,
    ForeignRecord,
    LogForm,
    decision_in,
    round_in_path,
    round_number,
)
from kopt_kb.packs.foreign_logs.tree import Unread
from kopt_kb.wiki.tables import split_cells

__all__ = ["LogTable", "markdown_tables", "records_of", "separated"]

_RULE = re.compile(r"[|\-: ]+")
_MOST_FIELD = 1 << 20
_CODE = 200


@dataclass(frozen=True, slots=True)
class LogTable:
    """A table as it stands: its form, header, and rows with their lines."""

    file: str
    form: LogForm
    line: int
    header: tuple[str, ...]
    rows: tuple[tuple[int, tuple[str, ...]], ...]

    @property
    def roles(self) -> tuple[str, ...]:
        """Role of each column."""
        return tuple(map(role_of, self.header))

    @property
    def is_log(self) -> bool:
        """Whether its rows are about speed."""
        return is_claim(self.roles) and bool({"round", "item"} & set(self.roles))


def markdown_tables(file: str, text: str) -> Iterator[LogTable | Unread]:
    """Yield the tables of a Markdown text, and each row that has another number of cells than its header."""
    lines = text.split("\n")
    at = 0
    while at < len(lines) - 1:
        header, rule = split_cells(lines[at]), split_cells(lines[at + 1])
        if header is None or rule is None or not _RULE.fullmatch(lines[at + 1].strip()):
            at += 1
            continue
        start, rows = at + 1, []
        at += 2
        while at < len(lines) and (cells := split_cells(lines[at])) is not None:
            if len(cells) == len(header):
                rows.append((at + 1, tuple(cells)))
            else:
                yield Unread(file, at + 1, f"a row with {len(cells)} cells under a header of {len(header)}")
            at += 1
        yield LogTable(file, "markdown table", start, tuple(header), tuple(rows))


def separated(file: str, text: str, form: LogForm) -> Iterator[LogTable | Unread]:
    """Yield the table of a CSV or TSV text; rows of another length than the header are named."""
    csv.field_size_limit(_MOST_FIELD)
    reader = csv.reader(io.StringIO(text), delimiter="\t" if form == "tsv" else ",")
    header: list[str] | None = None
    rows: list[tuple[int, tuple[str, ...]]] = []
    line = 1
    try:
        for cells in reader:
            first, line = line, reader.line_num + 1
            if not any(cells) or (header is None and cells[0].lstrip().startswith("#")):
                continue
            if header is None:
                header = cells
            elif len(cells) != len(header):
                yield Unread(file, first, f"a row with {len(cells)} cells under a header of {len(header)}")
            else:
                rows.append((first, tuple(cells)))
    except csv.Error as error:
        yield Unread(file, reader.line_num, f"is no {form.upper()}: {error}")
    if header is not None:
        yield LogTable(file, form, 1, tuple(header), tuple(rows))


def records_of(table: LogTable) -> Iterator[ForeignRecord]:
    """Yield a record for each row of a table about speed.

    A table without a round of its own, in the folder of a round, details that round.
    """
    if not table.is_log:
        return
    roles, around = table.roles, round_in_path(table.file)
    numbered = any(
        role == "round" and any(round_number(cells[at]) is not None for _, cells in table.rows)
        for at, role in enumerate(roles)
    )
    for line, cells in table.rows:
        fields = tuple(
            Field(role, name, cell, line)
            for role, name, cell in zip(roles, table.header, cells, strict=True)
            if cell.strip() and role != "none"
        )
        if not any(one.role in PERFORMANCE and one.value is not None for one in fields):
            continue
        own = _round(fields) if numbered else None
        items = [one.text.strip() for one in fields if one.role == "item" and len(one.text) < _CODE]
        item = ", ".join(dict.fromkeys(items))[:_CODE]
        number = own if own is not None else around
        label = f"round {own}" if own is not None else item or f"row {line}"
        of_round = around is not None and own is None
        yield ForeignRecord(table.file, line, table.form, label, number, item, _decision(fields), fields, (), of_round)


def _round(fields: Sequence[Field]) -> int | None:
    found = (round_number(one.text) for one in fields if one.role == "round")
    return next((one for one in found if one is not None), None)


def _decision(fields: Sequence[Field]) -> ClaimedDecision:
    said = [one.text for one in fields if one.role == "decision"]
    said += [one.text for one in fields if one.role == "check"]
    said += [one.text for one in fields if one.role == "item" and "baseline" in one.text.casefold()][:1]
    return decision_in(said)
