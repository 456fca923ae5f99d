"""Claims in data and code: the keys that lead to a number name its product, its metric and its unit.

Blocks are told by indentation, which YAML needs and JSON, Python and C++ have; nothing is parsed or run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction

from kopt_kb.packs.curate.lint.claims import CITED, Claim, TextPlace, fitting
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
from kopt_kb.wiki.numbers import UNIT_WORDS, HardwareNumber, count_numbers, numbers_in, prints_as
from kopt_kb.wiki.products import ProductNames

__all__ = ["Keys"]

_PAIR = re.compile(
    r"(?P<quote>[\"']?)(?P<key>[A-Za-z_][\w ./%()+-]*?)(?P=quote)\s*(?::\s*[A-Za-z_]\w*\s*=|[:=]|=>|\s(?=return\b))\s*"
    r"(?:(?P<text>[\"'](?P<words>[^\"']{1,80})[\"'])|"
    r"(?P<digits>\d[\d_]*(?:\.\d+)?)(?:[eE](?P<power>[+-]?\d{1,2}))?[fFuUlL]?(?![\w.*/]|\s*[-+*/]\s*\d|\s*<<))"
)
_RETURN = re.compile(r"^\s*return\s+(?P<digits>\d[\d_]*(?:\.\d+)?)(?:[eE](?P<power>[+-]?\d{1,2}))?\s*;?\s*(?:[#/].*)?$")
_COUNTS = re.compile(
    r"(?:num|total|count|\bn)\b.*(?:sm|cu)s?\b|(?:sm|cu)s? ?(?:count|num)|compute units|processor count"
)
"""Keys that count all of a GPU; a bare `sms` may be what a kernel gets of them."""
_OPENS = re.compile(r"[{(\[:]\s*$")
_COMMENT = re.compile(r"(?:#|//)(?P<text>.*)$")
_NAMES = re.compile(
    r"^\s*-?\s*[\"']?(?:name|gpu|product|device|label|platform|sku|model|gfx|chip|gpu_name|device_name|arch|hardware|"
    r"display_name)[\"']?\s*[:=]\s*[\"']?(?P<value>[^\"',#]+)",
    re.IGNORECASE,
)
_UNITS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (unit, re.compile(rf"(?<![a-z])(?:{words})(?![a-z])"))
    for unit, words in (
        ("PFLOPS", "pflops|petaflops|pflop s"),
        ("TFLOPS", "tflops?|teraflops|tflop s|tops"),
        ("GFLOPS", "gflops|gigaflops"),
        ("TB/s", "tbps|tb s|tb/s|tbs|tb per s\\w*"),
        ("GB/s", "gbps|gb s|gb/s|gbs|gb per s\\w*|gib s"),
        ("bytes/s", "bytes s|bytes per s\\w*|bps"),
        ("flops", "flops"),
        ("GiB", "gib"),
        ("GB", "gb|gbytes"),
        ("MiB", "mib"),
        ("MB", "mb"),
        ("KiB", "kib"),
        ("KB", "kb"),
        ("bytes", "(?:bytes|byte|size|capacity)(?! per| s\\b| ms\\b)"),
        ("MHz", "mhz"),
        ("GHz", "ghz"),
        ("W", "watts?|tdp|tdp w|power w"),
        (
            "SMs",
            "n ?cus?|num cus?|cu count|num sms?|sm count|n ?sms?|sms|cus?|compute units|multi ?processor count",
        ),
    )
)
_BARE = {"bytes/s": "B/s", "flops": "op/s", "bytes": "B"}
_LEAST = {"bytes/s": 10**9, "flops": 10**9, "bytes": 1024}
"""Smaller bare numbers are in another unit that nothing names."""
_LEAST_BARE = 10**11
"""Numbers with an exponent from here on are rates in base units, where a key names a format or a bandwidth."""
_DEVICE_MEMORY = re.compile(r"hbm|vram|dram|gpu mem|device mem")


@dataclass(slots=True)
class _Block:
    indent: int
    words: str
    about: frozenset[str] | None = None


@dataclass(slots=True)
class Keys:
    """Reads lines in order and remembers the blocks they stand in."""

    names: ProductNames
    place: TextPlace
    _blocks: list[_Block] = field(default_factory=list)
    _top: frozenset[str] | None = None

    def line(self, line: str, number: int) -> Iterator[Claim]:
        """Yield the claims of a line of data or code."""
        stripped = line.strip()
        if not stripped or stripped[0] in "})]":
            return
        indent = len(line) - len(line.lstrip())
        while self._blocks and self._blocks[-1].indent >= indent:
            self._blocks.pop()
        hit = _COMMENT.search(line)
        code = line[: hit.start()] if hit else line
        self._note_name(code)
        yield from self._pairs(code, hit["text"] if hit else "", number)
        if _OPENS.search(code.rstrip()) and not stripped.startswith(("#", "//")):
            mentions = self.names.mentions(code)
            about = frozenset(name for one in mentions for name in one.platforms) if mentions else None
            self._blocks.append(_Block(indent, spaced(code), about))

    def _note_name(self, code: str) -> None:
        found = _NAMES.match(code)
        mentions = self.names.mentions(found["value"]) if found else []
        if mentions:
            about = frozenset(name for one in mentions for name in one.platforms)
            if self._blocks:
                self._blocks[-1].about = about
            else:
                self._top = about

    def _pairs(self, code: str, comment: str, number: int) -> Iterator[Claim]:
        if is_of_results(self.place.title):
            return
        path = ""
        for hit in (*_PAIR.finditer(code), *_RETURN.finditer(code)):
            before = code[: hit.start("words") if hit.groupdict().get("words") else hit.start("digits")]
            platforms = self._product(before, comment)
            if platforms:
                path = path or self.names.without(" ".join(block.words for block in self._blocks[-3:]))
                key = spaced(self.names.without(hit.groupdict().get("key") or ""))
                inline = spaced(self.names.without(_open_parts(before)))
                yield from self._claim(_Keyed(hit, key, inline, path, spaced(comment), number), platforms, comment)

    def _claim(self, said: _Keyed, platforms: frozenset[str], comment: str) -> Iterator[Claim]:
        words = f"{said.inline} {said.path} {said.comment}"
        if is_measured(words) or is_of_system(f"{said.inline} {said.path}"):
            return
        found = said.number()
        specified = is_specified(words) or is_specified(self.place.title)
        if found is None or not found.value or not _is_whole(found, said.key, specified):
            return
        can_be = fitting(found, said.meanings(found))
        if found.unit == "bytes" and not _DEVICE_MEMORY.search(words):
            can_be = tuple(one for one in can_be if one.metric != "memory_capacity")
        if can_be:
            sparsity = said_sparsity(f"{said.key} {said.comment}") or said_sparsity(said.path)
            cited = CITED.search(comment) is not None
            yield Claim(found, platforms, platforms, can_be, sparsity, specified, cited, words)

    def _product(self, before: str, comment: str) -> frozenset[str]:
        mentions = self.names.mentions(before)
        if mentions:
            return mentions[-1].platforms
        for block in reversed(self._blocks):
            if block.about is not None:
                return block.about
        if self._top is not None:
            return self._top
        beside = self.names.mentions(comment)
        return beside[0].platforms if len(beside) == 1 else frozenset()


@dataclass(frozen=True, slots=True)
class _Keyed:
    """A number or a text in code, and the words that lead to it, all in small letters."""

    hit: re.Match[str]
    key: str
    inline: str
    path: str
    comment: str
    line: int

    def meanings(self, number: HardwareNumber) -> list[Meaning]:
        """Return what the number can be: the nearest words that say it, and what the comment names besides."""
        near = f"{self.inline} {self.path}"
        for words in (self.key, self.inline, near, f"{near} {self.comment}"):
            can_be = meanings(number.dimension, words)
            if can_be:
                # a comment may name the format that is meant: TF32 beside the key fp32
                more = meanings("op/s", self.comment) if number.dimension == "op/s" else []
                return list(dict.fromkeys([*can_be, *more]))
        return []

    def number(self) -> HardwareNumber | None:
        """Return the number with the unit that the text, the key or the path names; None without one."""
        groups = self.hit.groupdict()
        if groups.get("words"):
            inside = list(numbers_in(groups["words"], self.line))
            alone = len(inside) == 1 and count_numbers(groups["words"]) == 1
            return replace(inside[0], start=self.hit.start("words") + inside[0].start) if alone else None
        for words in (self.key, self.inline, self.path):
            unit = next((name for name, pattern in _UNITS if pattern.search(words)), None)
            if unit is not None:
                return self._scaled(unit)
        if groups["power"] and _value(self.hit) >= _LEAST_BARE:
            return self._scaled("bytes/s" if re.search(r"bandwidth|\bbw\b", self.key) else "flops")
        return None

    def _scaled(self, unit: str) -> HardwareNumber | None:
        """Return the number in that unit; `989e12` is in base units also where the key says tflops."""
        digits, start = self.hit["digits"].replace("_", ""), self.hit.start("digits")
        text = self.hit[0][start - self.hit.start() :].strip().rstrip(",;")
        value = _value(self.hit)
        if unit not in _BARE:
            dimension, factors = UNIT_WORDS[unit]
            if not self.hit["power"]:
                ranges = prints_as(digits, factors)
                return HardwareNumber(self.line, f"{text} {unit}", dimension, ranges, "", value, unit, start)
            unit = {"op/s": "flops", "B/s": "bytes/s", "B": "bytes"}.get(dimension, "")
        if not unit or value < _LEAST[unit]:
            return None
        half = Fraction(1, 2 * 10 ** len(digits.partition(".")[2])) * Fraction(10) ** int(self.hit["power"] or 0)
        return HardwareNumber(self.line, text, _BARE[unit], ((value - half, value + half),), "", value, unit, start)


def _value(hit: re.Match[str]) -> Fraction:
    return Fraction(hit["digits"].replace("_", "")) * Fraction(10) ** int(hit["power"] or 0)


def _is_whole(number: HardwareNumber, key: str, specified: bool) -> bool:
    """Whether a number is said of the whole part: a rate that is specified, a count of all its SMs."""
    if number.dimension == "count":
        return specified or _COUNTS.search(key) is not None
    written_out = number.unit in _BARE  # 989e12: nobody writes a measurement so
    return number.dimension not in {"op/s", "Hz"} or specified or written_out


def _open_parts(before: str) -> str:
    """Return the words that lead to the end of a piece of code: what stands before each open bracket, and the last.

    >>> _open_parts('"H100": {"sms": 132, "tflops": {"bf16": ')
    '"H100":   "tflops":  "bf16": '
    """
    parts = [""]
    for letter in before:
        if letter in "([{":
            parts.append("")
        elif letter in ")]}":
            parts = parts[:-1] or [""]
        elif letter in ",;":
            parts[-1] = ""
        else:
            parts[-1] += letter
    return " ".join(parts)
