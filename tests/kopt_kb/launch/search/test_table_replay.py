"""Tests of searches against a table: what counts as an evaluation, when one hits, what is selected."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from result_table import ResultTable, TableResult
from table_replay import Rules, Run, TableReplay, asking, median_hit, replay

from kopt_kb.launch.search.searcher import Searcher
from kopt_kb.launch.search.space import Space


class InOrder:
    """Asks for the places of a list."""

    def __init__(self, places: list[int]) -> None:
        self.left, self.told = places, {}

    def ask(self) -> int | None:
        return self.left.pop(0) if self.left else None

    def tell(self, place: int, time_s: float) -> None:
        self.told[place] = time_s


def few(*times_s: tuple[float, ...]) -> ResultTable:
    """Return a table of one knob; no times: a failure."""
    results = [TableResult({"knob": at}, times, "" if times else "compile") for at, times in enumerate(times_s)]
    return ResultTable("few", "", tuple(results))


def test_failures_count_and_repeats_do_not() -> None:
    table = few((3.0,), (), (1.0,), (2.0,))
    search = InOrder([1, 0, 0, 1, 3, 2])
    run = replay(table, asking(lambda *_: search), 0, Rules(budget=4, judged_at=2))
    assert run == Run(hit=4, found=3.0, first_timed=3.0, selected=3.0)
    assert search.told[1] == float("inf")


def test_a_search_that_gives_up_or_runs_out_has_no_hit() -> None:
    table = few((3.0,), (1.0,))
    assert replay(table, asking(lambda *_: InOrder([0])), 0, Rules(9, 5)) == Run(None, 3.0, 3.0, 3.0)
    assert replay(table, asking(lambda *_: InOrder([0, 1])), 0, Rules(1, 5)).hit is None


def test_a_search_that_repeats_itself_for_ever_is_ended() -> None:
    def stuck(_: Space, __: int, time: Callable[[int], float]) -> None:
        while True:
            time(0)

    assert replay(few((3.0,), (1.0,)), stuck, 0, Rules(2, 2)) == Run(None, 3.0, 3.0, 3.0)


def test_times_are_drawn_from_recorded_runs_and_stay() -> None:
    device = TableReplay(few((1.0, 2.0, 3.0)), seed=4, samples=1)
    first = device.time(0)
    assert first in {1.0, 2.0, 3.0}
    assert all(device.time(0) == first for _ in range(20))
    assert {device.again(0, 1) for _ in range(50)} == {1.0, 2.0, 3.0}


def test_timing_finalists_again_mends_what_noise_selected() -> None:
    """One place is best by its median and another by luck of one draw; fresh draws tell them apart."""
    table = few((1.0,) * 9 + (5.0,), (1.2,) * 8 + (0.5, 0.5))
    lucky = [seed for seed in range(60) if (device := TableReplay(table, seed, 1)).time(0) > device.time(1)]
    assert len(lucky) > 10
    runs = [replay(table, asking(lambda *_: InOrder([0, 1])), seed, Rules(2, 2)) for seed in range(60)]
    assert sum(one.selected for one in runs) < sum(one.first_timed for one in runs)
    assert all(one.found == 1.0 for one in runs)


def test_the_median_of_runs_counts_a_miss_as_endless() -> None:
    hits = [Run(hit, 1.0, 1.0, 1.0) for hit in (5, None, 7)]
    assert median_hit(hits) == 7
    assert median_hit(hits[1:2] * 2 + hits[:1]) == float("inf")


@pytest.mark.parametrize("seed", range(3))
def test_the_searcher_meets_the_best_of_a_table_and_selects_it(table: ResultTable, seed: int) -> None:
    def make(space: Space, number: int) -> Searcher:
        return Searcher(space, number)

    run = replay(table, asking(make), seed, Rules(60, 60))
    assert run.hit is not None
    assert run.selected <= 1.02
