"""Hardware numbers in texts: a number with a hardware unit, and what it can mean at its precision."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

__all__ = ["UNIT_WORDS", "HardwareNumber", "count_numbers", "find_numbers", "hedge_of", "numbers_in", "prints_as"]

UNIT_WORDS: dict[str, tuple[str, tuple[Fraction, ...]]] = {}
"""Spelling → dimension and factors to its base unit; two where vendors print it both ways."""


def _add(dimension: str, spellings: str, *factors: int) -> None:
    for word in spellings.split():
        UNIT_WORDS[word] = (dimension, tuple(Fraction(factor) for factor in factors))


_add("op/s", "PFLOPS PFLOP/s PFLOPs POPS petaFLOPS", 10**15)
_add("op/s", "TFLOPS TFLOP/s TFLOPs TOPS TF teraFLOPS", 10**12)
_add("op/s", "GFLOPS GFLOP/s GFLOPs GOPS", 10**9)
_add("B/s", "TB/s TBps", 10**12)
_add("B/s", "GB/s GBps", 10**9)
_add("B/s", "MB/s", 10**6)
_add("B/s", "TiB/s", 1024**4)
_add("B/s", "GiB/s", 1024**3)
_add("B", "TB", 10**12, 1024**4)
_add("B", "GB", 10**9, 1024**3)
_add("B", "MB", 10**6, 1024**2)
_add("B", "KB kB", 10**3, 1024)
_add("B", "TiB", 1024**4)
_add("B", "GiB", 1024**3)
_add("B", "MiB", 1024**2)
_add("B", "KiB", 1024)
_add("Hz", "GHz", 10**9)
_add("Hz", "MHz", 10**6)
_add("W", "W watts", 1)
_add("count", "SMs CUs", 1)
_add("bit", "bit", 1)

_WORDS = "|".join(re.escape(word) for word in sorted(UNIT_WORDS, key=len, reverse=True))
_NUMBER = re.compile(
    rf"(?<![\w.,/^-])(?P<number>\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?)[ \u00a0-]?(?P<unit>{_WORDS})(?![\w/])"
)
_HEDGE_BEFORE = re.compile(
    r"(\b(?:approximately|approx\.?|roughly|about|around|circa|ca\.|nearly|almost|close to|on the order of)|[~≈∼])\s*$",
    re.IGNORECASE,
)
_HEDGE_WITHIN = re.compile(
    r"\b(?:should\s+be|ought\s+to\s+be|probably|presumably|usually|typically|perhaps|maybe|i\s+think|i\s+believe|"
    r"from\s+memory|estimated|estimate\s+of|an\s+estimate|guess(?:ed)?|or\s+so|give\s+or\s+take|"
    r"similar\s+(?:products?|parts?|cards?|gpus?|devices?|chips?))\b",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.;!?](?:\s|$)")
_CODE_SPAN = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")
_FENCE = re.compile(r"^\s{0,3}(```+|~~~+)")


@dataclass(frozen=True, slots=True)
class HardwareNumber:
    """One number in a text.

    Attributes:
        line: Line, counted from 1.
        text: As printed, with its unit.
        dimension: What it measures.
        hedge: The word beside it that makes a guess of it; empty when there is none.
        ranges: For each reading of the unit (decimal or binary), the values that print like this: [low, high].
        value: The number as printed, without its unit.
        unit: The unit as printed.
        start: Column of the number, counted from 0.
    """

    line: int
    text: str
    dimension: str
    ranges: tuple[tuple[Fraction, Fraction], ...]
    hedge: str = ""
    value: Fraction = Fraction(0)
    unit: str = ""
    start: int = 0

    def prints(self, dimension: str, si: Fraction) -> bool:
        """Return whether a value in base units prints as this number at its precision."""
        return dimension == self.dimension and any(low <= si <= high for low, high in self.ranges)


def _prose(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield lines outside of fenced code, with code spans blanked."""
    fence = ""
    for number, line in enumerate(lines, 1):
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1][0] == fence[0] and len(mark[1]) >= len(fence):
                fence = ""
            continue
        if mark:
            fence = mark[1]
            continue
        yield number, _CODE_SPAN.sub(lambda span: " " * len(span[0]), line)


def prints_as(digits: str, factors: Iterable[Fraction]) -> tuple[tuple[Fraction, Fraction], ...]:
    """Return the values that print as these digits: those within half of the last one, for each factor."""
    half = Fraction(1, 2 * 10 ** len(digits.partition(".")[2]))
    value = Fraction(digits)
    return tuple(((value - half) * factor, (value + half) * factor) for factor in factors)


def numbers_in(content: str, line: int, before: str = "") -> Iterator[HardwareNumber]:
    """Yield every hardware number of one line; `before` is the line above, in whose sentence a hedge may stand.

    KB, MB and GB are read both ways, because vendors print them both ways.
    """
    for found in _NUMBER.finditer(content):
        hedge = hedge_of(f"{before} {content[: found.start()]}", content[found.end() :])
        digits = found["number"].replace(",", "")
        dimension, factors = UNIT_WORDS[found["unit"]]
        ranges = prints_as(digits, factors)
        at = found.start("number")
        yield HardwareNumber(line, found[0], dimension, ranges, hedge, Fraction(digits), found["unit"], at)


def count_numbers(text: str) -> int:
    """Return how many numbers a text has that are not part of the name of a format or a memory."""
    return len(re.findall(r"\d[\d.,]*", re.sub(r"(?:HBM|LPDDR|GDDR|FP|INT|BF|TF)\d+\w*", "", text)))


def find_numbers(text: str) -> Iterator[HardwareNumber]:
    """Yield every hardware number of a Markdown text, outside of fenced code and code spans."""
    before = ""
    for line, content in _prose(text.split("\n")):
        yield from numbers_in(content, line, before)
        before = content


def hedge_of(before: str, after: str) -> str:
    """Return what makes a guess of a number: a word right before it, or one in its sentence."""
    close = _HEDGE_BEFORE.search(before)
    if close is not None:
        return close[1].strip()
    sentence = _SENTENCE_END.split(before)[-1] + " ." + _SENTENCE_END.split(after)[0]
    found = _HEDGE_WITHIN.search(sentence)
    return " ".join(found[0].split()) if found is not None else ""
