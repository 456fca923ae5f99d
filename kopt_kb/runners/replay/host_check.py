"""An accepted ratio shown once more by chains of at least 20 ms, timed by this program's own clock."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass

from kopt_kb.runners.replay.judges import Judges, Loading
from kopt_kb.runners.replay.pairs import Pair
from kopt_kb.wire import Wire

__all__ = ["HostCheck", "host_check"]

_CHAIN_S = 20e-3
"""Least host time of a chain."""

_MOST_REPEATS = 1 << 14

_TOLERANCE, _SHARE = 0.02, 0.5
"""How far the two log ratios may be apart: the larger of this, and this share of what the events say."""


@dataclass(frozen=True, slots=True)
class HostCheck(Wire):
    """What the host's clock says of a shape.

    Attributes:
        shape: Which.
        host: Log ratio of candidate and incumbent in chains timed on the host; NaN is written as 0 with `agrees` false.
        events: Log ratio of their event times.
        agrees: Whether they are close.
    """

    shape: str
    host: float
    events: float
    agrees: bool


def host_check(judges: Judges, pair: Pair, shape: str, events: float) -> HostCheck:
    """Time chains of both sides, A B B A, and compare with what events said.

    A chain of n and one of 2n graphs are timed, with the record's steps and without them: the difference of the
    differences is what the steps take, free of messages and of what surrounds them.
    """
    incumbent, candidate = pair.sides
    repeats = max(_repeats(judges, side) for side in pair.sides)
    times: dict[str, list[float]] = {side.side: [] for side in pair.sides}
    for side in (incumbent, candidate, candidate, incumbent):
        times[side.side].append(_launch_s(judges, side, repeats))
    if min(min(one) for one in times.values()) <= 0:
        return HostCheck(shape, 0.0, events, agrees=False)
    means = {side: statistics.fmean(map(math.log, one)) for side, one in times.items()}
    host = means[candidate.side] - means[incumbent.side]
    return HostCheck(shape, host, events, abs(host - events) <= max(_TOLERANCE, _SHARE * abs(events)))


def _repeats(judges: Judges, side: Loading) -> int:
    """Return how many graphs take 20 ms, from chains that grow until they do."""
    repeats = 1
    while repeats < _MOST_REPEATS and judges.host_chain(side, repeats, empty=False)[0] < _CHAIN_S:
        repeats *= 2
    return repeats


def _launch_s(judges: Judges, side: Loading, repeats: int) -> float:
    """Return what one launch of the record takes by the host's clock."""
    seconds = 0.0
    launches = 1
    for empty, sign in ((False, 1), (True, -1)):
        short, few = judges.host_chain(side, repeats, empty=empty)
        long, many = judges.host_chain(side, 2 * repeats, empty=empty)
        seconds += sign * (long - short)
        launches = many - few
    return seconds / launches
