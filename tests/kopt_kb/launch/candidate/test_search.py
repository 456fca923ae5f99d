"""Searches stay in their budget, never pick what failed, and keep what is better already."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from kopt_kb.launch.candidate.job import Request, SpaceAsked
from kopt_kb.launch.candidate.search import run_search, searcher

SPACE = {"a": [1, 2, 4, 8], "b": [False, True]}


def body(**more: object) -> Request:
    """One shape, a small space."""
    one = SpaceAsked({"a": 1, "b": False}, SPACE)
    return replace(Request(spaces={"4x8": one}, evaluations=20, seconds=3600.0, seed=1), **more)


def cost(_: str, config: Mapping[str, object]) -> float:
    """4 is best, b helps, 8 does not work."""
    a = config["a"]
    assert isinstance(a, int)
    return math.inf if a == 8 else abs(a - 4) + 1.5 - 0.5 * bool(config["b"])


def test_a_small_space_is_searched_whole() -> None:
    """Eight configurations and the start; the best wins; failed ones are counted."""
    found = run_search(body(), cost).shapes["4x8"]
    assert (found.config, found.median_s) == ({"a": 4, "b": True}, 1.0)
    assert (found.strategy, found.evaluated, found.space, found.failed) == ("exhaustive", 8, 8, 2)


def test_a_larger_space_stays_in_its_budget() -> None:
    """No configuration twice, at most as many as allowed, the same for the same seed."""
    space = {"a": list(range(1, 9)), "b": list(range(8))}

    def asked() -> list[tuple[object, ...]]:
        name, asker = searcher(space, 10, seed=3)
        assert name == "model"
        seen = []
        for config, tell in asker:
            seen.append(tuple(config.values()))
            tell(float(config["a"]) if config["b"] else math.inf)  # type: ignore[arg-type]
        return seen

    first = asked()
    assert len(first) == len(set(first)) == 10
    assert asked() == first


def test_the_searcher_learns_from_what_works_and_what_does_not() -> None:
    """Of two hundred configurations, half of which fail, it meets the best in forty, whatever the seed."""
    space = {"a": list(range(10)), "b": list(range(10)), "c": ["x", "y"]}
    for seed in range(5):
        _, asker = searcher(space, 40, seed)
        best = math.inf
        for config, answer in asker:
            value = math.inf if config["c"] == "y" else 1.0 + abs(config["a"] - 7) + abs(config["b"] - 2)  # type: ignore[operator]
            best = min(best, value)
            answer(value)
        assert best == 1.0


def test_a_search_of_a_large_space_starts_from_what_is_known_at_no_cost() -> None:
    """The start is measured once and told; the budget is for others."""
    knobs = {"a": list(range(30)), "b": list(range(30))}
    seen: list[tuple[object, ...]] = []

    def evaluate(_: str, config: Mapping[str, object]) -> float:
        seen.append(tuple(config.values()))
        return 1.0 + abs(config["a"] - 20) + abs(config["b"] - 10)  # type: ignore[operator]

    one = SpaceAsked({"a": 0, "b": 0}, knobs, {"a": 15, "b": 15})
    found = run_search(body(spaces={"4x8": one}), evaluate).shapes["4x8"]
    assert seen[:2] == [(15, 15), (0, 0)]
    assert len(seen) == len(set(seen)) == found.evaluated == 22


def test_seconds_end_a_search() -> None:
    """A clock that runs out after the start leaves the start."""
    ticks = iter(range(0, 1000, 40))
    found = run_search(body(), cost, lambda: float(next(ticks))).shapes["4x8"]
    assert found.evaluated < 9


def test_what_a_shape_has_competes() -> None:
    """A kept configuration outside the space wins when it is faster."""
    one = SpaceAsked({"a": 1, "b": False}, {"a": [1, 2]}, {"a": 4, "b": True})
    found = run_search(body(spaces={"4x8": one}), cost).shapes["4x8"]
    assert found.config == {"a": 4, "b": True}


def test_nothing_that_works_is_no_time() -> None:
    """All failed: the median is None and the start stays."""
    found = run_search(body(), lambda *_: math.inf).shapes["4x8"]
    assert (found.median_s, found.failed) == (None, 8)
