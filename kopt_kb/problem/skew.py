"""Rows of each expert as routers leave them: even, with capacity, and with one expert that has half of them."""

from __future__ import annotations

import random
from typing import Literal, get_args

from kopt_kb.base.errors import BadInput

__all__ = ["DISTRIBUTIONS", "Distribution", "is_skewed", "rows_per_expert"]

Distribution = Literal["uniform", "top2", "top1", "dominant"]
"""Every expert alike; top 2 of a router with capacity factor 1; top 1 with 1.25; one expert with half of all rows."""

DISTRIBUTIONS: tuple[Distribution, ...] = get_args(Distribution)
"""What a grouped product is validated with."""

_TOP: dict[Distribution, tuple[int, float]] = {"top2": (2, 1.0), "top1": (1, 5 / 4)}
"""Distribution → experts that a token chooses, capacity of an expert over an even share."""


def rows_per_expert(distribution: Distribution, rows: int, experts: int, seed: int = 0) -> tuple[int, ...]:
    """Return the rows of each expert; they add up to `rows`, and but for `uniform` the last expert has none.

    Args:
        distribution: How rows fall.
        rows: All rows.
        experts: Number of experts, two or more.
        seed: Of the router that stands in for a real one; a generator of its own, not the global one.

    Raises:
        BadInput: Fewer than two experts, or fewer rows than experts.
    """
    if experts < 2 or rows < experts:
        raise BadInput(
            f"{rows} rows for {experts} experts", where="skew", fix="two experts, a row for each", code="KB105"
        )
    if distribution == "uniform":
        share, rest = divmod(rows, experts)
        return tuple(share + (at < rest) for at in range(experts))
    if distribution == "dominant":
        half = -(-rows // 2)
        others = experts - 2
        share, rest = divmod(rows - half, others) if others else (0, 0)
        spread = [share + (at < rest) for at in range(others)]
        return (rows - sum(spread), *spread, 0)
    return _routed(distribution, rows, experts, seed)


def _routed(distribution: Distribution, rows: int, experts: int, seed: int) -> tuple[int, ...]:
    """Return the rows that a router with uneven preferences gives, none above an expert's capacity."""
    chosen, factor = _TOP[distribution]
    draw = random.Random(seed)  # noqa: S311 - a distribution, no secret
    liked = [draw.paretovariate(1.0) for _ in range(experts - 1)]
    capacity = max(-(-int(factor * chosen * rows) // experts), -(-rows // (experts - 1)))
    counts = [0] * (experts - 1)
    for _ in range(rows):
        free = [at for at in range(experts - 1) if counts[at] < capacity]
        counts[draw.choices(free, [liked[at] for at in free])[0]] += 1
    return (*counts, 0)


def is_skewed(groups: tuple[int, ...]) -> bool:
    """Return whether rows of groups are uneven as in training: one has twice an even share, or one has none."""
    even = sum(groups) / len(groups) if groups else 0
    return bool(groups) and (max(groups) >= 2 * even or min(groups) == 0)
