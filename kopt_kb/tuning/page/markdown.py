"""A report as Markdown for a pull request: the same blocks, sources as footnotes, no text that GitHub obeys."""

from __future__ import annotations

import re

from kopt_kb.base.markup.blocks import (
    Bullets,
    CellText,
    CodeBlock,
    FactsBlock,
    Figure,
    PageBlock,
    ReportPage,
    TableBlock,
    cell,
)
from kopt_kb.base.markup.text import visible

__all__ = ["escaped", "markdown"]

_BREAK = "&#8203;"
"""Nothing to see: what stands on both sides of it is no address, no mention and no number of an issue."""


def escaped(text: str, *, in_cell: bool = False) -> str:
    r"""Return a text that Markdown shows as it is, on one line.

    Nothing in the cell of a table begins a block: what else would be a list or a heading is left as it is there.

    >>> escaped("a*b | <i> @me #1 http://x")
    'a\\*b \\| \\<i\\> @&#8203;me #&#8203;1 http:&#8203;//x'
    """
    line = " ".join(visible(text).split())
    line = re.sub(r"([\\`*_\[\]<>|~$&^])", r"\\\1", line)
    line = re.sub(r"([@#])(?=\w)", rf"\1{_BREAK}", line)
    line = line.replace("://", f":{_BREAK}//").replace("www.", f"www{_BREAK}.")
    return line if in_cell else re.sub(r"^([-+=#]|\d{1,9}[.)](?=\s|$))", rf"{_BREAK}\1", line)


class _Writer:
    """Lines, and footnotes in the order of their first use."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.numbers: dict[str, int] = {}

    def text(self, text: CellText, *, in_cell: bool = False) -> str:
        one = cell(text)
        marks = [f"[^{self.numbers.setdefault(each, len(self.numbers) + 1)}]" for each in one.sources]
        return escaped(one.text, in_cell=in_cell) + "".join(marks)

    def add(self, *lines: str) -> None:
        self.lines += [*lines, ""]

    def block(self, one: PageBlock) -> None:
        if isinstance(one, TableBlock):
            self.table(one)
        elif isinstance(one, FactsBlock):
            self.add(*(f"- {escaped(name)}: {self.text(text)}" for name, text in one.rows))
        elif isinstance(one, Bullets):
            self.add(*(f"- {self.text(item)}" for item in one.items))
        elif isinstance(one, CodeBlock):
            self.fenced(one.text, "sh")
        elif isinstance(one, Figure):
            self.fenced(one.characters, "text")
            self.add(escaped(one.caption))
        else:
            self.add(f"**{self.text(one)}**" if one.tone else self.text(one))

    def table(self, block: TableBlock) -> None:
        rule = ["--:" if at in block.right else "---" for at in range(len(block.head))]
        rows = [block.head, *block.rows]
        lines = ["| " + " | ".join(self.text(text, in_cell=True) for text in row) + " |" for row in rows]
        self.add(escaped(block.caption), "", lines[0], "|" + "|".join(rule) + "|", *lines[1:])

    def fenced(self, text: str, kind: str) -> None:
        """Add a block that ends where it is meant to: its fence is longer than any in the text."""
        longest = max(map(len, re.findall("`+", text)), default=0)
        fence = "`" * max(3, longest + 1)
        self.add(f"{fence}{kind}", *visible(text).split("\n"), fence)


def markdown(page: ReportPage) -> str:
    """Return the file."""
    writer = _Writer()
    writer.add(f"# {escaped(page.title)}")
    for block in page.lead:
        writer.block(block)
    for section in page.sections:
        writer.add(f"## {escaped(section.title)}")
        for block in section.blocks:
            writer.block(block)
    notes = [f"[^{number}]: {escaped(text)}" for text, number in writer.numbers.items()]
    if notes:
        writer.add("## Sources")
        writer.add(*notes)
    writer.add(f"Written by {escaped(page.made_by)}.")
    return "\n".join(writer.lines).rstrip() + "\n"
