"""What a terminal is: its width, whether it shows colour, and how a table is fitted into it.

A width counts where a person reads (a terminal) or asks for it (COLUMNS); what is piped or written to a file is never
cut or folded. Colour needs a terminal and the absence of NO_COLOR (no-color.org).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

__all__ = ["announce", "fold", "has_colour", "narrowed", "paint", "width"]

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


def announce(text: str) -> None:
    """Say on stderr what takes long, where a person waits for it."""
    if sys.stderr.isatty():
        print(f"kb: {text}", file=sys.stderr, flush=True)
