"""People's texts can't break out of a table, a bullet or a quote."""

from __future__ import annotations

from kopt_kb.workspace.views.markdown import bullets, cell, figure, percent, quoted, table


def test_a_cell_is_one_line_without_bars():
    """Newlines become spaces, bars are escaped, nothing is a dash."""
    assert cell("a\n| b") == "a \\| b"
    assert cell("  ") == "-"


def test_numbers():
    """Four significant digits, signed percent, dashes for none."""
    assert (figure(123.456), figure(None), percent(1.5), percent(None)) == ("123.5", "-", "+1.500%", "-")


def test_tables_bullets_and_quotes():
    """Each ends in a blank line or stays one quote."""
    assert table(["A", "B"], [(1, 2)]) == ["| A | B |", "|---|---|", "| 1 | 2 |", ""]
    assert bullets([]) == ["- none", ""]
    assert bullets(["a\nb"]) == ["- a b", ""]
    assert quoted("# x\n\n| y |\n") == ["> # x", ">", "> | y |"]
