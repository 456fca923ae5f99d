"""What the caches before device memory of a product may hold back, by its page."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from kopt_kb.analysis.roofline.caches import CACHE_METRICS, held_by
from kopt_kb.quantity.quantity import Quantity
from kopt_kb.wiki.registry import Platform

__all__ = ["LastCaches", "last_caches"]


@dataclass(frozen=True, slots=True)
class LastCaches:
    """What the caches of a product hold together.

    Attributes:
        held: Bytes; None where a level's capacity is UNKNOWN, or no page states any: then all may be kept.
        citations: The rows that it rests on.
    """

    held: Fraction | None
    citations: tuple[str, ...] = ()


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
