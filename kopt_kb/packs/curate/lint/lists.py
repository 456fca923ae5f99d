"""Lines that are a product and a list of its numbers: `H100 SXM: 989 TFLOPS bf16, 132 SMs, 3.35 TB/s`.

Such a line has no word that says `peak` or `memory bandwidth`, and needs none: it has no other words either. Results of
benchmarks are written the same way, so a list of rates alone is held only against what a measurement can't exceed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from kopt_kb.packs.curate.lint.words import Meaning, meanings, said_sparsity, spaced
from kopt_kb.wiki.numbers import HardwareNumber
from kopt_kb.wiki.products import Mention

__all__ = ["SpecList", "is_plain", "parts_of"]

_ITEM = re.compile(r",\s|[;|·•]|\s[/+&]\s|\band\b|\bwith\b(?! (?:spars|2:4))")
_WORD = re.compile(r"[a-z][\w:]*|\d[\w.,:]*")
_FILLER = re.compile(
    r"the|an?|is|has|have|of|and|at|up|to|with|peak|dense|max|nvidia|amd|instinct|radeon|geforce|tesla|gpus?|"
    r"about|around|roughly|approx|approximately|circa|only|compute|sms|cus|hardware|device|card|accelerator|specs?"
)
_NOUN = re.compile(
    r"m?x?(?:fp|bf|tf|int|nvfp)\d+|float\d+|bfloat\d+|e\dm\d\w*|hbm\d?e?|gddr\d?\w?|lpddr\d?\w?|vram|dram|memory|mem|"
    r"bandwidth|bw|l2|llc|cache|infinity|fabric|tensor|matrix|vector|cuda|cores?|sparse|sparsity|without|2:4|non|tdp|"
    r"tbp|tgp|power|board|boost|base|clock|nvlink|pcie|c2c|bus|interface|units?|capacity|lds|shared|per|sm|cu"
)
_TITLE = re.compile(
    r"spec\w*|key|technical|overview|summary|properties|capabilities|features|architecture|highlights|facts|numbers|gen|"
    r"generation|th|nd|rd|series|family|volta|turing|ampere|ada|hopper|blackwell|rubin|(?:c|r)dna\d?|sm_?\d+a?|"
    r"gfx\w+|gb|hardware|details|data|sheet|product|model|value|name|type|metric|parameter|config|configuration"
)
"""Words of a title or header that is of the part itself, and not of what somebody does with it."""
_BETWEEN = re.compile(r"(?:[\s,;|/&()*_`-]|\b(?:and|or|vs|versus|compared|to|than|while)\b)*\.?")
_HAS = re.compile(r"^[^a-z\d]*(?:the )?\s*has\b")
_BARE: dict[str, tuple[str, ...]] = {
    "op/s": ("peak_compute",),
    "B/s": ("memory_bandwidth", "link_bandwidth", "host_bandwidth"),
    "B": ("memory_capacity",),
    "W": ("board_power",),
    "bit": ("memory_bus_width",),
}
"""What a number is when its item says nothing more; a rate of bytes may also be that of the links."""
_SHAPE = {"count", "bit"}
"""Nobody measures these: they make a specification of their list."""
_KINDS = 3
"""… and so do as many kinds of number."""


@dataclass(frozen=True, slots=True)
class SpecList:
    """A line that lists numbers of one product and says nothing else.

    Attributes:
        bare: The line in small letters, the names of hardware blanked.
        head: What stands before the first number.
        certain: Whether it can only be a specification, and not what somebody measured.
    """

    bare: str
    head: str
    certain: bool

    @classmethod
    def of(cls, bare: str, mentions: Sequence[Mention], numbers: Sequence[HardwareNumber]) -> Self | None:
        """Return the list that a line is, None for any other line."""
        numbers = [one for one in numbers if not any(each.start <= one.start < each.end for each in mentions)]
        if not mentions or not numbers or mentions[-1].end > numbers[0].start:
            return None
        return cls.without_name(bare, numbers)

    @classmethod
    def without_name(cls, bare: str, numbers: Sequence[HardwareNumber]) -> Self | None:
        """Return the list that a line is whose product stands elsewhere: in a heading, in another cell."""
        words, letters = bare.casefold(), list(bare.casefold())
        for one in numbers:
            letters[one.start : one.start + len(one.text)] = " " * len(one.text)
        if not all(_FILLER.fullmatch(one) or _NOUN.fullmatch(one) for one in _WORD.findall("".join(letters))):
            return None
        kinds = {one.dimension for one in numbers}
        has = _HAS.search(words) is not None
        if len(kinds) == 1 and not has and not kinds <= {"op/s", "B/s"}:
            return None
        certain = has or bool(kinds & _SHAPE) or len(kinds) >= _KINDS
        return cls(words, words[: numbers[0].start], certain)

    def item(self, number: HardwareNumber) -> str:
        """Return the words of a number's own item."""
        end = number.start + len(number.text)
        start = max((cut.end() for cut in _ITEM.finditer(self.bare, 0, number.start)), default=0)
        behind = _ITEM.search(self.bare, end)
        return spaced(f"{self.bare[start : number.start]} {self.bare[end : behind.start() if behind else None]}")

    def says_more(self, number: HardwareNumber) -> bool:
        """Whether a number's item says what it is."""
        return not all(_FILLER.fullmatch(word) for word in _WORD.findall(self.item(number)))

    def meanings(self, number: HardwareNumber) -> list[Meaning]:
        """Return what a number of the list can be: what its item says, else what such a number is by itself."""
        if not self.says_more(number) and number.dimension in _BARE:
            return [Meaning(metric) for metric in _BARE[number.dimension]]
        return meanings(number.dimension, self.item(number))

    def sparsity(self, number: HardwareNumber) -> str:
        """Return what its item says about sparsity, else the words before the list."""
        return said_sparsity(self.item(number)) or said_sparsity(self.head)


def is_plain(words: str) -> bool:
    """Whether a title or header, its names of hardware blanked, says nothing but that it is of the part."""
    return all(
        any(pattern.fullmatch(word) for pattern in (_FILLER, _NOUN, _TITLE)) for word in _WORD.findall(spaced(words))
    )


def parts_of(line: str, bare: str, mentions: Sequence[Mention]) -> list[tuple[Mention, str]]:
    """Return each product of a line with its own stretch of it, blank elsewhere; nothing where they run into another.

    `H100: 989 TFLOPS, 3.35 TB/s; MI300X: 1307 TFLOPS, 5.3 TB/s` is two lists.
    """
    if len(mentions) < 2 or not is_plain(bare[: mentions[0].start]):
        return []
    starts = [one.start for one in mentions] + [len(line)]
    found = []
    for one, start, end in zip(mentions, starts, starts[1:], strict=False):
        stretch = bare[start:end]
        kept = stretch[: len(stretch) - len(_trailing(stretch))]
        found.append((one, " " * start + kept + " " * (len(line) - start - len(kept))))
    return found


def _trailing(stretch: str) -> str:
    """Return the words behind the last item of a stretch that only lead to the next product."""
    found = re.search(rf"(?:{_BETWEEN.pattern})$", stretch, re.IGNORECASE)
    return found[0] if found is not None else ""
