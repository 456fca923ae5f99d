"""What is wrong with a table by itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from kopt_kb.doors.table_form import TableForm
from kopt_kb.packs.tables.form_checks import form_findings, spans
from kopt_kb.problem.tuned_table import TunedRow, TunedTable, nearest_row


def serves(table: TunedTable, extents: Mapping[str, int]) -> TunedRow | None:
    """The nearest row."""
    return nearest_row(table, "tokens", extents["tokens"])


FORM = TableForm(
    name="tiles",
    what="tiles",
    recognises=lambda *_: False,
    read=lambda *_: table(1),
    write=lambda *_: b"",
    serves=serves,
    settings=frozenset({"tile"}),
)


def table(*tokens: int, tiles: tuple[int, ...] = ()) -> TunedTable:
    """A table with a row a number of tokens."""
    sizes = tiles or tuple(range(len(tokens)))
    rows = [
        TunedRow(str(one), {"tile": size}, line, {"tokens": one})
        for line, (one, size) in enumerate(zip(tokens, sizes, strict=True), 2)
    ]
    return TunedTable("tiles", "a.json", "", {}, tuple(rows), kernel="moe")


def said(one: TunedTable, form: TableForm = FORM) -> list[tuple[str, str, str]]:
    """Kind, key and text of each finding."""
    return [(found.kind, found.key, found.message) for found in form_findings(one, form, "a.json")]


def test_spans_say_which_row_serves_which_sizes() -> None:
    """The first of two that are as near; the file's order does not matter for sizes."""
    assert [(one.key, one.first, one.last) for one in spans(table(1, 4, 16), FORM)] == [
        ("1", 1, 2), ("4", 3, 10), ("16", 11, None),
    ]  # fmt: skip
    assert [(one.key, one.first, one.last) for one in spans(table(16, 4), FORM)] == [("4", 1, 9), ("16", 10, None)]


@pytest.mark.parametrize("one", [table(), replace(table(1), rows=(TunedRow("a", {}),)), table(2, 2)])
def test_no_spans_where_rows_are_no_ladder(one: TunedTable) -> None:
    """Without rows, without extents, with an extent twice."""
    assert spans(one, FORM) == ()
    assert spans(table(1), replace(FORM, serves=None)) == ()
    two = replace(table(1), rows=(TunedRow("a", {}, sizes={"M": 1, "N": 2}),))
    assert spans(two, FORM) == ()


def test_gaps_name_who_serves_them() -> None:
    """More than a factor of two between neighbours, and below the first."""
    assert said(table(1, 2, 4)) == []
    assert said(table(2, 4)) == []
    assert said(table(64, 128)) == [("gap", "64", "1 to 63 tokens have no row, this one serves them")]
    assert said(table(1, 3)) == [("gap", "1", "2 to 2 tokens have no row: up to 2 this row serves them, then row 3")]
    late = replace(table(1, 3), rows=tuple(reversed(table(1, 3).rows)))
    assert said(late) == [("gap", "1", "2 to 2 tokens have no row: row 3 serves them")]


def test_redundant_rows_change_nothing() -> None:
    """Between two alike, or last behind one; the first of two is needed where they end."""
    assert said(table(1, 2, 4, tiles=(5, 5, 5))) == [
        ("redundant-row", "2", "sets the same as row 1 and row 4"),
        ("redundant-row", "4", "sets the same as row 2"),
    ]
    assert said(table(1, 2, 4, tiles=(5, 5, 6))) == []


def test_strange_and_shadowed_rows_are_named() -> None:
    """By the form's settings, and by key and device."""
    odd = replace(table(1), rows=(TunedRow("1", {"tiles": 3}, 2, {"tokens": 1}),))
    assert said(odd) == [("unknown-setting", "1", "tiles is no setting of moe")]
    assert said(odd, replace(FORM, settings=frozenset())) == []
    rows = tuple(
        TunedRow("1,2", {}, line, device="gfx942:304", facts={"us": time}) for line, time in ((2, "9"), (5, "7"))
    )
    twice = replace(table(), rows=(*rows, replace(rows[0], device="gfx950:256", line=6)))
    assert said(twice) == [("shadowed-row", "1,2", "line 5 is for the same, 9 us here and 7 there")]
