"""Search of a tuning space within a budget of evaluations and seconds: the whole of a small one, else by the searcher.

What a pruner refuses is told to the searcher as infinite and takes no evaluation, so that the budget goes to
configurations that can launch.
"""

from __future__ import annotations

import itertools
import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING

from kopt_kb.launch.candidate.answers import Search, ShapeSearch
from kopt_kb.launch.candidate.job import Request, SpaceAsked
from kopt_kb.launch.search.plain import plain_search

if TYPE_CHECKING:
    from kopt_kb.launch.candidate.search_pruning import Pruner

__all__ = ["ASKS", "Evaluate", "run_search", "searcher"]

Evaluate = Callable[[str, Mapping[str, object]], float]
"""(shape, configuration) → median seconds; infinite for one that does not work."""
Knobs = Mapping[str, Sequence[object]]
Asker = Iterator[tuple[dict[str, object], Callable[[float], None]]]
"""Yields a configuration and where to tell its time: ask and tell."""

ASKS = 4
"""Configurations asked for at most, in evaluations, when most of a space is pruned."""


def _forget(_: float) -> None:
    """Take a time that the strategy does not learn from."""


def searcher(
    space: Knobs, evaluations: int, seed: int, asks: int | None = None, first: Sequence[Mapping[str, object]] = ()
) -> tuple[str, Asker]:
    """Return the strategy's name and what asks it: all of a small space, else a search that learns.

    It learns by a model; without numpy by neighbours of the best.

    Args:
        space: Values of each knob.
        evaluations: Up to as many configurations a space is searched whole.
        seed: Of the search; the first configurations do not depend on `asks`.
        asks: Most configurations it gives besides `first`; None: `evaluations`.
        first: Configurations to begin with; one that is not of the space is left out.
    """
    if math.prod(map(len, space.values())) <= evaluations:
        names = tuple(space)
        every = (dict(zip(names, one, strict=True)) for one in itertools.product(*space.values()))
        return "exhaustive", ((config, _forget) for config in every)
    most = len(first) + (asks or evaluations)
    if find_spec("numpy") is None:  # the core installation, which simulates
        return "neighbours", plain_search(space, most, seed, first)
    return "model", Learning(space, most, seed, first)


class Learning:
    """A search that learns, as an iterator of configurations and where to tell their times."""

    def __init__(self, knobs: Knobs, most: int, seed: int, first: Sequence[Mapping[str, object]]) -> None:
        from kopt_kb.launch.search.searcher import Searcher  # numpy, which most commands need not wait for
        from kopt_kb.launch.search.space import Space

        self._search, self._left = Searcher(Space.of(knobs, seed=seed), seed, first), most

    def __iter__(self) -> Learning:
        """Return the search."""
        return self

    def __next__(self) -> tuple[dict[str, object], Callable[[float], None]]:
        """Return the next configuration; none is left once so many were given, or all."""
        place = self._search.ask() if self._left > 0 else None
        if place is None:
            raise StopIteration
        self._left -= 1
        return self._search.space.config(place), partial(self._search.tell, place)

    def learn(self, config: Mapping[str, object], numbers: Sequence[float]) -> None:
        """Take what is known of a configuration without running it."""
        place = self._search.space.find({name: config[name] for name in self._search.space.knobs if name in config})
        if place is not None:
            self._search.learn(place, numbers)

    def prefer(self, configs: Sequence[Mapping[str, object]]) -> int:
        """Return the position of the one that is to be timed next; what is not of the space comes first."""
        names = self._search.space.knobs
        places = [self._search.space.find({name: one[name] for name in names if name in one}) for one in configs]
        known = [one for one in places if one is not None]
        return places.index(None) if len(known) < len(places) else self._search.prefer(known)


