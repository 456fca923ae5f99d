"""What the caches before device memory may hold back: bytes that a kernel wrote and that memory never sees.

One rule for every floor. A dirty line of L2 need not lie in a last-level cache behind it, so both may keep what was
written: the sum of the levels is the most that memory is spared, and the floor that it leaves holds in any case.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

__all__ = ["CACHE_METRICS", "held_by"]

CACHE_METRICS = ("llc_capacity", "l2_capacity")
"""Capacities of the caches before device memory, a level each."""


def held_by(known: Iterable[tuple[str, Fraction]], unknown: Iterable[str]) -> Fraction | None:
    """Return the bytes that the caches of a product may hold together; None where nobody says.

    Args:
        known: Key of a row, such as `l2_capacity[config=full]`, and its bytes: of several of a level the largest
            counts, which is that of all dies, or of the whole chip.
        unknown: Keys whose value is UNKNOWN.
    """
    levels: dict[str, Fraction] = {}
    for key, size in known:
        metric = key.partition("[")[0]
        if metric in CACHE_METRICS:
            levels[metric] = max(levels.get(metric, Fraction(0)), size)
    lacking = {key.partition("[")[0] for key in unknown} & set(CACHE_METRICS)
    return sum(levels.values(), Fraction(0)) if levels and not lacking - levels.keys() else None
