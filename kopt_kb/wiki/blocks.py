"""Blocks of a Markdown page: paragraphs, list items, table rows and code, each with its line and section."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

__all__ = ["Outline", "TextBlock", "is_prose", "paired", "read_blocks"]

_REFERENCE = re.compile(r"\[\^([A-Za-z0-9_.\-]+)\]")
_DEFINITION = re.compile(r"^\[\^[A-Za-z0-9_.\-]+\]:")
_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")
_FENCE = re.compile(r"^\s*(```+|~~~+)")


@dataclass(frozen=True, slots=True)
class TextBlock:
    """One paragraph, list item, table row or code block.

    Attributes:
        kind: text, item, row or code.
        line: First line, counted from 1.
        heading: The H2 it stands under; empty above the first.
    """

    kind: str
    line: int
    heading: str
    text: str

    @property
    def sources(self) -> tuple[str, ...]:
        """Ids of the footnotes it cites; code cites nothing."""
        return tuple(_REFERENCE.findall(self.text)) if self.kind != "code" else ()


@dataclass(slots=True)
class Outline:
    """Blocks and headings of a page; headings keep their # and stand by line."""

    blocks: list[TextBlock] = field(default_factory=list)
    headings: dict[int, str] = field(default_factory=dict)
    open_fence: int = 0
    """Line of a code fence that is never closed; 0 when there is none."""

    def titles(self, level: int) -> list[tuple[int, str]]:
        """Return (line, text) of the headings of that level."""
        mark = "#" * level + " "
        return [(line, text[len(mark) :].strip()) for line, text in self.headings.items() if text.startswith(mark)]


class _Scanner:
    def __init__(self) -> None:
        self.outline = Outline()
        self.heading = ""
        self.kind = ""
        self.first = 0
        self.held: list[str] = []
        self.fence = ""

    def close(self) -> None:
        if self.held:
            self.outline.blocks.append(TextBlock(self.kind, self.first, self.heading, "\n".join(self.held)))
        self.held = []

    def start(self, kind: str, number: int, line: str) -> None:
        self.close()
        self.kind, self.first, self.held = kind, number, [line]

    def feed(self, number: int, line: str) -> None:
        mark = _FENCE.match(line)
        if self.fence:
            self.held.append(line)
            if mark is not None and mark[1].startswith(self.fence):
                self.fence = ""
                self.close()
        elif mark is not None:
            self.start("code", number, line)
            self.fence = mark[1]
        else:
            self.feed_prose(number, line)

    def feed_prose(self, number: int, line: str) -> None:
        if line.startswith("#"):
            self.close()
            self.outline.headings[number] = line
            self.heading = line[3:].strip() if line.startswith("## ") else self.heading
        elif not line.strip() or _DEFINITION.match(line):
            self.close()
        elif line.lstrip().startswith("|"):
            self.start("row", number, line)
        elif _ITEM.match(line):
            self.start("item", number, line)
        elif self.held and self.kind in {"text", "item"}:
            self.held.append(line)
        else:
            self.start("text", number, line)


def read_blocks(lines: Sequence[str], start: int) -> Outline:
    """Return the outline of the lines after the first `start` (the front matter)."""
    scanner = _Scanner()
    for number, line in enumerate(lines[start:], start + 1):
        scanner.feed(number, line)
    scanner.outline.open_fence = scanner.first if scanner.fence else 0
    scanner.close()
    return scanner.outline


def is_prose(block: TextBlock, previous: TextBlock | None) -> bool:
    """Return whether a block makes claims: no code, no table header or separator, no line that only introduces."""
    if block.kind == "code" or block.text.rstrip().endswith(":"):
        return False
    if block.kind != "row":
        return True
    header = previous is None or previous.kind != "row" or previous.line != block.line - 1
    return not header and not set(block.text.strip()) <= set("|-: ")


def paired(blocks: Sequence[TextBlock]) -> Iterator[tuple[TextBlock, TextBlock | None]]:
    """Yield each block with the one before it."""
    previous: TextBlock | None = None
    for block in blocks:
        yield block, previous
        previous = block
