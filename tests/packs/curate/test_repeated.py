"""What one document prints in one place is quoted alike on every page."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.packs.curate.repeated import other_quotes
from kopt_kb.wiki.wiki import Wiki

LINE = "row TDP, of all cards"
CELL = "row TDP, column T10"


def quoting(root: Path, places: list[tuple[str, str, str]]) -> list[str]:
    """The invented product again and again, each with a power that is read in a place; the pages that are named."""
    page = root / "hardware/nvidia/t10.md"
    text = page.read_text()
    for number, (watts, locator, quote) in enumerate(places):
        row = f'| board_power | {watts} | W | kind=tdp | vendor | [^sheet] {locator} quote="{quote}" | |'
        named = text.replace("T10 ", f"X{number} ").replace("Test 10", f"Other {number}").replace("T10", f"X{number}")
        (page.parent / f"x{number}.md").write_text(named.replace("| memory_type |", f"{row}\n| memory_type |"))
    page.unlink()
    return sorted({fault.path[-5:-3] for fault in other_quotes(Wiki(root, use_cache=False))})


@pytest.mark.parametrize(
    ("places", "odd"),
    [
        ([("300", LINE, "TDP 575 360 300 W"), ("360", LINE, "TDP 575 360 300 W")], []),
        ([("300", LINE, "TDP 575 360 300 W"), ("575", LINE, "TDP 575 \\| 360 \\| 350 W")], ["x0", "x1"]),
        ([("300", LINE, "TDP 575 360 300 W"), ("575", LINE, "TGP 575 360 350 W")], []),
        ([("300", LINE, "TDP 575 360 300 W"), ("575", LINE, "TDP 575 300 350 W")], []),
        ([("300", LINE, "TDP 5 3 300 W"), ("350", LINE, "TDP 5 3 350 W")], []),
        ([("300", LINE, "300 W"), ("350", LINE, "350 W")], []),
        ([("300", CELL, "300 W"), ("350", CELL, "350 W")], ["x0", "x1"]),
        ([("300", CELL, "300 W"), ("300", CELL, "300 W")], []),
        ([("300", CELL, "300 W"), ("350", CELL, "up to 350 W")], []),
        ([("300", CELL, "fp16x2, 300 W"), ("300", CELL, "fp16x2, 300 W")], []),
        ([("300", LINE, "TDP 575 360 300 # W"), ("575", LINE, "TDP 575 360 300 40 W")], []),
    ],
)
def test_quotes_of_one_place(wiki_root: Path, places: list[tuple[str, str, str]], odd: list[str]) -> None:
    """A named cell has one number; a line is recognised by two numbers of two digits among at least three."""
    assert quoting(wiki_root, places) == odd


def test_the_other_page_is_named(wiki_root: Path) -> None:
    """A reader is told where to look."""
    quoting(wiki_root, [("300", CELL, "300 W"), ("350", CELL, "350 W")])
    first = next(iter(other_quotes(Wiki(wiki_root, use_cache=False))))
    assert (first.code, "hardware/nvidia/x1.md:" in first.message) == ("WK406", True)
