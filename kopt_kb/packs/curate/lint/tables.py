"""Claims in Markdown tables: a header or the first cell names the product, header and row say what a cell means."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from kopt_kb.packs.curate.lint.claims import CITED, Claim, TextPlace, fitting, of_list
from kopt_kb.packs.curate.lint.lists import SpecList, is_plain
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
from kopt_kb.wiki.numbers import UNIT_WORDS, HardwareNumber, count_numbers, hedge_of, numbers_in, prints_as
from kopt_kb.wiki.products import ProductNames
from kopt_kb.wiki.row import COLUMNS

__all__ = ["TextTable"]

_NAMING = re.compile(
    r"\W*(?:gpus?|device|accelerator|product|platform|hardware|chip|card|model|part|sku|name|arch\w*|generation|"
    r"instance)"
    r"(?: name| model| type)?\W*",
    re.IGNORECASE,
)
_PLAIN = re.compile(
    r"^[\s*`]*(?P<hedge>[~≈∼]?)\s*\**(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)\**\s*"
    r"(?:\((?P<more>[^)]*)\))?[\s*`†]*$"
)
_CPU_CORE = re.compile(r"(?:per|each) (?:cpu )?core\b|/ ?core\b")
"""What a core has is a processor's beside the GPU: caches of GPUs are of an SM, a CU or a die."""
_UNIT = re.compile(r"\W*units?\W*", re.IGNORECASE)
_COUNT = re.compile(
    r"(?:number of |num(?:ber)? |# )?(?:sms?|cus?|compute units?|streaming multiprocessors?)(?: ?\(sms?\)| count)?"
)


class TextTable:
    """One table: fed row by row. A table of a wiki page has its own check and makes no claims here."""

    def __init__(self, header: list[str], names: ProductNames, place: TextPlace) -> None:
        self.names, self.place = names, place
        self.header = header
        named = [names.mentions(cell) for cell in header]
        self.columns = [hit[0].platforms if len(hit) == 1 else frozenset[str]() for hit in named]
        self.foreign = [bool(hit) for hit in named]
        self.by_column = any(self.foreign[1:])
        self.by_row = not self.by_column
        self.own = tuple(header) == COLUMNS
        self.units = next((at for at, cell in enumerate(header) if _UNIT.fullmatch(cell)), None)
        self.named = bool(_NAMING.match(header[0])) if header else False

    def row(self, cells: list[str], line: str, number: int) -> Iterator[Claim]:
        """Yield the claims of a row."""
        if len(cells) != len(self.header) or len(cells) < 2 or self.own:
            return
        rows = self.names.mentions(cells[0])
        own = frozenset(name for one in rows for name in one.platforms)
        if self.by_row and not own and _NAMING.fullmatch(self.header[1]):
            rows = self.names.mentions(cells[1])
            own = frozenset(name for one in rows for name in one.platforms)
        if len(rows) > 1:
            return  # what a row says of several products is true of none of them alone
        for at in range(1, len(cells)):
            platforms = self.columns[at] if self.by_column else own
            if not platforms and not self.by_column and not rows and not self.named:
                platforms = self.place.about
            if platforms:
                yield from self._cell(cells, at, platforms, line, number)

    def _cell(self, cells: list[str], at: int, platforms: frozenset[str], line: str, number: int) -> Iterator[Claim]:
        label = cells[0] if self.by_column or not self.names.mentions(cells[0]) else ""
        unit = cells[self.units] if self.units is not None and at != self.units else ""
        if said_sparsity(spaced(self.header[at])) and at > 1:
            unit = f"{unit} {self.header[at - 1]}"  # a column of sparse rates leaves the unit to the one beside it
        words = spaced(self.names.without(f"{self.header[at]} {label} {unit}"))
        everything = f"{words} {spaced(cells[at])}"
        title = self.place.title
        if (
            is_measured(everything)
            or is_of_results(title)
            or is_of_system(spaced(f"{everything} {cells[0]} {cells[1]}"))
        ):
            return
        if count_numbers(re.sub(r"\([^)]*\)", "", cells[at])) > 1:
            yield from self._list(cells[at], f"{self.header[at]} {label}", platforms, line, number)
            return
        parts = (spaced(self.header[at]), spaced(label))
        found = self._number(cells[at], words, parts, number)
        can_be = self._meanings(found, words, everything) if found is not None else ()
        if found is not None and can_be:
            sparsity = said_sparsity(spaced(cells[at])) or said_sparsity(words)
            specified = is_specified(everything) or is_specified(title)
            placed = replace(found, start=max(line.find(cells[at]), 0) + found.start)
            cited = CITED.search(line) is not None
            yield Claim(placed, platforms, platforms, can_be, sparsity, specified, cited, everything)

    def _list(self, cell: str, around: str, platforms: frozenset[str], line: str, number: int) -> Iterator[Claim]:
        """Yield the claims of a cell that lists numbers; header and label say nothing but what part it is of."""
        words = self.names.without(around)
        if not is_plain(words) or self.names.mentions(cell):
            return
        column = max(line.find(cell), 0)
        numbers = list(numbers_in(cell, number))
        listed = SpecList.without_name(cell, numbers) if numbers else None
        if listed is not None:
            for claim in of_list(cell, replace(listed, head=spaced(words)), numbers, platforms, self.place):
                yield replace(
                    claim,
                    number=replace(claim.number, start=column + claim.number.start),
                    cited=CITED.search(line) is not None,
                )

    def _meanings(self, number: HardwareNumber, words: str, everything: str) -> tuple[Meaning, ...]:
        if number.dimension == "B" and _CPU_CORE.search(everything):
            return ()
        can_be = meanings(number.dimension, words) or meanings(number.dimension, everything)
        return fitting(number, can_be)

    def _number(self, cell: str, words: str, parts: tuple[str, str], line: int) -> HardwareNumber | None:
        """Return the one number of a cell, its unit in the cell, the header or the row's label."""
        units = list(numbers_in(cell, line))
        if units:
            return None if count_numbers(re.sub(r"\([^)]*\)", "", cell)) > 1 else units[0]
        plain = _PLAIN.match(cell)
        if plain is None:
            return None
        digits = plain["digits"].replace(",", "")
        unit = self._unit(words)
        if unit is None and any(_COUNT.fullmatch(part.strip()) for part in parts):
            unit = "SMs"
        if unit is None:
            return None
        dimension, factors = UNIT_WORDS[unit]
        hedge = hedge_of(plain["hedge"], "") if plain["hedge"] else ""
        return HardwareNumber(
            line, f"{plain['digits']} {unit}", dimension, prints_as(digits, factors), hedge, Fraction(digits), unit, 0
        )

    def _unit(self, words: str) -> str | None:
        """Return the unit that header or label names; words are in small letters, units are compared so."""
        for unit in sorted(UNIT_WORDS, key=len, reverse=True):
            if len(unit) > 1 and re.search(rf"(?<![\w/]){re.escape(unit.casefold())}(?![\w/])", words):
                return unit
        return "W" if re.search(r"\((?:w|watts?)\)", words) else None
