"""The geometric mean and the two percent changes that every score, view and decision is computed with."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import overload

__all__ = ["change_pct", "geometric_mean", "speedup_pct"]


def geometric_mean(values: Iterable[float | None]) -> float | None:
    """Return the geometric mean of positive numbers, in their unit.

    None when there are no numbers, or one is missing, not positive or not finite: a mean over the rest would hide it.
    """
    known = list(values)
    numbers = [value for value in known if value is not None and math.isfinite(value) and value > 0]
    if not known or len(numbers) < len(known):
        return None
    return math.exp(math.fsum(map(math.log, numbers)) / len(numbers))


@overload
def change_pct(old: float, new: float) -> float: ...


@overload
def change_pct(old: float | None, new: float | None) -> float | None: ...


def change_pct(old: float | None, new: float | None) -> float | None:
    """Return 100 × (new / old - 1): positive when the value grew.

    None when one of them is missing; both are positive and of one unit.
    """
    return None if old is None or new is None else 100 * (new / old - 1)


@overload
def speedup_pct(old_s: float, new_s: float) -> float: ...


@overload
def speedup_pct(old_s: float | None, new_s: float | None) -> float | None: ...


def speedup_pct(old_s: float | None, new_s: float | None) -> float | None:
    """Return 100 × (old / new - 1) of two durations: the change of the rate, positive when it became faster.

    It is what a speedup of 1.05× is as a percentage, and not minus the change of the duration: half the time is
    +100 % here and -50 % there.
    """
    return change_pct(new_s, old_s)
