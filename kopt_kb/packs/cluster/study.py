"""A search that several processes share: an Optuna study in a file, where each trial has an owner and is counted once.

Optuna keeps the trials; what is tried next is chosen by each process's own searcher, which is told what all found.

Values are ratios to what the shape has now, each taken on its asker's own device. A trial whose owner went is given
back: its configuration waits for another asker, once.
"""

from __future__ import annotations

import importlib.util
import math
import random
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from kopt_kb.base.errors import MissingTool
from kopt_kb.launch.search.searcher import Searcher
from kopt_kb.launch.search.space import Space

__all__ = ["SharedStudy"]

_NAME = "search"
_TRIES = 2
_LOCK_S = 5
"""Seconds after which the file's lock counts as left behind by a process that was killed."""
_ORPHAN_S = 30.0
_DRAWS = 1000
"""Draws in which a configuration that nobody tried is looked for where the strategy names a known one."""

Place = tuple[int, ...]
Tell = Callable[[float], None]


class SharedStudy:
    """The study in a file; each process has its own.

    Args:
        path: The file; made when it is not there. It may lie on a file system that several machines share.
        knobs: Knob → values to try.
        seed: Of the strategy; differs between processes.
        owner: Who asks: a name that no other process has, also not one that took the place of a dead one.

    Raises:
        MissingTool: Optuna is not installed.
    """

    def __init__(self, path: Path, knobs: Mapping[str, Sequence[object]], seed: int, owner: str = "") -> None:
        if importlib.util.find_spec("optuna") is None:
            fix = "install kopt-kb with its extra [tune], or optuna"
            raise MissingTool("optuna is not installed", where="kb tune", fix=fix, code="KB120")
        import optuna
        from optuna.storages import JournalStorage
        from optuna.storages.journal import JournalFileBackend, JournalFileOpenLock

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._states: Any = optuna.trial.TrialState
        self._knobs, self._owner = {name: list(values) for name, values in knobs.items()}, owner
        self._random = random.Random(f"{seed} {owner}")  # noqa: S311 - a search, no secret
        backend = JournalFileBackend(str(path), JournalFileOpenLock(str(path), grace_period=_LOCK_S))
        self._study: Any = optuna.create_study(
            study_name=_NAME,
            storage=JournalStorage(backend),
            sampler=optuna.samplers.RandomSampler(seed=seed),  # for what no searcher chose
            load_if_exists=True,
        )
        self._search = Searcher(Space.of(self._knobs), seed)

    @property
    def size(self) -> int:
        """Configurations of the whole space."""
        return math.prod(map(len, self._knobs.values()))

    def put(self, configs: Iterable[Mapping[str, object]]) -> None:
        """Let configurations wait for whoever asks next; one with a value that no knob has is left out."""
        for config in configs:
            place = self._place(config)
            if place is not None:
                self._study.enqueue_trial(place, skip_if_exists=True)

    def _place(self, config: Mapping[str, object]) -> dict[str, int] | None:
        try:
            return {name: values.index(config[name]) for name, values in self._knobs.items()}
        except (KeyError, ValueError):
            return None

    def _config(self, params: Mapping[str, int]) -> dict[str, object]:
        return {name: values[params[name]] for name, values in self._knobs.items()}

    def _trials(self, *states: str) -> list[Any]:
        wanted = [self._states[one] for one in states]
        return [
            trial
            for trial in self._study.get_trials(deepcopy=False, states=wanted)
            if len(trial.params) == len(self._knobs)
        ]

    def _where(self, trial: Any) -> Place:
        return tuple(trial.params[name] for name in self._knobs)

    def counted(self) -> dict[Place, float]:
        """Return place → ratio of each configuration that has an answer, infinite for one that does not work."""
        found: dict[Place, float] = {}
        for one in self._trials("COMPLETE", "PRUNED"):
            found.setdefault(self._where(one), math.inf if one.value is None else one.value)
        return found

    def ranked(self) -> list[tuple[float, dict[str, object]]]:
        """Return (ratio, configuration) of all answers, the best first; each configuration once."""
        names = tuple(self._knobs)
        ordered = sorted(self.counted().items(), key=lambda one: one[1])
        return [(value, self._config(dict(zip(names, place, strict=True)))) for place, value in ordered]

    def is_over(self, most: int) -> bool:
        """Whether nothing waits and so many configurations have an answer or somebody at work on them."""
        if self._study.get_trials(deepcopy=False, states=[self._states.WAITING]):
            return False
        return len(self.counted().keys() | {self._where(one) for one in self._trials("RUNNING")}) >= min(
            most, self.size
        )

    def asked(self, most: int) -> Iterator[tuple[dict[str, object], Tell]]:
        """Yield configurations and where to tell their ratio, until all that are wanted are taken by somebody."""
        while not self.is_over(most):
            self._suggest()
            trial = self._study.ask()
            trial.set_user_attr("owner", self._owner)
            params = {name: trial.suggest_int(name, 0, len(values) - 1) for name, values in self._knobs.items()}
            place = tuple(params.values())
            known = self.counted()
            others = {self._where(one) for one in self._trials("RUNNING") if one.number < trial.number}
            if place in known or place in others:
                if place in known:
                    self._tell(trial.number, known[place])
                else:
                    self._study.tell(trial.number, state=self._states.FAIL)
                self._put_new(known.keys() | others)
                continue

            def tell(value: float, number: int = trial.number) -> None:
                self._tell(number, value)

            yield self._config(params), tell

    def _suggest(self) -> None:
        """Let the searcher's choice wait, if nothing else does."""
        if self._study.get_trials(deepcopy=False, states=[self._states.WAITING]):
            return
        space = self._search.space
        for place in map(self._where, self._trials("RUNNING")):
            if (at := space.at(place)) is not None:
                self._search.take(at)
        for place, value in self.counted().items():
            if (at := space.at(place)) is not None:
                self._search.tell(at, value)
        if (chosen := self._search.ask()) is not None:
            params = dict(zip(self._knobs, space.places[chosen].tolist(), strict=True))
            self._study.enqueue_trial(params, skip_if_exists=True)

    def _put_new(self, taken: Collection[Place]) -> None:
        """Let a configuration wait that nobody tried, drawn at random: another process chose the same."""
        for _ in range(_DRAWS):
            drawn = {name: self._random.randrange(len(values)) for name, values in self._knobs.items()}
            if tuple(drawn.values()) not in taken:
                self._study.enqueue_trial(drawn, skip_if_exists=True)
                return

    def _tell(self, number: int, value: float) -> None:
        if math.isfinite(value):
            self._study.tell(number, value)
        else:
            self._study.tell(number, state=self._states.PRUNED)

    def give_back(self, owner: str) -> int:
        """Let the configurations wait again that an owner who went was at; return how many.

        One under which as many askers went as may is told to be no good.
        """
        count = 0
        for trial in self._study.get_trials(deepcopy=False, states=[self._states.RUNNING]):
            whose = trial.user_attrs.get("owner")
            begun = trial.datetime_start.timestamp()
            is_orphan = whose is None and time.time() - begun > _ORPHAN_S
            if whose != owner and not is_orphan:
                continue
            tries = trial.user_attrs.get("tries", 0) + 1
            if len(trial.params) < len(self._knobs):
                self._study.tell(trial.number, state=self._states.FAIL)
            elif tries >= _TRIES:
                self._study.tell(trial.number, state=self._states.PRUNED)
            else:
                self._study.tell(trial.number, state=self._states.FAIL)
                self._study.enqueue_trial(trial.params, user_attrs={"tries": tries})
                count += 1
        return count