def run_search(
    body: Request,
    evaluate: Evaluate,
    clock: Callable[[], float] = time.monotonic,
    pruner: Pruner | str = "not asked for",
) -> Search:
    """Return the best configuration of each shape, and all trials.

    Args:
        body: `spaces`, `evaluations` a shape, `seconds` in all, `seed`.
        evaluate: Times a configuration.
        clock: Seconds, for the budget.
        pruner: Judges configurations before they are timed, or why there is none.
    """
    end = clock() + body.seconds
    found: dict[str, ShapeSearch] = {}
    count = len(body.spaces)
    for at, (shape, one) in enumerate(sorted(body.spaces.items())):
        share = (end - clock()) / (count - at)
        found[shape] = _search_shape(one, body, _Trials(shape, evaluate, pruner), clock, clock() + share)
    return Search(found)


@dataclass(slots=True)
class _Trials:
    """What became of the configurations of one shape."""

    shape: str
    evaluate: Evaluate
    pruner: Pruner | str
    unjudged: int = 0
    pruned: Counter[str] = field(default_factory=Counter)
    tried: list[tuple[float, dict[str, object]]] = field(default_factory=list)

    def begin(self, first: Sequence[dict[str, object]]) -> None:
        """Time what the shape has, whatever a pruner says, and then the start if it may launch."""
        if not isinstance(self.pruner, str):
            self.pruner = self.pruner.admit(self.shape, first[0]) or self.pruner
        self._measure(first[0])
        for config in first[1:]:
            self.take(config, self.judge([config])[0])

    def judge(self, configs: Sequence[dict[str, object]]) -> list[str | None]:
        """Return the pruner's word on each configuration; all may be timed without one."""
        return [""] * len(configs) if isinstance(self.pruner, str) else self.pruner.judge(self.shape, configs)

    def take(self, config: dict[str, object], word: str | None) -> float:
        """Return the time of a configuration, infinite for a pruned one; nothing is measured twice."""
        known = next((value for value, one in self.tried if one == config), None)
        if known is not None:
            return known
        if word:
            self.pruned[word] += 1
            return math.inf
        self.unjudged += word is None
        return self._measure(config)

    def _measure(self, config: dict[str, object]) -> float:
        value = self.evaluate(self.shape, config)
        self.tried.append((value, config))
        return value

    def best(self, space: int, strategy: str) -> ShapeSearch:
        """Return the best configuration and the counts."""
        median, config = min(self.tried, key=lambda one: one[0])
        return ShapeSearch(
            config=config,
            median_s=median if math.isfinite(median) else None,
            space=space,
            strategy=strategy,
            evaluated=len(self.tried),
            failed=sum(not math.isfinite(value) for value, _ in self.tried),
            asked=len(self.tried) + sum(self.pruned.values()),
            pruned=dict(sorted(self.pruned.items())),
            unjudged=self.unjudged,
            pruning=self.pruner if isinstance(self.pruner, str) else "on",
        )


def _search_shape(
    space_asked: SpaceAsked, body: Request, trials: _Trials, clock: Callable[[], float], end: float
) -> ShapeSearch:
    start, knobs, most = dict(space_asked.start), space_asked.knobs, body.evaluations
    kept = start if space_asked.keep is None else dict(space_asked.keep)
    known = [start] if kept == start else [kept, start]
    trials.begin(known)
    plain = isinstance(trials.pruner, str)
    strategy, asker = searcher(knobs, most, body.seed, most if plain else ASKS * most, known)
    # A search that learns is told each answer before it is asked again; the other knows what comes next.
    size = 1 if strategy == "model" or isinstance(trials.pruner, str) else trials.pruner.batch
    end_count = math.inf if strategy == "exhaustive" else len(trials.tried) + most
    while clock() < end and (batch := list(itertools.islice(asker, size))):
        words = trials.judge([start | config for config, _ in batch])
        for (config, tell), word in zip(batch, words, strict=True):
            if len(trials.tried) >= end_count or clock() >= end:
                break
            tell(trials.take(start | config, word))
        if len(trials.tried) >= end_count:
            break
    return trials.best(math.prod(map(len, knobs.values())), strategy)
