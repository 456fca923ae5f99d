"""Markdown of a report: GitHub shows the words and obeys none of them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from kopt_kb.base.markup.blocks import Bullets, Cell, CodeBlock, FactsBlock, Figure, ReportPage, Section, TableBlock
from kopt_kb.base.markup.elements import element
from kopt_kb.base.markup.text import visible
from kopt_kb.tuning.page.markdown import escaped, markdown
from tests.kopt_kb.base.markup.test_elements import HOSTILE

HOSTILE_HERE = [
    *HOSTILE, "| a | b |", "# heading", "- item", "1. item", "```\nfence\n```", "[x](http://x)", "![x](http://x)", "@someone",
    "#12", "https://example.org", "www.example.org", "**bold**", "&copy;", "> quote", "    code", "a\n\nb", "[^1]: note", "$x$",
]  # fmt: skip
READER = MarkdownIt("gfm-like", {"linkify": False})


def shown(text: str) -> str:
    """The text that a reader sees, of one paragraph; marks that break addresses are nothing to see."""
    tokens = READER.parse(text)
    assert [one.type for one in tokens if one.type != "inline"] == ["paragraph_open", "paragraph_close"]
    inline = next(one for one in tokens if one.type == "inline")
    kinds = {one.type for one in inline.children or []}
    assert kinds <= {"text", "text_special"}, kinds
    return "".join(one.content for one in inline.children or []).replace("\u200b", "")


@pytest.mark.parametrize("text", HOSTILE_HERE)
def test_hostile_texts_are_a_paragraph_of_text(text: str) -> None:
    """No element, link, list, heading or mention comes of them."""
    assert shown(escaped(text)) == " ".join(visible(text).split())
    assert not re.search(r"[@#]\w|://|www\.", escaped(text).replace("&#8203;", "\u200b"))


@given(st.text(st.characters(codec="utf-8"), min_size=1))
def test_any_text_is_a_paragraph_of_text(text: str) -> None:
    """Whatever is between the letters."""
    wanted = " ".join(visible(text).split())
    if wanted:
        assert shown(escaped(text)) == wanted


def test_a_page_has_the_blocks_in_order() -> None:
    """Tables with their rule, facts and bullets as lists, pictures as characters, sources as footnotes used once."""
    table = TableBlock(
        "t", ("a", "b"), ((Cell("1", "", ("row 1",)), Cell("2", "", ("row 1", "row 2"))),), frozenset({1})
    )
    figure = Figure(element("svg"), "o--x", "caption")
    blocks = (table, FactsBlock((("k", "v"),)), Bullets(("i",)), CodeBlock("kb audit ."), figure)
    text = markdown(ReportPage("Title", (Cell("lead", tone="good"),), (Section("Part", blocks),), "kopt-kb 1"))
    assert text.startswith("# Title\n\n**lead**\n\n## Part\n")
    assert "| a | b |\n|---|--:|\n| 1[^1] | 2[^1][^2] |\n" in text
    assert "- k: v\n" in text
    assert "```sh\nkb audit .\n```" in text
    assert "```text\no--x\n```" in text
    assert text.endswith("## Sources\n\n[^1]: row 1\n[^2]: row 2\n\nWritten by kopt-kb 1.\n")


def test_a_fence_is_longer_than_those_in_its_text() -> None:
    """A text can't end the block it stands in."""
    text = markdown(ReportPage("t", (CodeBlock("a\n````\n<script>"),), (), "m"))
    assert "`````sh\na\n````\n<script>\n`````" in text
