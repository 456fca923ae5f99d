"""Blocks of a page: kinds, first lines, sections, and which of them make claims."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from kopt_kb.wiki.blocks import is_prose, paired, read_blocks

PAGE = """---
title: x
---
# Title

Some words
over two lines.[^a]

## Section

A list follows:
- one[^a]
  goes on
- two

| A | B |
|---|---|
| 1 | 2[^a] |

```
- not an item
# not a heading
```
[^a]: title="…"
"""


def test_kinds_and_lines() -> None:
    """Front matter, headings, blank lines and footnotes are no blocks."""
    outline = read_blocks(PAGE.split("\n"), 3)
    assert [(block.kind, block.line) for block in outline.blocks] == [
        ("text", 6), ("text", 11), ("item", 12), ("item", 14), ("row", 16), ("row", 17), ("row", 18), ("code", 20),
    ]  # fmt: skip
    assert outline.titles(1) == [(4, "Title")]
    assert {block.heading for block in outline.blocks[1:]} == {"Section"}


def test_what_makes_a_claim() -> None:
    """Not the introduction of a list, not a table's header and separator, not code."""
    outline = read_blocks(PAGE.split("\n"), 3)
    claims = [block.line for block, previous in paired(outline.blocks) if is_prose(block, previous)]
    assert claims == [6, 12, 14, 18]


def test_code_cites_nothing() -> None:
    """A footnote mark inside a fence is text."""
    outline = read_blocks(["```", "x[^a]", "```"], 0)
    assert outline.blocks[0].sources == ()


def test_an_open_fence_is_named() -> None:
    """By its line."""
    assert read_blocks(["# T", "```", "x"], 0).open_fence == 2


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(["", "a", "- a", "| a |", "## a", "```", "~~~", "    a"]), max_size=20))
def test_no_line_of_words_is_lost(lines: list[str]) -> None:
    """Every line that is neither blank nor a heading stands in exactly one block."""
    outline = read_blocks(lines, 0)
    held = [line for block in outline.blocks for line in block.text.split("\n") if line.strip()]
    assert held == [line for at, line in enumerate(lines, 1) if line.strip() and at not in outline.headings]
