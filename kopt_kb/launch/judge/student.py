"""Student's t: its distribution for whole degrees of freedom, and its quantiles."""

from __future__ import annotations

import math
from functools import lru_cache

__all__ = ["student_cdf", "student_quantile"]


def student_cdf(t: float, freedom: int) -> float:
    """Return P(T ≤ t): the finite sums of Abramowitz and Stegun, 26.7.3 (odd) and 26.7.4 (even degrees of freedom)."""
    angle = math.atan(t / math.sqrt(freedom))
    sine, squared = math.sin(angle), math.cos(angle) ** 2
    odd = freedom % 2
    term = total = math.cos(angle) if odd else 1.0
    for power in range(2 + odd, freedom - 1, 2):
        term *= squared * (power - 1) / power
        total += term
    within = sine * total if not odd else 2 / math.pi * (angle + (sine * total if freedom > 1 else 0.0))
    return (1 + within) / 2


@lru_cache(maxsize=256)
def student_quantile(share: float, freedom: int) -> float:
    """Return the t below which a share of the distribution lies, by bisection to the last digit.

    Raises:
        ValueError: The share is not inside 0 and 1, or there is no degree of freedom.
    """
    if not 0 < share < 1 or freedom < 1:
        raise ValueError(f"no quantile {share} of t with {freedom} degrees of freedom")
    if share < 0.5:
        return -student_quantile(1 - share, freedom)
    low, high = 0.0, 1.0
    while student_cdf(high, freedom) < share:
        high *= 2
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if student_cdf(middle, freedom) < share else (low, middle)
    return high
