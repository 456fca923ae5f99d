"""Running totals whose every entry knows whether it is exact, a lower bound, an upper bound or unknown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from kopt_kb.analysis.ir.triton.footprint import Footprint

__all__ = ["LOWER", "UPPER", "IrDirection", "IrExactness", "IrTally", "TallyKey", "exactness_of"]

IrExactness = Literal["exact", "lower", "upper", "unknown"]
IrDirection = Literal["read", "written"]
TallyKey = tuple[object, ...]

UPPER, LOWER = 1, 2
"""Flag bits: some part may be smaller than counted; some part may be larger."""
_NAMES: tuple[IrExactness, ...] = ("exact", "upper", "lower", "unknown")


def exactness_of(flags: int) -> IrExactness:
    """The word for a set of flag bits; both bits together bound nothing."""
    return _NAMES[flags]


class IrTally:
    """Counts by key with flag bits, the bytes touched each way, and notes by IR line."""

    def __init__(self) -> None:
        self.amounts: dict[TallyKey, int] = {}
        self.flags: dict[TallyKey, int] = {}
        self.touched: dict[IrDirection, Footprint] = {"read": Footprint(), "written": Footprint()}
        self.notes: dict[tuple[int, str], None] = {}

    def add(self, key: TallyKey, amount: int, flags: int = 0) -> None:
        """Add to one entry and set its flag bits."""
        self.amounts[key] = self.amounts.get(key, 0) + amount
        if flags:
            self.flags[key] = self.flags.get(key, 0) | flags

    def add_cost(self, kind: str, cost: Mapping[tuple[str, str, str], int], times: int, flags: int = 0) -> None:
        """Add a cost `times` over under `(kind, class, dtype, engine or function)`."""
        for key, count in cost.items():
            self.add((kind, *key), count * times, flags)

    def note(self, line: int, text: str) -> None:
        """Remember once what happened at an IR line."""
        self.notes.setdefault((line, text))

    def include(self, other: IrTally, flags: int = 0) -> None:
        """Add all of another tally, setting flag bits on everything it counted."""
        for key, amount in other.amounts.items():
            self.add(key, amount, other.flags.get(key, 0) | flags)
        self._include_sets(other)

    def include_larger(self, one: IrTally, two: IrTally) -> None:
        """Add the larger entry of two alternatives as an upper bound."""
        for key in {**one.amounts, **two.amounts}:
            amount = max(one.amounts.get(key, 0), two.amounts.get(key, 0))
            same = one.amounts.get(key, 0) == two.amounts.get(key, 0)
            flags = one.flags.get(key, 0) | two.flags.get(key, 0)
            self.add(key, amount, flags if same and key[0] == "executed" else flags | UPPER)
        self._include_sets(one)
        self._include_sets(two)

    def include_as_possible(self, other: IrTally, *, repeated: bool = False) -> None:
        """Count nothing of another tally, but mark every entry it has as a lower bound here.

        What is `repeated` asks for more bytes, and touches none but those that it touched before.
        """
        for key in other.amounts:
            if not repeated:
                self.add(key, 0, LOWER)
            elif key[0] != "touched":
                self.add(("repeated", *key[1:]) if key[0] == "requested" else key, 0, LOWER)

    def _include_sets(self, other: IrTally) -> None:
        for direction, footprint in other.touched.items():
            self.touched[direction].update(footprint)
        self.notes.update(other.notes)
