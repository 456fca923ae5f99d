"""Pruning while a space is searched: what can't launch or spills is told to the searcher without device time.

A space has thousands of configurations and a search asks for dozens, so only those asked for are compiled: a batch at
a time, side by side on all cores, while nothing is being timed, and no batch is begun once the seconds are spent.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from kopt_kb.analysis.occupancy.limits import Limits
from kopt_kb.base.errors import KoptError
from kopt_kb.launch.candidate.job import PruningRules
from kopt_kb.launch.compile.pool import CompilePool
from kopt_kb.launch.counts.limits import limits_of
from kopt_kb.launch.counts.pruning import Config, PruneOptions, Removed, judge_configs, op_cases
from kopt_kb.launch.counts.static_profile import CompileCase
from kopt_kb.problem.shapes import parse_shape
from kopt_kb.wiki.registry import Platform

__all__ = ["PRUNED", "Pruner", "SearchPruner", "pruner_of", "pruning_rules"]

PRUNED = ("shared_memory", "cannot_launch", "spills", "compiler")
"""Reasons that prune; a crash, a limit or arguments that don't fit leave a configuration unjudged."""

CaseOfConfig = Callable[[str], Callable[[Config], CompileCase | None]]
"""From a shape to the launch of each of its configurations."""

_COMPILE_S = 20.0
_MOST_WORKERS = 16  # each holds Triton and torch


class Pruner(Protocol):
    """Judges configurations before they are measured."""

    batch: int
    """Configurations it likes to judge at once."""

    def admit(self, shape: str, config: Config) -> str:
        """Return why this shape can't be pruned, or nothing; `config` is in use and has to be judged sensibly."""

    def judge(self, shape: str, configs: Sequence[Config]) -> list[str | None]:
        """Return for each a reason to prune it, nothing to measure it, or None when it was not judged."""


def pruning_rules(platform: Platform) -> PruningRules:
    """Return target and sourced limits, for whoever runs the search, or why they are not known."""
    try:
        return PruningRules(platform.identity.target, limits_of(platform))
    except KoptError as error:
        return PruningRules(unavailable=str(error)[:300])


class SearchPruner:
    """Compiles configurations of an op file for a target and judges them by limits, within seconds; close it.

    Args:
        cases: From a shape to the launch of each of its configurations.
        target: Public target name.
        limits: Sourced limits.
        budget_s: Seconds all of its batches may take; the last one begun is ended.
        options: Compile processes (by default as many as there are cores, up to sixteen), their limits.
        clock: Seconds.
    """

    def __init__(
        self,
        cases: CaseOfConfig,
        target: str,
        limits: Limits,
        budget_s: float,
        options: PruneOptions | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        own = options or PruneOptions(time_limit_s=_COMPILE_S)
        self._cases, self._target, self._limits = cases, target, limits
        self._left_s, self._clock = budget_s, clock
        self._why_not = ""
        self.batch = own.workers or min(_MOST_WORKERS, len(os.sched_getaffinity(0)))
        self._pool = CompilePool(self.batch, time_limit_s=own.time_limit_s, memory_limit_bytes=own.memory_limit_bytes)

    def __enter__(self) -> SearchPruner:
        """Return the pruner; workers start with the first batch."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the workers."""
        self._pool.close()

    def admit(self, shape: str, config: Config) -> str:
        """Return why this shape can't be pruned: no compiler, no declared launches, or no sense in the answers."""
        (found,) = self._verdicts(shape, [config])
        if isinstance(found, Removed) and found.reason in {"invalid", "compiler"}:
            return f"the configuration in use is not compiled: {found.detail}"[:300]
        return self._why_not

    def judge(self, shape: str, configs: Sequence[Config]) -> list[str | None]:
        """Return for each a reason to prune it, nothing to measure it, or None when it was not judged."""
        return [_word(shape, one) for one in self._verdicts(shape, configs)]

    def _verdicts(self, shape: str, configs: Sequence[Config]) -> list[object]:
        if self._why_not or self._left_s <= 0:
            return [None] * len(configs)
        begin = self._clock()
        try:
            found = judge_configs(configs, self._cases(shape), self._target, self._limits, self._pool)
        except KoptError as error:
            self._why_not = str(error)[:300]
            return [None] * len(configs)
        finally:
            self._left_s -= self._clock() - begin
        return list(found)


def _word(shape: str, verdict: object) -> str | None:
    if not isinstance(verdict, Removed):
        return None if verdict is None else ""
    judged = verdict.reason in PRUNED
    text = f"{shape} {'pruned' if judged else 'not judged'}: {dict(verdict.config)}: {verdict.detail}"
    print(text, flush=True)  # noqa: T201 - the child's log
    return verdict.reason if judged else None


def pruner_of(rules: PruningRules | None, file: Path, dtype: str) -> SearchPruner | str:
    """Return the pruner of a search's rules, or why there is none.

    Args:
        rules: What `pruning_rules` gave, with `seconds`; None when nobody asked for pruning.
        file: The candidate, with `static_cases`.
        dtype: Storage type.
    """
    if rules is None:
        return "not asked for"
    if rules.limits is None:
        return rules.unavailable or "no limits are known"

    def cases(shape: str) -> Callable[[Config], CompileCase | None]:
        return op_cases(file, parse_shape(shape), dtype)

    options = PruneOptions(time_limit_s=_COMPILE_S)
    return SearchPruner(cases, rules.target, rules.limits, rules.seconds, options)
