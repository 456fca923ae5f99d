"""A search against a table instead of a device: what it evaluates, when it meets the best, what it selects at the end.

An evaluation is one configuration that the search asks to run, once: a failing one counts, as it costs its user a
compile or a launch (so count autotuning_methodology and Kernel Tuner). What constraints forbid is not in a table and
counts for nobody; a configuration asked for again costs nothing.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np
from result_table import ResultTable

from kopt_kb.launch.search.searcher import PointProposer
from kopt_kb.launch.search.space import Space

__all__ = ["FINALISTS", "Over", "Rules", "Run", "TableReplay", "TableSearch", "asking", "median_hit", "replay"]

SAMPLES, AGAIN = 5, 24
"""Runs of an evaluation, and of a finalist when it is timed again."""
FINALISTS = 8


@dataclass
class TableReplay:
    """Times of a table as a device would give them: the median of a few of the recorded runs, drawn anew each time.

    Args:
        table: Recorded results.
        seed: Of the draws.
        samples: Runs of one evaluation.
    """

    table: ResultTable
    seed: int = 0
    samples: int = SAMPLES
    evaluated: dict[int, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._random = np.random.default_rng(self.seed)

    def time(self, place: int) -> float:
        """Return the seconds of a place, infinite for a failure; the same when it is asked again."""
        if place not in self.evaluated:
            self.evaluated[place] = self.again(place, self.samples)
        return self.evaluated[place]

    def again(self, place: int, samples: int = AGAIN) -> float:
        """Return the median of fresh draws of a place's runs, infinite for a failure."""
        times = self.table.results[place].times_s
        return float(np.median(self._random.choice(times, samples))) if times else float("inf")

    def selected(self) -> int:
        """Return the place that timing the best few again, in turn, would choose."""
        best = sorted(self.evaluated, key=self.evaluated.__getitem__)[:FINALISTS]
        return min(best, key=self.again)


@dataclass(frozen=True, slots=True)
class Run:
    """One search of a table.

    Attributes:
        hit: Evaluations until the first within the share of the best; None: not within the budget.
        found: Ratio of the best evaluated to the best there is, 1 or more, after `judged_at` evaluations: exploration
            error.
        first_timed: Ratio of what its own times would select then to the best there is.
        selected: The same once the finalists were timed again: exploration and selection error.
    """

    hit: int | None
    found: float
    first_timed: float
    selected: float


@dataclass(frozen=True, slots=True)
class Rules:
    """How searches of a table are judged.

    Attributes:
        budget: Most evaluations until a hit.
        judged_at: Evaluations after which it is seen what would be selected; at most the budget.
        share: How near to the best is a hit.
    """

    budget: int
    judged_at: int
    share: float = 0.02


class Over(BaseException):
    """The run is decided: budget spent, or hit and judged; no handler of errors may swallow that."""


TableSearch = Callable[[Space, int, Callable[[int], float]], None]
"""Searches a space from a seed by calling for times of places, until `Over` comes out of that, or it has enough."""


def asking(make: Callable[[Space, int], PointProposer]) -> TableSearch:
    """Return a search that asks a proposer."""

    def search(space: Space, seed: int, time: Callable[[int], float]) -> None:
        proposer = make(space, seed)
        while (place := proposer.ask()) is not None:
            proposer.tell(place, time(place))

    return search


def replay(table: ResultTable, search: TableSearch, seed: int, rules: Rules) -> Run:
    """Return how a search of a table went; it ends with its hit, its budget or its space, not before it is judged.

    Args:
        table: The table.
        search: What is judged.
        seed: Of search and draws.
        rules: Budget and goal.
    """
    judge = _Judge(TableReplay(table, seed), rules)
    with suppress(Over):
        search(table.space, seed, judge.time)
    return Run(judge.hit, *(judge.errors or _errors(judge.device)))


@dataclass
class _Judge:
    """Answers a search, and ends it."""

    device: TableReplay
    rules: Rules
    hit: int | None = None
    errors: tuple[float, float, float] | None = None
    calls: int = 0

    def time(self, place: int) -> float:
        device, rules = self.device, self.rules
        self.calls += 1
        if self.calls > _CALLS * rules.budget:
            raise Over
        time_s, count = device.time(place), len(device.evaluated)
        if self.hit is None and device.table.medians_s[place] <= (1 + rules.share) * device.table.best_s:
            self.hit = count
        if self.errors is None and count >= min(rules.judged_at, rules.budget):
            self.errors = _errors(device)
        if count >= rules.budget or (self.hit and self.errors):
            raise Over
        return time_s


_CALLS = 50
"""Calls for times, in budgets: a search that asks for the same again and again has nothing left to find."""


def _errors(device: TableReplay) -> tuple[float, float, float]:
    """Return the ratios to the best: of the best evaluated, of what seems best, of what is best when timed again."""
    truth, best = device.table.medians_s, device.table.best_s
    seems = min(device.evaluated, key=device.evaluated.__getitem__)
    found = min(float(truth[place]) for place in device.evaluated)
    return found / best, float(truth[seems]) / best, float(truth[device.selected()]) / best


def median_hit(runs: Sequence[Run]) -> float:
    """Return the median evaluations to the goal, infinite when half of the runs missed it."""
    return statistics.median([float("inf") if one.hit is None else one.hit for one in runs])
