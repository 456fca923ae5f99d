"""Scores of operations with a forward and a backward pass, and the geometric mean over shapes."""

from __future__ import annotations

import math
from collections.abc import Sequence

from kopt_kb.errors import BadInput

__all__ = ["combined_rate", "geometric_mean"]


def combined_rate(forward_per_s: float, backward_per_s: float | None) -> float:
    """Return the rate of one training step of a matrix product, in the unit of its inputs.

    Forward does 2·M·N·K operations and backward 4·M·N·K, so the step's rate is 6 / (2/F + 4/B). Without a
    backward pass it is the forward rate.

    Raises:
        BadInput: A rate that is no positive number.
    """
    for one in (forward_per_s, backward_per_s):
        if one is not None and not (math.isfinite(one) and one > 0):
            raise BadInput(f"{one!r} is no rate", where="score", code="KB401")
    return forward_per_s if backward_per_s is None else 6 / (2 / forward_per_s + 4 / backward_per_s)


def geometric_mean(rates: Sequence[float]) -> float:
    """Return the geometric mean of the rates of all shapes; one that failed must be given as 0 and makes it 0.

    Raises:
        BadInput: No rate, or one that is negative or no number.
    """
    if not rates or any(not (math.isfinite(one) and one >= 0) for one in rates):
        raise BadInput("a score needs the rate of every shape", where="score", code="KB401")
    if min(rates) == 0:
        return 0.0
    return math.exp(math.fsum(map(math.log, rates)) / len(rates))
