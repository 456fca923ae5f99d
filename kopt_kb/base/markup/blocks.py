"""What a report is made of before it is HTML or Markdown: sections of tables, facts, pictures and words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from kopt_kb.base.markup.elements import Element

__all__ = [
    "Bullets",
    "Cell",
    "CellText",
    "CodeBlock",
    "FactsBlock",
    "Figure",
    "PageBlock",
    "ReportPage",
    "Section",
    "TableBlock",
    "cell",
]

Tone = Literal["", "good", "bad", "warn", "quiet"]
"""How a cell stands out; its words say the same, colour is never the only sign."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A text with where it comes from.

    Attributes:
        text: What is read.
        note: What stands over it when it is pointed at.
        sources: Where it comes from: over it, and as footnotes.
        tone: How it stands out.
    """

    text: str
    note: str = ""
    sources: tuple[str, ...] = ()
    tone: Tone = ""


CellText = Cell | str


def cell(text: CellText) -> Cell:
    """Return a cell of a text."""
    return text if isinstance(text, Cell) else Cell(text)


@dataclass(frozen=True, slots=True)
class TableBlock:
    """Rows under a head; columns in `right` hold numbers."""

    caption: str
    head: tuple[CellText, ...]
    rows: tuple[tuple[CellText, ...], ...]
    right: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class FactsBlock:
    """Names with their values."""

    rows: tuple[tuple[str, CellText], ...]


@dataclass(frozen=True, slots=True)
class Bullets:
    """Lines of equal weight."""

    items: tuple[CellText, ...]


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """Commands or text that is read letter by letter."""

    text: str


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture: drawn for HTML, as characters for Markdown, with its words."""

    drawn: Element
    characters: str
    caption: str


PageBlock = TableBlock | FactsBlock | Bullets | CodeBlock | Figure | Cell


@dataclass(frozen=True, slots=True)
class Section:
    """Blocks under a heading."""

    title: str
    blocks: tuple[PageBlock, ...]


@dataclass(frozen=True, slots=True)
class ReportPage:
    """A whole report.

    Attributes:
        title: Heading.
        lead: What a reader wants first.
        sections: The rest.
        made_by: Program and version.
    """

    title: str
    lead: tuple[PageBlock, ...]
    sections: Sequence[Section]
    made_by: str
