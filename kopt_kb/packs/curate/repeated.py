"""Quotes beside each other: what one document prints in one place is quoted alike wherever a row rests on it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations

from kopt_kb.wiki.faults import Fault
from kopt_kb.wiki.row import Row
from kopt_kb.wiki.wiki import Wiki

__all__ = ["other_quotes"]

_NUMBER = re.compile(r"(?<![\w.*])\d[\d,]*(?:\.\d+)?(?![\dx*]|[A-Z]?\d)")
"""A number that stands alone: not that of a format (fp16), a shape (4096x4096) or a power."""
_BETWEEN = re.compile(r"[\s|\\]+")
_LEAST = 3
"""So many numbers make a line of a table recognisable where its locator is not the same."""
_SHARED = 2
"""So many different numbers of two digits or more that two quotes share make them the same line."""
_CELL = ("row ", "column ")
_FIX = "read the place again and correct the quote that is wrong, or quote the words that tell two places apart"


@dataclass(frozen=True, slots=True)
class _Quote:
    row: Row
    numbers: tuple[str, ...]


def _words(quote: str) -> str:
    return _BETWEEN.sub(" ", _NUMBER.sub("\0", quote)).strip().casefold()


def _quotes(wiki: Wiki) -> Iterator[tuple[str, str, _Quote]]:
    """Yield each quote of a value with its document and its place there."""
    for path in (*wiki.pages("hardware"), *wiki.pages("targets")):
        page = wiki.page(path)
        for row in page.rows if page is not None else ():
            if row.kind not in {"value", "token"} or page is None:
                continue
            for source in row.sources:
                note = page.footnotes.get(source.id)
                if note is not None and source.quote:
                    quote = _Quote(row, tuple(number.replace(",", "") for number in _NUMBER.findall(source.quote)))
                    yield f"{note.url} {_words(source.quote)}", source.locator, quote


def other_quotes(wiki: Wiki) -> Iterator[Fault]:
    """Yield a fault for each quote that prints another number than the same place does elsewhere in the wiki.

    The same place is a cell whose row and column are named, or a line of three numbers and more of which most agree.
    """
    cells: dict[tuple[str, ...], list[_Quote]] = defaultdict(list)
    lines: dict[str, list[_Quote]] = defaultdict(list)
    for document, locator, quote in _quotes(wiki):
        if all(word in locator for word in _CELL):
            cells[document, locator, dict(quote.row.axes).get("sparsity", "")].append(quote)
        if len(quote.numbers) >= _LEAST:
            lines[document].append(quote)
    pairs = (
        *((one, other) for found in cells.values() for one, other in permutations(found, 2)),
        *((one, other) for found in lines.values() for one, other in permutations(found, 2) if _same_line(one, other)),
    )
    odd = {one.row: other.row for one, other in pairs if one.numbers != other.numbers}
    for row, other in odd.items():
        message = f"{row.key} = {row.value}: {other.path}:{other.line} quotes the same place with another number"
        yield Fault("WK406", row.path, row.line, message, _FIX)


def _same_line(one: _Quote, other: _Quote) -> bool:
    """Whether most numbers of two quotes agree."""
    agree = [number for number, its in zip(one.numbers, other.numbers, strict=True) if number == its]
    return 2 * len(agree) > len(one.numbers) and len({one for one in agree if len(one) > 1}) >= _SHARED
