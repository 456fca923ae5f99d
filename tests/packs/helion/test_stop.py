"""A search of Helion ends at the roof."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.search.stop import RooflineStop
from kopt_kb.packs.helion.stop import autotuner, stopped


class Search:
    """Generations as Helion runs them: batches until the budget is spent."""

    def __init__(self) -> None:
        self.benched: list[float] = []

    def benchmark_batch(self, configs: list[float], **_: str) -> list[SimpleNamespace]:
        self.benched += configs
        return [SimpleNamespace(perf=one) for one in configs]

    def _autotune_budget_exceeded(self) -> bool:
        return False

    def autotune(self) -> float:
        for batch in ([4.0, math.inf], [1.05, 3.0], [1.0, 2.0]):
            if self._autotune_budget_exceeded():
                break
            self.benchmark_batch(batch, desc="generation")
        return min(self.benched)


def test_a_search_of_helion_ends_after_the_batch_that_reached_the_roof() -> None:
    stop = RooflineStop(1e-3, 0.9)
    made = autotuner(stop, lambda *_, **__: SimpleNamespace(autotuner=Search()))(None, ())
    assert made.autotuner.autotune() == 1.05
    assert made.autotuner.benched == [4.0, math.inf, 1.05, 3.0]
    assert (stop.tried, stop.at_s) == (4, pytest.approx(1.05e-3))
    assert stopped(RooflineStop(1e-6), Search()).autotune() == 1.0


def test_what_is_no_search_is_refused() -> None:
    with pytest.raises(BadInput, match="no search of Helion"):
        stopped(RooflineStop(1.0), print)
