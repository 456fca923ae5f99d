"""An accepted ratio shown once more by chains of at least 20 ms, timed by this program's own clock."""

from __future__ import annotations

import math
from dataclasses import dataclass

from kopt_kb.base.wire import Wire
from kopt_kb.launch.judge.judges import Judges, Loading
from kopt_kb.launch.judge.pairs import Pair

__all__ = ["HostCheck", "host_check"]

_CHAIN_S = 20e-3
"""Least host time of a chain."""

_MOST_REPEATS, _TURNS = 1 << 14, 3
_BOTH = (False, True)

_TOLERANCE, _SHARE = 0.02, 2 / 3
"""How much less the host may show than the events: the larger of this, and this share of what the events say. Between
launches of a chain there is no pause: what several steps of a launch wait for each other is shorter there."""


@dataclass(frozen=True, slots=True)
class HostCheck(Wire):
    """What the host's clock says of a shape.

    Attributes:
        shape: Which.
        host: Log ratio of candidate and incumbent in chains timed on the host; 0 where no time passed.
        events: Log ratio of their event times.
        agrees: Whether the host's clock shows the gain too: most of it, or more. Launches without a pause run at
            another clock and power than single ones, so the ratios themselves may differ.
    """

    shape: str
    host: float
    events: float
    agrees: bool


def host_check(judges: Judges, pair: Pair, shape: str, events: float) -> HostCheck:
    """Time chains of both sides in turn, and compare with what events said.

    What a chain takes without the record's steps is subtracted from what it takes with them: messages and flushes are
    in both. Of several chains the shortest counts: a host that does something else only makes them longer.
    """
    repeats = {side.side: _repeats(judges, side) for side in pair.sides}
    stamps: dict[tuple[str, bool], list[float]] = {(side.side, empty): [] for side in pair.sides for empty in _BOTH}
    for _ in range(_TURNS):
        for side in pair.sides:
            for empty in _BOTH:
                stamps[side.side, empty].append(judges.host_chain(side, repeats[side.side], empty=empty)[0])
    took = [(min(stamps[side.side, False]) - min(stamps[side.side, True])) / repeats[side.side] for side in pair.sides]
    if min(took) <= 0:
        return HostCheck(shape, 0.0, events, agrees=False)
    host = math.log(took[1] / took[0])
    return HostCheck(shape, host, events, host <= events + max(_TOLERANCE, _SHARE * abs(events)))


def _repeats(judges: Judges, side: Loading) -> int:
    """Return how many graphs take 20 ms, from chains that grow until they do."""
    repeats = 1
    while repeats < _MOST_REPEATS and judges.host_chain(side, repeats, empty=False)[0] < _CHAIN_S:
        repeats *= 2
    return repeats
