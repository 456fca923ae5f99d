"""What is seen from the lines of a page is what the Markdown parser says, or nothing is seen from them."""

from __future__ import annotations

import random

import pytest

from kopt_kb.wiki.page_blocks import PageBlock, blocks, parsed_blocks, plain_blocks
from kopt_kb.wiki.registry import Registry

_LINES = (
    "", "", "", " ", "# Title", "## Section", "### Sub ###", "#tag", "##", "## a # b", " ## far", "text", "text | more", "a | b",
    "**bold** text", "* item", "- item", "1. one", "1.5 GHz is no item", "2) two", "+ plus", "> quote", "    code", "\tcode",
    "```", "~~~", "<div>", "<!-- note -->", "`code` here", "[^1]: title=\"x\"", "[link](x)", "(aside)", "\"said\"", "---", "--- | ---",
    "===", "| a | b |", "| a | b |", "|---|---|", "| --- | :-: |", "|---|", "| x |", "|", "||", "| a \\| b | c |", "| a | b",
    "| a | b | trailing", " | far |", "|:-|", "\u00a0", "é word", "_x_", "  two spaces", "| a | b | c |", "|---|---|---|",
)  # fmt: skip


def test_every_page_of_the_wiki_is_plain() -> None:
    """So no lookup in it loads the parser, and none would read another table."""
    (wiki, *_) = Registry.open().wikis
    paths = [path for kind in ("hardware", "targets", "measured") for path in wiki.pages(kind)]
    assert len(paths) > 80
    for path in paths:
        lines = (wiki.read(path) or b"").decode().split("\n")
        lines[: lines.index("---", 1) + 1] = [""] * (lines.index("---", 1) + 1)
        found = plain_blocks(lines)
        assert found == parsed_blocks(lines), path
        assert found is not None
        assert any(one.kind == "table" for one in found) or "targets/" in path


@pytest.mark.core
def test_lines_and_parser_agree_on_any_page() -> None:
    """Of random lines, of tables among them; where the lines alone don't tell, they say nothing."""
    draw, seen, tables = random.Random(7), 0, 0
    for _ in range(9000):
        lines = draw.choices(_LINES, k=draw.randint(1, 7))
        if draw.random() < 0.5:
            at = draw.randint(0, len(lines))
            lines[at:at] = ["", "| a | b |", "|---|---|", *draw.choices(_LINES, k=draw.randint(0, 2)), ""]
        plain = plain_blocks(lines)
        if plain is not None:
            assert plain == parsed_blocks(lines), lines
            seen, tables = seen + 1, tables + any(one.kind == "table" for one in plain)
    assert seen > 300 and tables > 100


@pytest.mark.core
def test_the_parser_reads_the_rest() -> None:
    """Code, lists and quotes, and what stands in them."""
    lines = ["# T", "```", "| no | table |", "```", "- item", "", "  | a | b |", "  |---|---|", "", "> ## quoted"]
    assert plain_blocks(lines) is None
    code, table, quoted = (
        PageBlock("code", 1, 4),
        PageBlock("table", 6, 8, "", nested=True),
        PageBlock("h2", 9, 10, "quoted", nested=True),
    )
    assert blocks(lines) == [PageBlock("h1", 0, 1, "T"), code, table, quoted]
