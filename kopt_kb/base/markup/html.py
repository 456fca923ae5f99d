"""A report as one HTML file: no network, no scripts, sources on hover and as footnotes, for screen and paper."""

from __future__ import annotations

from kopt_kb.base.markup.blocks import (
    Bullets,
    CellText,
    CodeBlock,
    FactsBlock,
    Figure,
    PageBlock,
    ReportPage,
    Section,
    TableBlock,
    cell,
)
from kopt_kb.base.markup.elements import Element, MarkupNode, element
from kopt_kb.base.markup.style import StyleSheet

__all__ = ["POLICY", "fragment", "page"]

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
"""What a browser may load for it: nothing."""


class _Notes:
    """Footnotes in the order of their first use; without them sources stand on hover alone."""

    def __init__(self, *, numbered: bool) -> None:
        self.numbered = numbered
        self.numbers: dict[str, int] = {}

    def marks(self, sources: tuple[str, ...]) -> list[Element]:
        """Return the links to the notes of these sources."""
        if not self.numbered:
            return []
        found = [self.numbers.setdefault(one, len(self.numbers) + 1) for one in sources]
        links = [element("a", str(number), href=f"#note-{number}") for number in found]
        return [element("sup", link) for link in links]

    def section(self) -> Element | None:
        """Return the notes themselves."""
        if not self.numbers:
            return None
        items = [element("li", text, id=f"note-{number}") for text, number in self.numbers.items()]
        heading = element("h2", "Sources", id="sources")
        return element("section", heading, element("ol", *items, class_="notes"), aria_labelledby="sources")


def page(one: ReportPage) -> str:
    """Return the file."""
    notes = _Notes(numbered=True)
    lead = [_block(block, notes) for block in one.lead]
    sections = [_section(each, f"part-{at}", notes) for at, each in enumerate(one.sections, 1)]
    head = element(
        "head", element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="referrer", content="no-referrer"),
        element("title", one.title), element("style", StyleSheet.PAGE), element("style", StyleSheet.PICTURE),
    )  # fmt: skip
    top = element("header", element("h1", one.title), *lead)
    main = element("main", top, *sections, notes.section())
    body = element("body", main, element("footer", element("p", f"Written by {one.made_by}.")))
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


def fragment(*blocks: PageBlock) -> str:
    """Return blocks as a part of somebody's page, such as a notebook's: no sheet, no links."""
    notes = _Notes(numbered=False)
    return str(element("div", *(_block(one, notes) for one in blocks)))


def _section(section: Section, name: str, notes: _Notes) -> Element:
    heading = element("h2", section.title, id=name)
    return element("section", heading, *(_block(block, notes) for block in section.blocks), aria_labelledby=name)


def _block(block: PageBlock, notes: _Notes) -> Element:
    if isinstance(block, TableBlock):
        return _table(block, notes)
    if isinstance(block, FactsBlock) and not notes.numbered:  # a notebook's sheet floats the names of a list
        named = [(element("th", name, scope="row"), _filled("td", text, notes)) for name, text in block.rows]
        return element("table", element("tbody", *(element("tr", *both) for both in named)))
    if isinstance(block, FactsBlock):
        rows = [part for name, text in block.rows for part in (element("dt", name), _filled("dd", text, notes))]
        return element("dl", *rows)
    if isinstance(block, Bullets):
        return element("ul", *(_filled("li", item, notes) for item in block.items))
    if isinstance(block, CodeBlock):
        return element("pre", element("code", block.text), tabindex=0)
    if isinstance(block, Figure):
        drawn = element("div", block.drawn, class_="scroll", tabindex=0, role="group", aria_label=block.caption)
        return element("figure", drawn, element("figcaption", block.caption))
    return _filled("p", block, notes)


def _table(block: TableBlock, notes: _Notes) -> Element:
    def row(texts: tuple[CellText, ...]) -> Element:
        first, *rest = enumerate(texts)
        cells = [_filled("th", first[1], notes, "row", is_number=0 in block.right)]
        return element("tr", *cells, *(_filled("td", each, notes, is_number=at in block.right) for at, each in rest))

    head = [_filled("th", each, notes, "col", is_number=at in block.right) for at, each in enumerate(block.head)]
    rows = element("tbody", *(row(each) for each in block.rows if each))
    table = element("table", element("caption", block.caption), element("thead", element("tr", *head)), rows)
    return element("div", table, class_="scroll", tabindex=0, role="group", aria_label=block.caption)


def _filled(tag: str, text: CellText, notes: _Notes, scope: str | None = None, *, is_number: bool = False) -> Element:
    """Return a cell as an element of this tag: its text, what stands over it, its tone and its footnotes."""
    one = cell(text)
    over = "\n".join(filter(None, (one.note, *one.sources)))
    inner: MarkupNode = element("span", one.text, title=over, class_="noted") if over else one.text
    words = " ".join(filter(None, ("number" if is_number else "", one.tone)))
    return element(tag, inner, *notes.marks(one.sources), class_=words or None, scope=scope)
