"""The blocks of a page that matter: headings, tables, code.

Pages as this project writes them hold headings, paragraphs and tables from the margin, each beginning with what nothing
else begins with; their blocks are seen from the lines. A page with anything more is read by the Markdown parser, whose
loading takes longer than a lookup has work. Where both can read, both say the same; a test holds them together.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

__all__ = ["PageBlock", "blocks", "parsed_blocks", "plain_blocks"]

_PARAGRAPH = re.compile(r"(?!\d+[.)](\s|$)|```)[A-Za-z0-9\[(\"'`]|\*\*\S")
_HEADING = re.compile(r"(#{1,6}) +([^#\s]([^#]*[^#\s])?) *")
_DELIMITER = re.compile(r"\|( *:?-+:? *\|)+ *")
_MOST_COLUMNS = 20
"""The parser stops a table whose short rows lack very many cells; so few columns never come to that."""


@dataclass(frozen=True, slots=True)
class PageBlock:
    """A block of a page.

    Attributes:
        kind: `h1` to `h6`, `table` or `code`.
        first: Its first line, from zero.
        end: The line behind its last.
        text: Of a heading.
        nested: Whether it stands in a list or quote.
    """

    kind: str
    first: int
    end: int
    text: str = ""
    nested: bool = False


def blocks(lines: Sequence[str]) -> list[PageBlock]:
    """Return the blocks of a page in their order."""
    plain = plain_blocks(lines)
    return parsed_blocks(lines) if plain is None else plain


def plain_blocks(lines: Sequence[str]) -> list[PageBlock] | None:
    """Return the blocks of a page of headings, paragraphs and tables; None where it may hold anything else."""
    found: list[PageBlock] = []
    at, in_paragraph = 0, False
    while at < len(lines):
        line = lines[at]
        if line.startswith("|"):
            end = _table_end(lines, at)
            if in_paragraph or end is None:
                return None
            found.append(PageBlock("table", at, end))
            at = end
            continue
        if heading := _HEADING.fullmatch(line):
            found.append(PageBlock(f"h{len(heading[1])}", at, at + 1, heading[2]))
        elif line.strip(" ") and not _PARAGRAPH.match(line):
            return None
        in_paragraph = bool(line.strip(" ")) and not heading
        at += 1
    return found


def _table_end(lines: Sequence[str], first: int) -> int | None:
    """Return the line behind a table; None where its first lines make none, or text follows without a blank line."""
    end = next((at for at in range(first, len(lines)) if not lines[at].startswith("|")), len(lines))
    header = lines[first].rstrip(" ")
    columns = header.count("|") - 1
    if end - first < 2 or not header.endswith("|") or "\\" in header or not 0 < columns <= _MOST_COLUMNS:
        return None
    if not _DELIMITER.fullmatch(lines[first + 1]) or lines[first + 1].count("|") - 1 != columns:
        return None
    return None if end < len(lines) and lines[end].strip(" ") else end


@cache
def _parser() -> Any:
    """Return the block parser, set up once a process; cells are read from the raw lines, so inline rules never run."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("zero").enable(["table", "heading", "fence", "code", "blockquote", "list", "html_block"])
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


def parsed_blocks(lines: Sequence[str]) -> list[PageBlock]:
    """Return the blocks of any page."""
    found: list[PageBlock] = []
    tokens = _parser().parse("\n".join(lines))
    for at, token in enumerate(tokens):
        kind = {"heading_open": token.tag, "table_open": "table", "fence": "code", "code_block": "code"}.get(token.type)
        if kind is not None and token.map:
            text = tokens[at + 1].content.strip() if token.type == "heading_open" else ""
            found.append(PageBlock(kind, token.map[0], token.map[1], text, token.level > 0))
    return found
