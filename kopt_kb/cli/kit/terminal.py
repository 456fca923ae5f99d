"""What a terminal is: its width, whether it shows colour, and how a table is fitted into it.

A width counts where a person reads (a terminal) or asks for it (COLUMNS); what is piped or written to a file is never
cut or folded. Colour needs a terminal and the absence of NO_COLOR (no-color.org).
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence

__all__ = ["announce", "fold", "has_colour", "narrowed", "paint", "stacked", "told", "width"]

_LEAST = 8
"""No column becomes narrower than that: below it words can't be read."""
_RED, _GREEN, _YELLOW, _DIM = "31", "32", "33", "2"
_COLOURS = {
    "UNKNOWN": _YELLOW, "note": _YELLOW, "warning": _YELLOW, "NONE": _DIM, "-": _DIM, "rollback": _DIM,
    "WRONG": _RED, "error": _RED, "no": _RED, "refuted": _RED, "FAIL": _RED,
    "ok": _GREEN, "yes": _GREEN, "accept": _GREEN, "PASS": _GREEN,
}  # fmt: skip
"""Words that are a verdict when they are all that a cell says."""


def width() -> int | None:
    """Return how many columns there are, None where nobody counts them."""
    asked = os.environ.get("COLUMNS", "")
    if asked.isascii() and asked.isdigit() and len(asked) < 6:
        return max(int(asked), 1)
    if not sys.stdout.isatty():
        return None
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or None
    except (OSError, ValueError):
        return None


def has_colour() -> bool:
    """Whether stdout shows colours: a terminal that is not dumb, and nobody said NO_COLOR."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and sys.stdout.isatty()


def paint(cell: str) -> str:
    """Return a padded cell in the colour of its word."""
    colour = _COLOURS.get(cell.strip())
    return f"\x1b[{colour}m{cell}\x1b[0m" if colour else cell


def narrowed(widths: Sequence[int], room: int) -> list[int]:
    """Return widths that fit: the widest columns give way first, none below eight letters.

    >>> narrowed([10, 40, 30], 60)
    [10, 25, 25]
    """
    found = list(widths)
    while sum(found) > room:
        most = max(found)
        if most <= _LEAST:
            break
        widest = [at for at, one in enumerate(found) if one == most]
        second = max((one for one in found if one < most), default=0)
        over = -(-(sum(found) - room) // len(widest))
        for at in widest:
            found[at] = max(most - over, second, _LEAST)
    return found


def fold(text: str, limit: int) -> list[str]:
    """Return a cell as lines of at most that many letters, broken between words where there are some.

    >>> fold("the best that anybody measured", 12)
    ['the best', 'that anybody', 'measured']
    """
    if len(text) <= limit:
        return [text]
    lines = [""]
    for part in text.split(" "):
        word = part
        if len(lines[-1]) + len(word) + 1 <= limit and lines[-1]:
            lines[-1] += f" {word}"
            continue
        while len(word) > limit:
            at = max(word.rfind(mark, 0, limit) for mark in "/;,=") + 1 or limit
            lines.append(word[:at])
            word = word[at:]
        lines.append(word)
    return [line for line in lines if line] or [""]


def told(text: str, room: int | None = None) -> str:
    """Return lines for people, those that are too long folded below where their text begins.

    >>> print(told("  target      what a work should reach", 24))
      target      what a
                  work
                  should
                  reach
    """
    room = room or width()
    if room is None:
        return text
    return "\n".join(line for each in text.split("\n") for line in _folded(each, room))


def _folded(line: str, room: int) -> list[str]:
    if len(re.sub("\x1b\\[[0-9]*m", "", line)) <= room:
        return [line]
    body = line.lstrip(" ")
    before = len(line) - len(body)
    label, gap, rest = body.partition("  ")
    at = len(line) - len(rest.lstrip(" ")) if gap and " " not in label else 0
    if not 0 < at <= room // 2:
        at = min(before + 2, room // 2)
        begin, rest = line[:before], body
        first, *others = fold(rest, max(room - before, _LEAST))
        others = fold(" ".join(others), max(room - at, _LEAST)) if others else []
    else:
        begin = line[:at]
        first, *others = fold(line[at:], max(room - at, _LEAST))
    return [begin + first, *(" " * at + one for one in others)]


def stacked(rows: Sequence[Sequence[str]], indent: int, room: int) -> list[str]:
    """Return the rows of a table with a head as blocks of a line a cell, for where its columns find no room.

    >>> stacked([["product", "least time"], ["H20", "37.28 us"]], 0, 40)
    ['product     H20', 'least time  37.28 us']
    """
    head, *body = rows
    widest = max(map(len, head))
    lines: list[str] = []
    for at, row in enumerate(body):
        lines += [""] if at else []
        for name, cell in ((name, cell) for name, cell in zip(head, row, strict=True) if cell):
            first, *others = fold(cell, max(room - indent - widest - 2, _LEAST))
            lines.append(f"{' ' * indent}{name:<{widest}}  {first}")
            lines += [" " * (indent + widest + 2) + one for one in others]
    return lines


def announce(text: str) -> None:
    """Say on stderr what takes long, where a person waits for it."""
    if sys.stderr.isatty():
        print(f"kb: {text}", file=sys.stderr, flush=True)
