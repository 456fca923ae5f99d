"""A search that stops at the roof: what reached a share of it can't be beaten by much, so the rest is not tried.

The floor is the time that the roof allows for the work, so work has to be counted from below: a count that is too
large makes a floor that a good configuration goes under, and the search would end there. A stop observes times and says
what it saved; adapters put it into the tuners of others, without importing them before they are used.
"""

from __future__ import annotations

import importlib
import importlib.util
import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from kopt_kb.analysis.roofline.roofline import Roofline
from kopt_kb.base.errors import BadInput, MissingTool
from kopt_kb.quantity.quantity import Quantity

__all__ = ["RooflineStop", "in_kernel_tuner", "in_triton"]


@dataclass
class RooflineStop:
    """Stops a search at a share of the roof.

    Args:
        floor_s: Seconds that the work takes at its roof.
        share: Of the roof, above 0 and up to 1: a time of `floor_s / share` or less is near enough.
        clock: Seconds.

    Attributes:
        tried: Configurations that were timed.
        skipped: Those that were asked for after the stop.
        best_s: Least time seen.
        at_s: The time that stopped it; None: none did.
        spent_s: Seconds that timing took, where an adapter sees them.
    """

    floor_s: float
    share: float = 0.95
    clock: Callable[[], float] = time.perf_counter
    tried: int = 0
    skipped: int = 0
    best_s: float = math.inf
    at_s: float | None = None
    spent_s: float = field(default=0.0)

    def __post_init__(self) -> None:
        if not (math.isfinite(self.floor_s) and self.floor_s > 0 and 0 < self.share <= 1):
            what = f"a floor of {self.floor_s} s and a share of {self.share} make no stop"
            raise BadInput(what, fix="give a positive time and a share of the roof in 0 to 1", code="KB105")

    @classmethod
    def under(cls, roofline: Roofline, share: float = 0.95) -> RooflineStop:
        """Return the stop of a roofline: the longest of the times that its documented roofs allow.

        Raises:
            BadInput: No documented roof of this product is known.
        """
        times = [float(one.value_si) for one in roofline.times("documented").values() if isinstance(one, Quantity)]
        if not times:
            fix = "give a floor in seconds, such as of a measured copy"
            raise BadInput("no documented roof is known", where=roofline.work.op, fix=fix, code="KB130")
        return cls(max(times), share)

    @property
    def reached(self) -> bool:
        """Whether some time was near enough."""
        return self.at_s is not None

    def observe(self, time_s: float) -> bool:
        """Take the time of a configuration, infinite for a failure; return whether the search may stop."""
        self.tried += 1
        self.best_s = min(self.best_s, time_s)
        if self.at_s is None and time_s * self.share <= self.floor_s:
            self.at_s = time_s
        return self.reached

    def timed(self, measure: Callable[[], float]) -> float:
        """Return what `measure` says, or infinity without asking it once the stop was reached."""
        if self.reached:
            self.skipped += 1
            return math.inf
        begin = self.clock()
        found = measure()
        self.spent_s += self.clock() - begin
        self.observe(found)
        return found

    def saved(self) -> str:
        """Return one line: what was reached, and what was not tried because of it."""
        share = f"{100 * self.floor_s / self.best_s:.1f} %" if self.tried and self.best_s > 0 else "none"
        if not self.reached:
            return (
                f"not stopped: {share} of the roof after {self.tried} configurations, {100 * self.share:.1f} % wanted"
            )
        seconds = f", about {self.skipped * self.spent_s / self.tried:.1f} s" if self.spent_s else ""
        return f"stopped at {share} of the roof after {self.tried} configurations; {self.skipped} not tried{seconds}"


@contextmanager
def in_triton(stop: RooflineStop, autotuner: Any) -> Iterator[RooflineStop]:
    """Let the stop watch an autotuner of Triton: configurations after it are neither compiled nor run.

    Args:
        stop: The stop; one for each key, since another shape has another floor.
        autotuner: What `triton.autotune` returned, as the kernel's name is bound to it.

    Raises:
        BadInput: It is no autotuner.
    """
    if not callable(getattr(autotuner, "_bench", None)):
        fix = "give the function that @triton.autotune decorates"
        raise BadInput("is no autotuner of Triton", where=type(autotuner).__name__, fix=fix, code="KB116")
    bench = autotuner._bench

    def stopped(*args: Any, config: Any, **meta: Any) -> list[float]:
        found: list[list[float]] = []

        def measure() -> float:
            found.append(_quantiles(bench(*args, config=config, **meta)))
            return found[0][0] * 1e-3  # Triton's times are milliseconds

        stop.timed(measure)
        return found[0] if found else [math.inf] * 3

    with _replaced(autotuner, "_bench", stopped):
        yield stop


@contextmanager
def _replaced(owner: Any, name: str, value: object) -> Iterator[None]:
    """Give an object or class another attribute for a while; one that only its class had is its class's again."""
    had, before = name in vars(owner), getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        if had:
            setattr(owner, name, before)
        else:
            delattr(owner, name)


def _quantiles(found: Any) -> list[float]:
    """Return a list in any case: Triton compares it with that of a failure."""
    return list(found) if isinstance(found, list | tuple) else [found]


@contextmanager
def in_kernel_tuner(stop: RooflineStop, metrics: Mapping[str, object] | None = None) -> Iterator[dict[str, object]]:
    """Let the stop end runs of Kernel Tuner, whatever their strategy; give what it yields as `metrics`.

    Kernel Tuner does not look at its budget in `brute_force`; there the results that its runner left out are dropped.

    Raises:
        MissingTool: Kernel Tuner is not installed.
    """
    if importlib.util.find_spec("kernel_tuner") is None:
        raise MissingTool("kernel_tuner is not installed", fix="pip install kernel-tuner", code="KB120")
    util = importlib.import_module("kernel_tuner.util")
    budget, is_done = util.TuningBudget, util.TuningBudget.is_done
    raise_if_done = budget.raise_exception_if_done

    def done(self: Any) -> bool:
        return stop.reached or bool(is_done(self))

    def raise_done(self: Any) -> None:
        if stop.reached:
            raise util.StopCriterionReached(stop.saved())
        raise_if_done(self)

    def share(result: Any) -> float:
        time_s = float(result["time"]) * 1e-3
        stop.observe(time_s)
        return stop.floor_s / time_s

    every = importlib.import_module("kernel_tuner.strategies.brute_force")
    tune = every.tune

    def tuned(*words: Any) -> list[Any]:
        found = tune(*words)
        stop.skipped += sum(one is None for one in found)
        return [one for one in found if one is not None]

    with (
        _replaced(budget, "is_done", done),
        _replaced(budget, "raise_exception_if_done", raise_done),
        _replaced(every, "tune", tuned),
    ):
        yield {**(metrics or {}), "share of roof": share}
