"""Tests of the searcher: it finds, never repeats, bears failures and lateness, and heeds what is known beforehand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from result_table import ResultTable
from table_replay import TableReplay

from kopt_kb.launch.search.searcher import Searcher, SearchFacts
from kopt_kb.launch.search.space import Space


def run(search: Searcher, device: TableReplay, count: int) -> list[int]:
    """Ask and tell so often; return the places."""
    places = []
    for _ in range(count):
        place = search.ask()
        if place is None:
            break
        places.append(place)
        search.tell(place, device.time(place))
    return places


@pytest.mark.parametrize("seed", range(6))
def test_the_best_of_two_valleys_is_found_in_half_of_the_space(table: ResultTable, seed: int) -> None:
    search = Searcher(table.space, seed)
    run(search, TableReplay(table, seed), 80)
    (best,) = search.best()
    assert table.medians_s[best] <= 1.02 * table.best_s


def test_of_places_at_hand_the_likeliest_is_preferred(table: ResultTable) -> None:
    """Once a few are told; before, the first. Those at hand stay untold, and are never given again."""
    search, device = Searcher(table.space, 3), TableReplay(table, 3)
    assert search.prefer([place for place in (search.ask(), search.ask()) if place is not None]) == 0
    run(search, device, 40)
    order = np.argsort(table.medians_s)
    best, worst = (int(next(at for at in one if at not in search.told)) for one in (order, order[::-1]))
    assert table.medians_s[worst] > 1.3 * table.medians_s[best]
    for place in (worst, best):
        search.take(place)
    assert search.prefer([worst, best]) == 1
    assert search.prefer([best, worst]) == 0
    assert not {worst, best} & {*run(search, device, 20)}


def test_every_place_is_given_once_and_then_none(table: ResultTable) -> None:
    search = Searcher(table.space)
    places = run(search, TableReplay(table), 200)
    assert sorted(places) == list(range(160))
    assert search.ask() is None


def test_the_same_seed_asks_the_same(table: ResultTable) -> None:
    one, other = (run(Searcher(table.space, 5), TableReplay(table, 1), 30) for _ in range(2))
    assert one == other


def test_it_begins_where_it_is_told_to(table: ResultTable) -> None:
    config = {"block": 256, "tile": 3, "unroll": 8}
    search = Searcher(table.space, first=[config, {"block": 1, "tile": 1, "unroll": 1}])
    place = search.ask()
    assert place is not None
    assert search.space.config(place) == config


def test_many_may_be_asked_before_any_is_told(table: ResultTable) -> None:
    search, device = Searcher(table.space, 2), TableReplay(table, 2)
    asked = [search.ask() for _ in range(24)]
    assert len(set(asked)) == 24
    for place in reversed(asked[4:]):
        assert place is not None
        search.tell(place, device.time(place))
    asked += [search.ask() for _ in range(12)]  # four are awaited still
    assert len(set(asked)) == 36


def test_a_space_where_all_fails_is_searched_to_its_end() -> None:
    search = Searcher(Space.of({"knob": range(40)}))
    count = 0
    while (place := search.ask()) is not None:
        search.tell(place, math.inf)
        count += 1
    assert (count, search.best()) == (40, [])


def test_a_first_time_is_kept_and_a_time_that_is_none_is_not(table: ResultTable) -> None:
    search = Searcher(table.space)
    search.tell(3, 1.0)
    search.tell(3, 0.5)
    search.tell(4, math.nan)
    assert dict(search.told) == {3: 1.0}
    assert search.best(5) == [3]


def test_refused_places_are_not_asked_for(table: ResultTable) -> None:
    refused = np.array([bool(one.failure) or one.config["block"] == 32 for one in table.results])
    search = Searcher(table.space, 1, facts=SearchFacts(refused=refused))
    places = run(search, TableReplay(table), 200)
    assert sorted(places) == np.flatnonzero(~refused).tolist()


def test_a_place_whose_floor_is_above_the_best_is_not_asked_for(table: ResultTable) -> None:
    floors = np.where(np.isfinite(table.medians_s), 0.9 * table.medians_s, 0.0)
    search = Searcher(table.space, 1, facts=SearchFacts(floor_s=floors))
    places = run(search, TableReplay(table), 200)
    assert len(places) < 80
    assert table.medians_s[places].min() == table.best_s


def test_static_features_help_where_knobs_say_little(table: ResultTable) -> None:
    """A number that follows the time, such as occupancy, shortens the search in the median of six."""
    hint = np.argsort(np.argsort(table.medians_s))[:, None] / len(table.space)
    hits: dict[bool, list[int]] = {False: [], True: []}
    for seed in range(6):
        for has_hint in (False, True):
            search = Searcher(table.space, seed, facts=SearchFacts(features=hint) if has_hint else None)
            device, tried = TableReplay(table, seed), 0
            while tried < 100 and min(search.told.values(), default=math.inf) > 1.02e-3:
                run(search, device, 1)
                tried += 1
            hits[has_hint].append(tried)
    assert sorted(hits[True])[3] < sorted(hits[False])[3]


def test_the_start_spreads_over_the_values_of_each_knob(table: ResultTable) -> None:
    """Of the first eight in twenty seeds: no value of a knob of five is left out as often as chance leaves it."""
    left_out = 0
    for seed in range(20):
        search = Searcher(table.space, seed)
        places = [search.ask() for _ in range(8)]
        left_out += 5 - len({table.space.places[place, 0] for place in places if place is not None})
    assert left_out / 20 < 0.6, "chance leaves out 5 * 0.8**8 = 0.84"


def test_what_is_learnt_of_places_tells_them_apart() -> None:
    """Where knobs say nothing of the time and a learnt number does, a good one of twenty at hand is chosen."""
    found = []
    for seed in range(12):
        times = np.random.default_rng(seed).permutation(40)
        search = Searcher(Space.of({"knob": range(40)}), seed)
        for place in range(40):
            search.take(place)
            search.learn(place, [float(times[place]), 7.0])
            if place % 2:
                search.tell(place, 1e-3 * (1 + float(times[place])))
        ready = list(range(0, 40, 2))
        chosen = ready[search.prefer(ready)]
        found.append(sorted(times[ready]).index(times[chosen]))
        assert search.ask() is None
    assert sum(found) / 12 < 4.5, "chance chooses the tenth"
