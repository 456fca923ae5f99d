"""What the caches before device memory may hold back: bytes that a kernel wrote and that memory never sees.

One rule for every floor. A dirty line of L2 need not lie in a last-level cache behind it, so both may keep what was
written: the sum of the levels is the most that memory is spared, and the floor that it leaves holds in any case.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from kopt_kb.quantity.quantity import Quantity
from kopt_kb.wiki.registry import Platform

__all__ = ["CACHE_METRICS", "LastCaches", "held_by", "last_caches"]

CACHE_METRICS = ("llc_capacity", "l2_capacity")
"""Capacities of the caches before device memory, a level each."""


@dataclass(frozen=True, slots=True)
class LastCaches:
    """What the caches of a product hold together.

    Attributes:
        held: Bytes; None where a level's capacity is UNKNOWN, or no page states any: then all may be kept.
        citations: The rows that it rests on.
    """

    held: Fraction | None
    citations: tuple[str, ...] = ()


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


def last_caches(platform: Platform) -> LastCaches:
    """Return what the caches of a product may hold together, by its page."""
    rows = [row for row in platform.sheet.chosen().values() if row.metric in CACHE_METRICS]
    values = [(row.key, platform.quantity(row)) for row in rows]
    known = [(key, value) for key, value in values if isinstance(value, Quantity)]
    held = held_by(((key, one.si) for key, one in known), (row.key for row in rows if row.kind == "unknown"))
    used = [one for key, one in known if one.si == max(each.si for name, each in known if _same(name, key))]
    return LastCaches(held, tuple(dict.fromkeys(text for one in used for text in one.citation_texts)))


def _same(one: str, two: str) -> bool:
    return one.partition("[")[0] == two.partition("[")[0]
