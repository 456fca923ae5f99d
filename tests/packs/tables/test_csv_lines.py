"""CSV is cut into lines that keep their letters."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.packs.tables.csv_lines import csv_lines, joined

PATH = Path("a.csv")


def test_lines_keep_letters_and_ends() -> None:
    """Quoted cells too."""
    text = 'a,b\r\n"1,2", 3\n\n4,5'
    lines = csv_lines(text.encode(), PATH)
    assert "".join(one.text for one in lines) == text
    assert [one.cells for one in lines] == [("a", "b"), ("1,2", " 3"), (), ("4", "5")]
    assert [one.is_blank for one in lines] == [False, False, True, False]


def test_cells_are_joined_with_the_end_of_another_line() -> None:
    """What has a comma is quoted; a line without an end gets one."""
    assert joined(["a", "1,2"], "x,y\r\n") == 'a,"1,2"\r\n'
    assert joined(["a"], "x") == "a\n"


@pytest.mark.parametrize(("data", "where"), [(b"\xff", "a.csv"), (b'a\n"b\n', "a.csv:2")])
def test_what_is_no_line_is_named(data: bytes, where: str) -> None:
    """A quoted cell that goes on, and bytes that are no text."""
    with pytest.raises(BadInput) as caught:
        csv_lines(data, PATH)
    assert caught.value.where == where
