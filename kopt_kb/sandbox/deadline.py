"""The end of a call's budget: whatever is begun gets the seconds that are left, and is ended with them.

A moment is one of `time.monotonic`, infinite where nothing bounds the call. Whoever waits for something, a child, a
device, a maker, another machine, asks here how long; what may go on nevertheless, such as giving memory back, has
`LATE_S`. So a call ends within five seconds of its budget.
"""

from __future__ import annotations

import math
import time

__all__ = ["LATE_S", "left_s"]

LATE_S = 2.0
"""Seconds that tidying up and late answers have after the end."""


def left_s(ends_at: float, most_s: float = math.inf) -> float:
    """Return the seconds that something may take.

    Args:
        ends_at: When the call ends.
        most_s: What it may take at most, whatever is left.

    Raises:
        TimeoutError: None are left.
    """
    left = ends_at - time.monotonic()
    if left <= 0:
        raise TimeoutError("the time is over")
    return min(most_s, left)
