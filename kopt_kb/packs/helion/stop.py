"""Searches of Helion that stop at the roof: what reached a share of it can't be beaten by much."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.search.stop import RooflineStop

__all__ = ["autotuner", "stopped"]


def stopped(stop: RooflineStop, search: Any) -> Any:
    """Let the stop end a search of Helion after the batch that reached it, and return the search.

    Raises:
        BadInput: It is no search of Helion.
    """
    if not callable(getattr(search, "benchmark_batch", None)):
        fix = "give what helion's autotuner_fn returns"
        raise BadInput("is no search of Helion", where=type(search).__name__, fix=fix, code="KB116")
    bench, exceeded = search.benchmark_batch, getattr(search, "_autotune_budget_exceeded", lambda: False)

    def benchmark_batch(configs: Sequence[Any], **more: Any) -> Any:
        begin, was_reached = stop.clock(), stop.reached
        found = bench(configs, **more)
        if not was_reached:
            stop.spent_s += stop.clock() - begin
            for one in found:
                stop.observe(one.perf * 1e-3)
        return found

    search.benchmark_batch = benchmark_batch
    search._autotune_budget_exceeded = lambda: stop.reached or exceeded()
    return search


def autotuner(stop: RooflineStop, make: Callable[..., Any]) -> Callable[..., Any]:
    """Return an `autotuner_fn` for `helion.kernel` whose searches end at the stop.

    Args:
        stop: The stop.
        make: What makes the search, such as `helion.runtime.settings.default_autotuner_fn`; its cache stays in use.
    """

    def autotuner_fn(bound_kernel: Any, args: Sequence[Any], **more: Any) -> Any:
        found = make(bound_kernel, args, **more)
        stopped(stop, getattr(found, "autotuner", found))
        return found

    return autotuner_fn
