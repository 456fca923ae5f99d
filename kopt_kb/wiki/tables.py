r"""Markdown tables, read and written in one place: a `|` inside a cell is `\|`, in both directions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

__all__ = ["NO_ROW", "cell", "rows_under", "split_cells", "table"]

NO_ROW = "begin and end the row with |, or leave a blank line after the table"
"""What to do about a line in a table that is no row."""

_PIPE = re.compile(r"(?<!\\)\|")


def split_cells(line: str) -> list[str] | None:
    r"""Return the cells of a raw table line, or None if it does not start and end with a pipe.

    Pipes are escaped as `\|`; nothing else is interpreted, so surplus and missing cells stay visible.
    """
    text = line.strip()
    if len(text) < 2 or text[0] != "|" or not _PIPE.match(text[-1:]) or text.endswith("\\|"):
        return None
    return [cell.strip().replace("\\|", "|") for cell in _PIPE.split(text[1:-1])]


def rows_under(lines: Iterable[str], header: Sequence[str]) -> Iterator[tuple[int, list[str] | None]]:
    """Yield (line number from 1, cells) of each row of every table with exactly this header.

    A table ends at a blank line. A line in it that is no row is yielded with None, so that a row with a forgotten
    pipe is a fault and does not end the table unseen.
    """
    inside = False
    for number, line in enumerate(lines, 1):
        cells = split_cells(line)
        if cells is not None and tuple(cells) == tuple(header):
            inside = True
        elif not line.strip():
            inside = False
        elif inside and set(line) - set("|-: "):
            yield number, cells


def cell(text: object) -> str:
    """Return text that can't end a table cell or a line; `-` for none."""
    return " ".join(str(text).split()).replace("|", "\\|") or "-"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """Return a Markdown table's lines, a blank line after it."""
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    lines += [f"| {' | '.join(map(cell, row))} |" for row in rows]
    return [*lines, ""]
