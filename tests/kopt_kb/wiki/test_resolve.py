"""Rows become quantities only after their line was read again."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.base.errors import UnknownData
from kopt_kb.quantity.citation import Citation
from kopt_kb.quantity.quantity import Quantity
from kopt_kb.wiki.faults import WikiFaults
from kopt_kb.wiki.registry import Registry
from kopt_kb.wiki.resolve import citation_of, headings_above, quantity_of, reread, verify
from kopt_kb.wiki.wiki import Wiki


@pytest.fixture
def wiki(wiki_root: Path) -> Wiki:
    """The invented wiki."""
    return Wiki(wiki_root)


def test_citations_of_all_shipped_rows_verify() -> None:
    """Each row of the wiki is found again by its own citation, printed and parsed."""
    from kopt_kb.wiki.places import default_root

    shipped = Wiki(default_root())
    for identity in shipped.names.identities.values():
        for row in shipped.sheet(identity).rows:
            printed = Citation.parse(str(citation_of(row)))
            assert verify(shipped, printed)[0] == "ok"


def test_a_parent_that_is_gone_is_noticed(wiki: Wiki) -> None:
    """Derived quantities read the lines of their parents too."""
    identity = wiki.names.resolve("T10")
    sheet = wiki.sheet(identity)
    row = next(row for row in sheet.rows if row.grade == "derived")
    assert isinstance(quantity_of(wiki, sheet, row, "T10"), Quantity)
    wiki._bytes["targets/sm_00.md"] = (wiki.read("targets/sm_00.md") or b"").replace(
        b"| lanes_per_sm | 128 |", b"| lanes_per_sm | 64 |"
    )
    with pytest.raises(WikiFaults, match="lanes_per_sm"):
        quantity_of(wiki, sheet, row, "T10")


def test_a_parent_without_a_value_is_no_parent_less(wiki_root: Path) -> None:
    """A derived row whose formula names an UNKNOWN row is refused: its quantity would rest on fewer rows than it says."""
    page = wiki_root / "hardware" / "nvidia" / "t10.md"
    lines = page.read_text().splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("| sm_count |"))
    lines[at] = "| sm_count | UNKNOWN | count | - | - | - | reason: the sheet is silent |"
    page.write_text("\n".join(lines) + "\n")
    wiki = Wiki(wiki_root)
    sheet = wiki.sheet(wiki.names.resolve("T10"))
    row = next(row for row in sheet.rows if row.grade == "derived" and "sm_count" in row.note("formula"))
    with pytest.raises(UnknownData, match="T10 sm_count is UNKNOWN: the sheet is silent"):
        quantity_of(wiki, sheet, row, "T10")


def test_reread_accepts_the_row_as_it_stands(wiki: Wiki) -> None:
    """And nothing is raised."""
    for row in wiki.sheet(wiki.names.resolve("T10")).rows:
        reread(wiki, row)


def test_a_section_in_place_of_a_line() -> None:
    """The row is looked up under that heading; under another one it has moved, and with another value it changed."""
    wiki = Registry.open().wiki
    platform = Registry.open().platform("H20")
    row = platform.row("memory_bandwidth")
    assert row is not None
    text = (wiki.read(row.path) or b"").decode()
    section = next(iter(headings_above(text, row.line) - {text.split("# ", 1)[1].split("\n")[0]}))
    cite = f"{row.key}: {row.value} {row.unit} <- <gpu-wiki>/{row.path}:"
    assert verify(wiki, Citation.parse(cite + section))[0] == "ok"
    assert verify(wiki, Citation.parse(f"{cite}No such section"))[0] == "moved"
    wrong = cite.replace(f" {row.value} ", " 99 ")
    assert verify(wiki, Citation.parse(wrong + section))[0] == "changed"
