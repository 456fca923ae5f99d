"""Markdown tables: cells of raw lines, rows under a header, and a writer whose text the reader takes back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kopt_kb.wiki.tables import cell, rows_under, split_cells, table

pytestmark = pytest.mark.core


@pytest.mark.parametrize(
    ("line", "cells"),
    [("| a | b |", ["a", "b"]), ("|a|b|", ["a", "b"]), (r"| a \| b | c |", ["a | b", "c"]), ("| |  |", ["", ""]), ("a | b", None), ("| a | b", None), (r"| a \|", None), ("|", None), ("", None)],
)  # fmt: skip
def test_cells(line: str, cells: list[str] | None) -> None:
    """Pipes at both ends, escapes kept apart from borders."""
    assert split_cells(line) == cells


def test_rows_stand_under_their_header_until_a_blank_line() -> None:
    """Two tables with this header are read, one with another is not; separators are no rows."""
    page = ["| A | B |", "|---|:-:|", "| 1 | 2 |", "", "| C | D |", "|---|---|", "| x | y |", "", "|A|B|", "|3|4|"]
    assert list(rows_under(page, ("A", "B"))) == [(3, ["1", "2"]), (10, ["3", "4"])]


def test_a_line_in_a_table_that_is_no_row_does_not_end_it_unseen() -> None:
    """It is handed out without cells, and what follows is still read; outside of a table it means nothing."""
    page = ["text", "| A |", "|---|", "| 1 ", "| 2 |", "glued", "", "after"]
    assert list(rows_under(page, ("A",))) == [(4, None), (5, ["2"]), (6, None)]


def test_a_cell_is_one_line_without_bars() -> None:
    """Newlines become spaces, bars are escaped, nothing is a dash."""
    assert cell("a\n| b") == "a \\| b"
    assert cell("  ") == "-"
    assert table(["A", "B"], [(1, "x|y")]) == ["| A | B |", "|---|---|", "| 1 | x\\|y |", ""]


@given(st.lists(st.lists(st.text("ab |\n1-", min_size=1, max_size=6), min_size=2, max_size=2), min_size=1, max_size=4))
def test_what_is_written_is_read_back(rows: list[list[str]]) -> None:
    """White space apart, every text comes back; a row of dashes alone looks like a separator and is left out here."""
    wanted = [[" ".join(text.split()) or "-" for text in row] for row in rows]
    wanted = [row for row in wanted if set("".join(row)) - set("|- ")]
    found = [cells for _, cells in rows_under(table(["A", "B"], wanted), ("A", "B"))]
    assert found == wanted
