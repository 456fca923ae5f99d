"""Pages: whole without a network or scripts, headings in order, tables with scopes, sources as notes."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from kopt_kb.base.markup.blocks import Bullets, Cell, CodeBlock, FactsBlock, Figure, ReportPage, Section, TableBlock
from kopt_kb.base.markup.elements import element
from kopt_kb.base.markup.html import POLICY, fragment, page
from tests.kopt_kb.base.markup.test_elements import HOSTILE

VOID = {"meta"}


class Outline(HTMLParser):
    """Elements with their attributes; refuses what is not nested."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def all(self, tag: str) -> list[dict[str, str | None]]:
        """Attributes of all elements of a name."""
        return [values for name, values in self.found if name == tag]


def whole(text: str = "words") -> str:
    """A page with a block of every kind, this text everywhere."""
    table = TableBlock(text, (text, text), ((text, Cell(text, text, (text, "page.md:L1"), "good")),), frozenset({1}))
    figure = Figure(element("svg", element("text", text), viewBox="0 0 1 1"), text, text)
    blocks = (table, FactsBlock(((text, text),)), Bullets((text,)), CodeBlock(text), figure, Cell(text, text))
    return page(ReportPage(text, (text and Cell(text),), (Section(text, blocks),), "kopt-kb 1"))


def test_the_policy_forbids_everything_but_the_sheet() -> None:
    """It stands before the first element that could load; nothing in the page would load anyway."""
    outline = Outline(whole())
    metas = outline.all("meta")
    assert metas[0] == {"charset": "utf-8"}
    assert metas[1] == {"http-equiv": "Content-Security-Policy", "content": POLICY}
    assert POLICY.startswith("default-src 'none'; style-src 'unsafe-inline'; img-src data:")
    loads = {"src", "srcset", "action", "data", "background", "poster"}
    assert not [values for _, values in outline.found if loads & set(values)]
    assert all((values["href"] or "").startswith("#") for values in outline.all("a"))


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_change_no_element(text: str) -> None:
    """The page of hostile words has the elements of the page of harmless ones."""
    harmless = [(name, set(values)) for name, values in Outline(whole()).found]
    assert [(name, set(values)) for name, values in Outline(whole(text)).found] == harmless


def test_headings_tables_and_notes_can_be_walked() -> None:
    """One h1, sections named by their headings, scopes at every head, a note for each source, once."""
    outline = Outline(whole())
    assert len(outline.all("h1")) == 1
    ids = [values["id"] for name, values in outline.found if "id" in values and name in {"h2", "li"}]
    assert len(ids) == len(set(ids))
    assert [one["aria-labelledby"] for one in outline.all("section")] == ["part-1", "sources"]
    assert {one.get("scope") for one in outline.all("th")} == {"col", "row"}
    assert len(outline.all("caption")) == len(outline.all("table")) == 1
    assert {values["href"] for values in outline.all("a")} == {f"#{one}" for one in ids if str(one).startswith("note")}
    assert outline.all("html") == [{"lang": "en"}]


def test_what_stands_over_a_cell_is_its_note_and_its_sources() -> None:
    """The title of the very text; the number leads to the note."""
    text = page(ReportPage("t", (Cell("4.8", "memory", ("page.md:L1",)),), (), "kopt-kb"))
    assert 'title="memory&#10;page.md:L1"' in text
    assert '<sup><a href="#note-1">1</a></sup>' in text
    assert '<li id="note-1">page.md:L1</li>' in text


def test_a_fragment_brings_no_sheet_and_no_links() -> None:
    """It goes into somebody's notebook."""
    outline = Outline(fragment(TableBlock("c", ("a",), ((Cell("b", "", ("s",)),),))))
    assert not {"style", "a", "html", "meta"} & {name for name, _ in outline.found}
    assert outline.all("span")[0]["title"] == "s"


def test_facts_of_a_fragment_are_rows_of_a_table() -> None:
    """A notebook's sheet floats the names of a list: long ones slid beside the next value."""
    outline = Outline(fragment(FactsBlock((("attainable, measured roofs", "2.754 TFLOP/s"), ("target", Cell("x"))))))
    names = [name for name, _ in outline.found]
    assert not {"dl", "dt", "dd"} & set(names)
    assert [name for name in names if name in {"tr", "th", "td"}] == ["tr", "th", "td"] * 2
    assert [one["scope"] for one in outline.all("th")] == ["row", "row"]
