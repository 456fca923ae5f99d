"""Search of a tuning space within a budget of evaluations and seconds: exhaustive, Optuna, or seeded random."""

from __future__ import annotations

import importlib.util
import itertools
import math
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

__all__ = ["Evaluate", "run_search", "searcher"]

Evaluate = Callable[[str, Mapping[str, object]], float]
"""(shape, configuration) → median seconds; infinite for one that does not work."""
Space = Mapping[str, Sequence[object]]
Asker = Iterator[tuple[dict[str, object], Callable[[float], None]]]
"""Yields a configuration and where to tell its time: ask and tell."""


def _forget(_: float) -> None:
    """Take a time that the strategy does not learn from."""


def searcher(space: Space, evaluations: int, seed: int) -> tuple[str, Asker]:
    """Return the strategy's name and what asks it: all of a small space, else Optuna if installed, else random."""
    if math.prod(map(len, space.values())) <= evaluations:
        names = tuple(space)
        every = (dict(zip(names, one, strict=True)) for one in itertools.product(*space.values()))
        return "exhaustive", ((config, _forget) for config in every)
    if importlib.util.find_spec("optuna") is not None:
        return "optuna", _optuna(space, evaluations, seed)
    return "random", _random(space, evaluations, seed)


def _random(space: Space, evaluations: int, seed: int) -> Asker:
    chooser = random.Random(seed)  # noqa: S311 - a search, no secret
    seen: set[tuple[int, ...]] = set()
    for _ in range(20 * evaluations):
        place = tuple(chooser.randrange(len(values)) for values in space.values())
        if place not in seen:
            seen.add(place)
            yield {name: values[at] for at, (name, values) in zip(place, space.items(), strict=True)}, _forget
        if len(seen) >= evaluations:
            return


def _optuna(space: Space, evaluations: int, seed: int) -> Asker:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed, multivariate=False))
    seen: set[tuple[int, ...]] = set()
    for _ in range(4 * evaluations):
        trial = study.ask()
        # Optuna wants plain values: it chooses places in the lists.
        place = tuple(trial.suggest_int(name, 0, len(values) - 1) for name, values in space.items())
        config = {name: values[at] for at, (name, values) in zip(place, space.items(), strict=True)}
        if place in seen:
            study.tell(trial, state=optuna.trial.TrialState.PRUNED)
            continue
        seen.add(place)
        yield config, partial(_tell, study, trial)
        if len(seen) >= evaluations:
            return


def _tell(study: Any, trial: Any, value: float) -> None:
    import optuna

    if math.isfinite(value):
        study.tell(trial, value)
    else:
        study.tell(trial, state=optuna.trial.TrialState.FAIL)


def run_search(
    body: Mapping[str, Any], evaluate: Evaluate, clock: Callable[[], float] = time.monotonic
) -> dict[str, Any]:
    """Return the best configuration of each shape, and all trials.

    Args:
        body: `spaces` (shape → start, knobs, and `keep`, what the shape has now), `evaluations` a shape,
            `seconds` in all, `seed`.
        evaluate: Times a configuration.
        clock: Seconds, for the budget.

    Returns:
        `shapes`: shape → config, median_s (None when nothing worked), evaluated, space, strategy.
    """
    end = clock() + float(body["seconds"])
    found: dict[str, Any] = {}
    count = len(body["spaces"])
    for at, (shape, one) in enumerate(sorted(body["spaces"].items())):
        share = (end - clock()) / (count - at)
        found[shape] = _search_shape(shape, one, body, evaluate, clock, clock() + share)
    return {"shapes": found}


def _search_shape(
    shape: str, one: Mapping[str, Any], body: Mapping[str, Any], evaluate: Evaluate, clock: Callable[[], float],
    end: float,
) -> dict[str, Any]:  # fmt: skip
    start, knobs = dict(one["start"]), one["knobs"]
    strategy, asker = searcher(knobs, int(body["evaluations"]), int(body["seed"]))
    first = [start] if one.get("keep") in (None, start) else [dict(one["keep"]), start]
    tried: list[tuple[float, dict[str, object]]] = [(evaluate(shape, config), config) for config in first]
    for config, tell in asker:
        if clock() >= end:
            break
        value = evaluate(shape, start | config)
        tell(value)
        tried.append((value, start | config))
    best = min(range(len(tried)), key=lambda index: tried[index][0])
    median, config = tried[best]
    return {
        "config": config, "median_s": median if math.isfinite(median) else None, "evaluated": len(tried),
        "space": math.prod(map(len, knobs.values())), "strategy": strategy,
        "failed": sum(not math.isfinite(value) for value, _ in tried),
    }  # fmt: skip
