"""The second floor: what machine code that was read allows, whichever route its check could accept."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from kopt_kb.analysis.roofline.floor import STRASSEN, multiplied
from kopt_kb.analysis.roofline.rates import HighestRate, highest_rate
from kopt_kb.problem.work import Work
from kopt_kb.wiki.registry import Platform

__all__ = ["ExecutedFloor", "executed_floor"]

_LANE_PRODUCTS = 4
"""Products that a lane adds in the clock of one fp32 product at most: dot products of four bytes."""


@dataclass(frozen=True, slots=True)
class ExecutedFloor:
    """The time below which the machine code can't have computed the products of a work.

    Attributes:
        seconds: Exact; None where a rate is UNKNOWN or the work has no products.
        engine: What the code has: `tf32 matrix instructions`, `no matrix instructions`.
    """

    seconds: Fraction | None
    engine: str


def executed_floor(work: Work, platform: Platform, types: tuple[str, ...]) -> ExecutedFloor:
    """Return the floor of the products of a work by code whose matrix instructions multiply these types.

    Each product of the work takes at least one product of one of the types, or of a lane; both engines may run at once.
    How often an instruction runs is not counted: a route of several products is held as if it were of one.

    Args:
        work: With products of dense matrices; others have no such floor.
        platform: Whose rates are taken, at its highest clock.
        types: Of the matrix instructions in the bytes that were timed; none: all products are of lanes.
    """
    engine = f"{', '.join(types)} matrix instructions" if types else "no matrix instructions"
    amount = multiplied(work)
    rates = [highest_rate(platform, one) for one in types]
    known = [one.per_s for one in rates if isinstance(one, HighestRate)]
    lanes = highest_rate(platform, "fp32")
    if not amount or len(known) < len(rates) or not isinstance(lanes, HighestRate):
        return ExecutedFloor(None, engine)
    per_s = max(known, default=Fraction(0)) + _LANE_PRODUCTS * lanes.per_s
    return ExecutedFloor(amount * STRASSEN / per_s, engine)
