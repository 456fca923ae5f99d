"""Blocks are what writers of HTML and Markdown agree on."""

from __future__ import annotations

from kopt_kb.base.markup.blocks import Cell, cell


def test_a_text_is_a_cell_without_anything() -> None:
    """And a cell is itself."""
    assert cell("a") == Cell("a", "", (), "")
    one = Cell("a", "b", ("c",), "good")
    assert cell(one) is one
