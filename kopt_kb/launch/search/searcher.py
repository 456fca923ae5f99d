"""The searcher: it is asked for places and told their times, in whatever order; it measures nothing itself.

A model of all places chooses most of them by what they may reach at best; every second is the likeliest neighbour of
the best so far. Once the model has grown as far as pays, neighbours are all that is asked for: the polish. What is
learnt of places without running them, such as their registers, is a coordinate like a knob; a place of which nothing is
learnt yet is taken to have what the places beside it have.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from kopt_kb.launch.search.space import Configuration, Floats, Space
from kopt_kb.launch.search.surrogate import Surrogate, filled, ranked

__all__ = ["PointProposer", "SearchFacts", "Searcher"]

_FIRST = 8
"""Places drawn before the model is asked."""
_OPTIMISM = 2.0
"""Deviations below its mean that a place is judged by."""
_DOUBT = 1.0
"""Deviations below its mean that a place is judged by among those that are at hand."""
_LOCAL_EVERY = 2
_DRAWN = 4
"""Places drawn of which the one is asked for whose values are the rarest so far."""
_MODELLED = 400
"""Told places up to which the model grows."""
_CENTRES = 20
"""Best places whose neighbours are looked through before a place is drawn."""


class PointProposer(Protocol):
    """Anything that searches by ask and tell."""

    def ask(self) -> int | None:
        """Return a place that nobody was given yet; None when there is none left."""

    def tell(self, place: int, time_s: float) -> None:
        """Take the time of a place, infinite for one that does not work."""


@dataclass(frozen=True)
class SearchFacts:
    """What is known of places without running any.

    Attributes:
        refused: Whether a place can't run: too much shared memory, no resident block, spills (places).
        floor_s: Seconds that none can go below, such as its roofline floor (places); 0: nothing known.
        features: More coordinates by which places resemble each other, in 0 to 1: occupancy, registers (places x any).
    """

    refused: npt.NDArray[np.bool_] | None = None
    floor_s: Floats | None = None
    features: Floats | None = None


class Searcher:
    """Searches a space by ask and tell; no place is given twice.

    Args:
        space: Where.
        seed: Of all that it draws.
        first: Configurations to begin with, such as the one in use.
        facts: What is known without running: refused places are never asked for, nor one whose floor is above the best.
    """

    def __init__(
        self, space: Space, seed: int = 0, first: Sequence[Configuration] = (), facts: SearchFacts | None = None
    ) -> None:
        self.space, self._facts = space, facts or SearchFacts()
        self._random = np.random.default_rng(seed)
        extra = self._facts.features
        features = space.features if extra is None else np.hstack([space.features, extra])
        self._features = features
        self._model = Surrogate(features, self._random)
        self._is_open = np.ones(len(space), dtype=np.bool_)
        if self._facts.refused is not None:
            self._is_open &= ~self._facts.refused
        begin = [at for at in map(space.find, first) if at is not None]
        self._queue = list(dict.fromkeys(begin))
        self._asked: dict[int, None] = {}  # in order
        self._learnt: dict[int, tuple[float, ...]] = {}
        self._at_hand = Surrogate(features[:0], self._random)
        self._working: list[tuple[float, int]] = []  # sorted
        self._told: dict[int, float] = {}
        self._mean: Floats = np.zeros(len(space))
        self._steps = 0

    @property
    def told(self) -> Mapping[int, float]:
        """Place → time of all that was told."""
        return self._told

    def best(self, count: int = 1) -> list[int]:
        """Return the places with the least times, the best first; failures are none of them."""
        return [at for _, at in self._working[:count]]

    def tell(self, place: int, time_s: float) -> None:
        """Take the first time of a place, infinite for one that does not work; somebody else may have tried it."""
        self.take(place)
        if place in self._told or math.isnan(time_s):
            return
        self._told[place] = time_s
        if math.isfinite(time_s):
            bisect.insort(self._working, (time_s, place))
            if self._facts.floor_s is not None:
                self._is_open &= self._facts.floor_s < self._working[0][0]

    def ask(self) -> int | None:
        """Return the next place; None when the space is exhausted."""
        while self._queue:
            place = self._queue.pop(0)
            if self._is_open[place]:
                return self.take(place)
        if not self._is_open.any():
            return None
        return self.take(self._balanced() if len(self._asked) < _FIRST or not self.best() else self._chosen())

    def take(self, place: int) -> int:
        """Hold a place for taken, as if it was asked for, and return it; somebody else may be at it."""
        self._asked[place] = None
        self._is_open[place] = False
        return place

    def prefer(self, places: Sequence[int]) -> int:
        """Return which of some places that were asked for is to be told next: the position of the likeliest.

        A place was chosen by what was known when it was asked for; where several are at hand, more is known by now.
        """
        if len(places) < 2 or len(self._told) < _FIRST // 2:
            return 0
        if len(self._told) > _MODELLED:
            return int(np.argmin(self._mean[list(places)]))
        told, at = list(self._told), [*self._told, *places]
        self._at_hand.reform(np.hstack([self._features[at], self._facts_of(at)]))
        mean, deviation = self._at_hand.predict(range(len(told)), ranked(list(self._told.values())))
        return int(np.argmin((mean - _DOUBT * deviation)[len(told) :]))

    def learn(self, place: int, numbers: Sequence[float]) -> None:
        """Take what is known of a place without running it, such as registers; as many numbers for each place."""
        self._learnt[place] = tuple(numbers)

    def _facts_of(self, at: Sequence[int]) -> Floats:
        """Return learnt numbers of places by their ranks; where nothing is learnt, what places beside it have."""
        if len(self._learnt) < 2:
            return np.zeros((len(at), 0))
        learnt = np.array(list(self._learnt.values()), dtype=np.float64)
        ranks = [np.unique(column, return_inverse=True)[1] for column in learnt.T]
        scaled = np.stack([one / max(1, one.max()) for one in ranks], axis=1)
        return filled(self._features[list(self._learnt)], scaled, self._features[at])

    def _chosen(self) -> int:
        self._steps += 1
        if len(self._asked) > _MODELLED:
            near = self._local(_CENTRES)
            return self._balanced() if near is None else near
        if self._learnt and self._model.is_due(len(self._asked)):
            self._model.reform(np.hstack([self._features, self._facts_of(range(len(self.space)))]))
        mean, deviation = self._model.predict(list(self._asked), self._values())
        self._mean = mean
        if self._steps % _LOCAL_EVERY == 0 and (near := self._local(_CENTRES // 2)) is not None:
            return near
        hopes = np.where(self._is_open, mean - _OPTIMISM * deviation, np.inf)
        return int(np.argmin(hopes))

    def _values(self) -> Floats:
        """Return the ranks of what was asked; a place whose time is awaited is taken to be as the model says."""
        known = [self._told.get(place) for place in self._asked]
        ranks = ranked([time for time in known if time is not None])
        values, at = np.empty(len(known)), 0
        for index, (place, time) in enumerate(zip(self._asked, known, strict=True)):
            if time is None:
                values[index] = self._mean[place]
            else:
                values[index], at = ranks[at], at + 1
        return values

    def _local(self, centres: int) -> int | None:
        """Return the likeliest open neighbour of the best place that has one."""
        for centre in self.best(centres):
            near = [at for at in self.space.neighbours(centre) if self._is_open[at]]
            if near:
                return near[int(np.argmin(self._mean[near]))]
        return None

    def _balanced(self) -> int:
        """Return, of some drawn places, the one whose values are the rarest among what was asked for."""
        is_open = np.flatnonzero(self._is_open)
        drawn = self._random.choice(is_open, min(_DRAWN, len(is_open)), replace=False)
        rows = self.space.places
        same = (rows[drawn][:, None, :] == rows[list(self._asked)][None, :, :]).sum(axis=(1, 2))
        return int(drawn[int(np.argmin(same))])
