"""Searches that others use, as a table replays them: random, Optuna's TPE, a genetic algorithm, a local search, and
Kernel Tuner's strategies and Helion's pattern search where those packages are installed.

Each is given what the searcher is given: places that constraints allow, and times. Optuna can't be told of constraints,
so a draw that they forbid is told as pruned and counts for nothing.
"""

from __future__ import annotations

import importlib.util
import math
import random
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
from table_replay import TableSearch, asking

from kopt_kb.launch.search.searcher import Searcher
from kopt_kb.launch.search.space import Space

Time = Callable[[int], float]


def drawn(space: Space, seed: int, time: Time) -> None:
    """Search at random, without repeats."""
    for place in np.random.default_rng(seed).permutation(len(space)):
        time(int(place))


def tpe(space: Space, seed: int, time: Time) -> None:
    """Search by Optuna's TPE sampler with its defaults, over indices of values."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    pruned = optuna.trial.TrialState.PRUNED
    varied = {name: values for name, values in space.knobs.items() if len(values) > 1}
    while True:
        trial = study.ask()
        row = {name: trial.suggest_int(name, 0, len(values) - 1) for name, values in varied.items()}
        place = space.at([row.get(name, 0) for name in space.knobs])
        value = math.inf if place is None else time(place)
        if math.isfinite(value):
            study.tell(trial, value)
        else:
            study.tell(trial, state=pruned)


def genetic(space: Space, seed: int, time: Time) -> None:
    """Search by generations of twenty: ranks choose parents, a knob is of one of them, one in ten changes at random."""
    chooser, sizes = random.Random(seed), [len(values) for values in space.knobs.values()]
    rows = space.places.tolist()
    population = [rows[chooser.randrange(len(rows))] for _ in range(20)]
    while True:
        found = sorted(population, key=lambda row: _timed(space, row, time))
        weights = [len(found) - at for at in range(len(found))]
        population = found[:2]
        while len(population) < 20:
            one, other = chooser.choices(found, weights, k=2)
            child = [chooser.choice(pair) for pair in zip(one, other, strict=True)]
            child = [
                chooser.randrange(size) if chooser.random() < 0.1 else at for at, size in zip(child, sizes, strict=True)
            ]
            if space.at(child) is not None:
                population.append(child)


def _timed(space: Space, row: list[int], time: Time) -> float:
    place = space.at(row)
    return math.inf if place is None else time(place)


def local(space: Space, seed: int, time: Time) -> None:
    """Search from random places to the first better neighbour, until there is none, and again."""
    chooser = random.Random(seed)
    while True:
        place = chooser.randrange(len(space))
        best, better = time(place), True
        while better:
            better, near = False, space.neighbours(place)
            chooser.shuffle(near)
            for one in near:
                if (value := time(one)) < best:
                    place, best, better = one, value, True
                    break


def kernel_tuner(strategy: str) -> TableSearch:
    """Return a strategy of Kernel Tuner with its defaults; one that ends of its own accord begins again."""

    def search(space: Space, seed: int, time: Time) -> None:
        import kernel_tuner.util as util
        from kernel_tuner.interface import Options
        from kernel_tuner.searchspace import Searchspace

        random.seed(seed)
        np.random.seed(seed)  # Kernel Tuner draws from the global generators
        module = importlib.import_module(f"kernel_tuner.strategies.{strategy}")
        knobs = {name: list(values) for name, values in space.knobs.items()}
        names = list(knobs)

        def allowed(config: dict[str, object]) -> bool:
            return space.find({name: config[name] for name in names}) is not None

        every = Searchspace(knobs, allowed, 1 << 30)

        class Runner:
            """Answers from the table."""

            units: ClassVar[dict[str, str]] = {}

            def run(self, configs: Any, _: Any) -> list[dict[str, object]]:
                return [self.one(dict(zip(names, map(_plain, config), strict=True))) for config in configs]

            def one(self, config: dict[str, object]) -> dict[str, object]:
                place = space.find(config)
                value = math.inf if place is None else time(place)
                failure = {"__error__": util.RuntimeFailedConfig()}
                return {**config, **({"time": value} if math.isfinite(value) else failure)}

            def add_strategy_time(self, _: float) -> None:
                return

            def get_device_info(self) -> Any:
                return SimpleNamespace(max_threads=1 << 30)

        while True:
            options = Options(
                {
                    "objective": ["time"], "objective_higher_is_better": [False], "tune_params": knobs,
                    "verbose": False,
                    "strategy_options": Options({"max_fevals": len(space)}), "restrictions": allowed, "cache": {},
                    "budget": util.TuningBudget(None, len(space)), "metrics": None, "strategy": strategy,
                }
            )  # fmt: skip
            module.tune(every, Runner(), options)

    return search


def _plain(value: Any) -> object:
    return value.item() if isinstance(value, np.generic) else value


def helion(space: Space, seed: int, time: Time) -> None:
    """Search by Helion's pattern search with its defaults; it begins again when it converges.

    Its search is its own code; compiling, checking and timing again are left out, since a table has the times.
    """
    import torch
    from helion.autotuner import EnumFragment
    from helion.autotuner.base_search import BenchmarkResult
    from helion.autotuner.external import _ExternalKernelAdapter, create_user_config_spec
    from helion.autotuner.pattern_search import PatternSearch

    random.seed(seed)
    torch.manual_seed(seed)
    varied = {name: values for name, values in space.knobs.items() if len(values) > 1}
    fixed = {name: values[0] for name, values in space.knobs.items() if len(values) == 1}

    class Scripted(PatternSearch):
        """Times come from the table."""

        def benchmark_batch(self, configs: Any, **_: Any) -> Any:
            return [self.one(config) for config in configs]

        def one(self, config: Any) -> Any:
            place = space.find({**fixed, **{name: config.config[name] for name in varied}})
            value = math.inf if place is None else time(place)
            status = "ok" if math.isfinite(value) else "error"
            return BenchmarkResult(config=config, fn=print, perf=value, status=status, compile_time=0.0)

        def rebenchmark_population(self, *_: Any, **__: Any) -> None:
            return

        def _finalize(self) -> Any:
            return None

        def set_generation(self, _: int) -> None:
            return

        benchmark_provider = SimpleNamespace(take_effective_source_repairs=dict, cleanup=lambda: None)

    spec = create_user_config_spec({name: EnumFragment(tuple(values)) for name, values in varied.items()})
    while True:
        adapter = _ExternalKernelAdapter(spec, lambda _: print, (), device=torch.device("cpu"))
        Scripted(adapter, ())._autotune()  # the search without its benchmark


def installed() -> dict[str, TableSearch]:
    """Return name → search of all that can run here, the searcher first."""
    found: dict[str, TableSearch] = {"searcher": asking(Searcher), "random": drawn, "genetic": genetic, "local": local}
    if importlib.util.find_spec("optuna") is not None:
        found["tpe"] = tpe
    if importlib.util.find_spec("kernel_tuner") is not None:
        for name in ("genetic_algorithm", "greedy_ils", "diff_evo", "simulated_annealing"):
            found[f"kernel_tuner {name}"] = kernel_tuner(name)
    if importlib.util.find_spec("helion") is not None:
        found["helion pattern_search"] = helion
    return found
