"""Claims of a text: numbers with the product they are said of and what they can mean.

Three places say what a number means: the sentence around it, the header and row of its table, and the keys that lead to
it in data and code. A number whose product or metric nothing says is no claim.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from kopt_kb.packs.curate.lint.lists import SpecList, parts_of
from kopt_kb.packs.curate.lint.words import (
    Meaning,
    is_measured,
    is_of_results,
    is_of_system,
    is_specified,
    meanings,
    said_sparsity,
    spaced,
)
from kopt_kb.wiki.numbers import UNIT_WORDS, HardwareNumber, numbers_in
from kopt_kb.wiki.products import Mention, ProductNames

__all__ = ["CITED", "Claim", "TextPlace", "fitting", "of_line", "of_list"]

CITED = re.compile(
    r"<gpu-wiki>/|https?://|\[\^|\]\(|data-?sheet|white ?paper|product (?:page|brief)|\bsource:|isa guide|spec sheet|"
    r"cited|according to|programming guide|docs?\.nvidia|amd\.com",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[;.!?](?:\s|$)|\s[—–]\s|\s-\s")
_BINDS_BEHIND = re.compile(r"^[^\w]*(?:of \w+ )?(?:on|for|of|in|per|with)?[\s(]*(?:an? |the |each )?$")
_LINKED = re.compile(r"nvlink|\blinks?\b|pcie|network|interconnect|fabric|xgmi")
_MEMORY = re.compile(r"hbm|memory|\bmem\b|dram|vram|gddr")
_HAS = re.compile(r"\bhas\s+(?:a |only )?$")
_MEMORY_RATE = re.compile(r"\bhbm|memory bandwidth|\bdram")
_RATES = {"op/s", "B/s", "W", "Hz", "bit"}
_LIMIT = re.compile(
    r"per (?:sm|cu|block|thread ?block|workgroup)|/(?:sm|cu|block)|limit|max|capacit|\bhas\b|only|opt-?in"
)
_LISTED = re.compile(
    r"(?<![\w.])\d[\d.]*\s?(?P<unit>[TGMK]i?B(?:/s)?|[TGP]?FLOPS|[CS][UM]s)?\s*(?:,|/|\bor|\bto|-|–)\s*$|[×x*]\s*$"
)
_DELTA = re.compile(
    r"^\s*(?:above|below|more|less|higher|lower|over|under|extra|beyond|of headroom|each)\b|"
    r"^\s*(?:in|on|of|for|per)\s*$"
)
"""Words that make a difference of a number, or that leave what it is said of to the next line."""
_APPOSED = re.compile(r"^[\s,(/]*\(?[\s,]*$")
_JOINED = re.compile(r"^[\s,/&+|]*(?:and|or|vs\.?|versus)?[\s,/&+]*$")
_COMPARES = re.compile(r"\bvs\b|\band\b|versus|than|compared|against|\(|\d")
_CAPACITY = re.compile(
    r"^[\s,(-]*(?:of )?(?:total )?(?:hbm\d?e?|vram|gddr\d\w?|memory|unified|device memory|lpddr)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Claim:
    """A number of a text that says something about a product.

    Attributes:
        platforms: Products it is said of: one, or those that the name covers.
        named: Every product that its line names: a value of any of them is no contradiction.
        meanings: What it can be.
        sparsity: `dense` or `2:4` where the text says it.
        specified: Whether the text speaks of what the part is specified for.
        cited: Whether a source stands beside it.
        words: The text around it in small letters, for what else it says (per die, each direction).
        bare: Whether it may as well be a measurement: only more than the part has contradicts.
    """

    number: HardwareNumber
    platforms: frozenset[str]
    named: frozenset[str]
    meanings: tuple[Meaning, ...]
    sparsity: str = ""
    specified: bool = False
    cited: bool = False
    words: str = ""
    bare: bool = False


@dataclass(slots=True)
class TextPlace:
    """Where in a document a line stands.

    Attributes:
        headings: Titles above it, outermost first.
        about: Products that the nearest title with a name in it names.
        before: The line above, of the same paragraph.
        plain: Whether the titles from that one on say nothing else: lists below it need no product.
    """

    headings: list[str] = field(default_factory=list)
    about: frozenset[str] = frozenset()
    before: str = ""
    plain: bool = False

    @property
    def title(self) -> str:
        """The titles as words."""
        return spaced(" ".join(self.headings))


def _clause(line: str, at: int) -> tuple[int, int]:
    """Return where the clause around a column begins and ends."""
    start, end = 0, len(line)
    for cut in _CLAUSE.finditer(line):
        if cut.end() <= at:
            start = cut.end()
        elif cut.start() > at:
            end = cut.start()
            break
    return start, end


def _bound(line: str, number: HardwareNumber, mentions: list[Mention]) -> Mention | None:
    """Return the mention that a number belongs to: one right behind it, else the nearest before, joined ones as one."""
    at, end = number.start, number.start + len(number.text)
    behind = next((one for one in mentions if one.start >= end), None)
    if behind is not None and _BINDS_BEHIND.match(line[end : behind.start].casefold()):
        return behind
    before = [one for one in mentions if one.end <= at]
    if not before:
        start, stop = _clause(line, at)
        inside = [one for one in mentions if start <= one.start < stop]
        compared = bool(inside) and _COMPARES.search(line[end : inside[0].start].casefold()) is not None
        return inside[0] if len(inside) == 1 and not compared else None
    return _joined(line, before)


def _joined(line: str, before: list[Mention]) -> Mention:
    """Return the last mention with those it is joined to: `H100 and H200`; of `MI308X (CDNA3, gfx942)` the product."""
    last = before[-1]
    platforms, first = set(last.platforms), last
    for one in reversed(before[:-1]):
        between = line[one.end : first.start].casefold()
        if one.platforms and one.platforms < platforms and _APPOSED.match(between):
            platforms = set(one.platforms)
        elif _JOINED.match(between):
            platforms |= one.platforms
        else:
            break
        first = one
    return Mention(first.start, last.end, frozenset(platforms) if last.platforms else frozenset())


def of_line(line: str, number: int, names: ProductNames, place: TextPlace) -> Iterator[Claim]:
    """Yield the claims of a line of prose or of a comment."""
    every = list(numbers_in(line, number, place.before))
    if not every:
        return
    mentions, bare = names.mentions(line), names.without(line)
    if len(mentions) > 1 and (parts := list(_of_parts(line, bare, mentions, every, place))):
        yield from parts
        return
    listed = SpecList.of(bare, mentions, every)
    if not mentions and place.plain:
        listed = SpecList.without_name(bare, every)
    found = [one for one in every if _stands_alone(line, one) or (listed is not None and listed.says_more(one))]
    everything = frozenset(name for one in mentions for name in one.platforms)
    for one in found:
        bound = _bound(line, one, mentions)
        platforms = bound.platforms if bound is not None else place.about if not mentions else frozenset[str]()
        start, end = _clause(line, one.start)
        clause = spaced(bare[start:end])
        if not platforms or is_of_system(clause):
            continue
        prose = _prose_claim(bare, one, clause, place)
        in_list = _list_claim(listed, one, place) if listed is not None else ()
        if prose is not None or in_list:
            near, specified = prose or ((), listed is not None and listed.certain)
            near, open_ = in_list or near, prose is None and not specified
            said = listed.sparsity(one) if listed is not None else _sparsity(bare, one)
            cited = CITED.search(line) is not None
            yield Claim(one, platforms, everything | platforms, near, said, specified, cited, clause, open_)


def _of_parts(
    line: str, bare: str, mentions: list[Mention], every: list[HardwareNumber], place: TextPlace
) -> Iterator[Claim]:
    """Yield the claims of a line that is several products, each with a list of its own; none for any other line."""
    lists = []
    for mention, stretch in parts_of(line, bare, mentions):
        own = [
            one for one in every if stretch[one.start : one.start + len(one.text)].strip() and one.start >= mention.end
        ]
        listed = SpecList.without_name(stretch, own) if own else None
        if listed is None:
            return
        lists.append((mention, listed, own, stretch))
    for mention, listed, own, stretch in lists:
        yield from of_list(stretch, listed, own, mention.platforms, place)


def of_list(
    text: str, listed: SpecList, numbers: list[HardwareNumber], platforms: frozenset[str], place: TextPlace
) -> Iterator[Claim]:
    """Yield the claims of a list of numbers that is of some products.

    Args:
        text: The words of the list, names of hardware blanked.
        listed: What the list is.
        numbers: Its numbers.
        platforms: The products; none yields nothing.
        place: Where it stands.
    """
    words = spaced(text)
    if not platforms or is_of_system(words):
        return
    meant = [
        (one, can_be)
        for one in numbers
        if (can_be := _list_claim(listed, one, place) if _stands_alone(text, one) or listed.says_more(one) else ())
    ]
    for one, can_be in meant:
        said = listed.sparsity(one)
        if [(each, listed.sparsity(other)) for other, each in meant].count((can_be, said)) > 1:
            continue  # `4 TB/s | 4.9 TB/s` are of two variants
        yield Claim(
            one, platforms, platforms, can_be, said, listed.certain, CITED.search(text) is not None, words,
            not listed.certain,
        )  # fmt: skip


def _stands_alone(line: str, number: HardwareNumber) -> bool:
    """Whether a number is neither the last of a list nor a difference: those are said of nothing by themselves."""
    behind = line[number.start + len(number.text) :]
    listed = _LISTED.search(line[: number.start])
    unit = (listed["unit"] or "") if listed is not None else ""
    other = unit in UNIT_WORDS and UNIT_WORDS[unit][0] != number.dimension  # `304 CUs, 5.3 TB/s` are two facts
    return (listed is None or other) and _DELTA.match(behind) is None


def _list_claim(listed: SpecList, number: HardwareNumber, place: TextPlace) -> tuple[Meaning, ...]:
    """Return what a number of a bare list means; nothing when it is no claim."""
    if is_measured(spaced(listed.bare)) or is_of_results(place.title):
        return ()
    return fitting(number, listed.meanings(number))


def _prose_claim(
    line: str, number: HardwareNumber, clause: str, place: TextPlace
) -> tuple[tuple[Meaning, ...], bool] | None:
    """Return what a number in a sentence means and whether it is a specification; None when it is no claim."""
    sentence = spaced(line)
    if is_measured(sentence) or is_of_results(place.title):
        return None
    end = number.start + len(number.text)
    near = spaced(_window(line, number.start, end, number.dimension))
    if number.dimension == "B" and number.unit[0] in "GT":
        whole = _CAPACITY.match(line[end:]) or _HAS.search(line[: number.start])
        return ((Meaning("memory_capacity"),), True) if whole else None
    specified = is_specified(clause) or is_specified(place.title)
    specified = specified or (number.dimension == "B/s" and _MEMORY_RATE.search(near) is not None)
    can_be = fitting(number, meanings(number.dimension, near))
    if number.dimension in _RATES and not specified:
        return None
    return (can_be, specified) if can_be and _is_whole(can_be, sentence, clause, near) else None


def _is_whole(can_be: tuple[Meaning, ...], sentence: str, clause: str, near: str) -> bool:
    """Whether a sentence speaks of all of it: not of a link where it says bandwidth, not of what a kernel takes."""
    metrics = {one.metric for one in can_be}
    if "memory_bandwidth" in metrics and _LINKED.search(sentence) and not _MEMORY.search(near):
        return False
    return not any(one.startswith("shared") for one in metrics) or _LIMIT.search(clause) is not None


def fitting(number: HardwareNumber, can_be: Iterable[Meaning]) -> tuple[Meaning, ...]:
    """Return the meanings that a number's unit allows: kilobytes and megabytes are never device memory."""
    small = number.dimension == "B" and number.unit[0] in "kKM"
    if number.dimension == "count" and number.value.denominator != 1:
        return ()
    return tuple(one for one in can_be if not (small and one.metric == "memory_capacity"))


def _window(line: str, start: int, end: int, dimension: str) -> str:
    """Return the words around a number up to the next number on either side, at most 60 letters away."""
    parts = re.split(
        r"\d[\d.,]*\s?(?:[TGPM]i?B(?:/s)?|[TGP]FLOPS?|[TGP]?OPS|GHz|MHz|W)\b", line[max(0, start - 60) : start]
    )
    after = re.split(r"[;,)|]|\d[\d.,]*\s?(?:[TGPM]i?B|[TGP]FLOP)", line[end : end + 60])[0]
    before = parts[-1]
    if len(parts) > 1 and dimension == "B":
        before = before.rpartition(", ")[2]  # `50 MB of L2, 228 KB of shared memory`
    return f"{before} {after}"


def _sparsity(line: str, number: HardwareNumber) -> str:
    """Return what stands right beside a number about sparsity, else what its line says when it says one thing."""
    end = number.start + len(number.text)
    beside = re.match(r"[^;,|\d]*(?P<next>\d?)", line[end : end + 40])
    words = spaced(beside[0]) if beside else ""
    if beside and beside["next"] and said_sparsity(words):
        return ""  # the words belong to the number behind them
    return said_sparsity(words) or said_sparsity(spaced(line))
