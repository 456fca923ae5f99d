"""The decision test: values of quads, bounds, looks, dropping; its error rates simulated with fixed seeds."""

from __future__ import annotations

import importlib.util
import math
import statistics
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.judge.sequential import (
    LEAST_DELTA,
    LOOKS,
    SequentialTest,
    aa_floor,
    delta_of,
    quad_value,
    secret_order,
    winsorised_bound,
)


@pytest.fixture(scope="module")
def simulation() -> ModuleType:
    """The benchmark's simulator."""
    path = Path(__file__).resolve().parents[4] / "benchmarks" / "decision_errors.py"
    spec = importlib.util.spec_from_file_location("decision_errors", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("order", ["ABBA", "BAAB"])
def test_value_of_a_quad(order: str) -> None:
    """Below zero where B is faster; a drift that is linear in the log cancels, whatever the order."""
    drift = [math.exp(0.01 * place) for place in range(4)]
    times = {"A": 1e-3, "B": 0.9e-3}
    letters = [[times[letter] * slow] * 3 for letter, slow in zip(order, drift, strict=True)]
    assert quad_value(order, letters) == pytest.approx(math.log(0.9))  # type: ignore[arg-type]


def test_work_that_moves_to_the_next_launch_gains_nothing() -> None:
    """Half the launches take no time, the others twice as long."""
    honest, moved = [1e-3, 1e-3], [1e-9, 2e-3 - 1e-9]
    assert quad_value("ABBA", [honest, moved, moved, honest]) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("letters", [[[1.0]] * 3, [[1.0], [], [1.0], [1.0]], [[1.0], [0.0], [1.0], [1.0]],
                                     [[1.0], [math.nan], [1.0], [1.0]], [[1.0], [math.inf], [1.0], [1.0]]])  # fmt: skip
def test_what_is_no_quad(letters: list[list[float]]) -> None:
    """A letter is missing or a time is none."""
    with pytest.raises(BadInput):
        quad_value("ABBA", letters)


def test_orders_are_both_drawn() -> None:
    """From the system's entropy: 64 alike come once in 2**63."""
    assert {secret_order() for _ in range(64)} == {"ABBA", "BAAB"}


def test_bound_by_hand() -> None:
    """Twenty values, two at each end left out of the mean and pulled in for the deviation; 15 degrees of freedom."""
    inner = [0.1 * one for one in range(16)]
    bound = winsorised_bound([-5.0, 900.0, *inner, 70.0, -4.0])
    error = statistics.stdev([0.0, 0.0, *inner, 1.5, 1.5]) / math.sqrt(20) * 19 / 15
    assert bound.mean == pytest.approx(0.75)
    assert bound.high - bound.mean == pytest.approx(error * 3.39483, rel=1e-5)
    assert bound.mean - bound.low == pytest.approx(bound.high - bound.mean)
    with pytest.raises(BadInput):
        winsorised_bound([1.0, 2.0, 3.0])


def test_a_constant_difference_is_decided_at_the_first_look() -> None:
    """No spread: the bound is the mean."""
    for value, outcome in ((-0.02, "accepted"), (0.0, "not_faster"), (-0.004, "not_faster"), (0.3, "not_faster")):
        test = SequentialTest(("s",), LEAST_DELTA)
        for count in range(LOOKS[0]):
            assert test.outcome is None and test.rounds == count
            test.add("s", value)
        assert test.outcome == outcome


def test_looks_happen_at_their_rounds_only() -> None:
    """Alternating values never decide: five looks, then undecided."""
    test = SequentialTest(("s",), 0.01)
    for number in range(LOOKS[-1]):
        test.add("s", -0.01 + (0.2 if number % 2 else -0.2))
    assert [one.count for one in test.looked] == list(LOOKS)
    assert test.outcome == "undecided"


def test_shapes_make_one_sequence() -> None:
    """A round is one quad of each shape, its value their mean."""
    test = SequentialTest(("a", "b"), LEAST_DELTA)
    for number in range(LOOKS[0]):
        test.add("a", -0.05 - number * 1e-6)
        test.add("b", 0.01)
    assert test.outcome == "accepted"
    assert test.values()[0] == pytest.approx(-0.02)
    assert len(test.values("b")) == test.rounds == 12 and test.quads == 24
    assert test.shape_means()["b"] == pytest.approx(0.01)


def test_too_many_dropped_quads() -> None:
    """Ends as soon as the next look can't have 70 % of its quads; below that, nothing changes."""
    test = SequentialTest(("s",), LEAST_DELTA)
    for _ in range(5):
        test.drop()
    assert test.outcome is None
    test.drop()
    assert test.outcome == "unavailable"
    test = SequentialTest(("s",), LEAST_DELTA)
    for _ in range(5):
        test.drop()
    for _ in range(12):
        test.add("s", -0.02)
    assert (test.outcome, test.dropped) == ("accepted", 5)


def test_delta_is_the_largest() -> None:
    """Of policy, half a percent, and what a kernel seems to gain over itself on this machine."""
    assert delta_of(0.0, 0.0) == LEAST_DELTA
    assert delta_of(0.01, 0.003) == 0.01
    floor = aa_floor([0.001, -0.007])
    assert delta_of(0.0, floor) == pytest.approx(0.007)
    assert aa_floor([]) == 0.0


@pytest.mark.parametrize("world", ["calm", "drift", "clock steps", "heavy tails", "outliers", "all of it"])
def test_an_equal_kernel_is_seldom_accepted_and_a_gain_of_two_percent_found(simulation: ModuleType, world: str) -> None:
    """At most 1 in 100, and at least 99 in 100, with the δ that decisions have."""
    kind = simulation.WORLDS[world]
    assert simulation.rates(kind, 0.0, LEAST_DELTA, 500)[0] <= 0.01
    assert simulation.rates(kind, math.log(0.98), LEAST_DELTA, 500)[0] >= 0.99


def test_a_noisy_clock(simulation: ModuleType) -> None:
    """Times that scatter by 3 % a launch: still found; more quads are needed."""
    noisy = replace(simulation.WORLDS["calm"], noise=0.03)
    assert simulation.rates(noisy, 0.0, LEAST_DELTA, 300)[0] <= 0.01
    found, _, quads = simulation.rates(noisy, math.log(0.98), LEAST_DELTA, 300)
    assert found >= 0.99
    assert quads > LOOKS[0]


@pytest.mark.parametrize("world", ["calm", "all of it"])
def test_the_border_itself(simulation: ModuleType, world: str) -> None:
    """A kernel whose gain is exactly δ is the hardest to refuse: still at most 1 in 100, and not wrongly given up."""
    contests = 4000
    accepted, refused, _ = simulation.rates(simulation.WORLDS[world], -LEAST_DELTA, LEAST_DELTA, contests)
    most = 0.01 + 2 * math.sqrt(0.01 * 0.99 / contests)  # what 0.01 may look like in so many contests
    assert 0 < accepted <= most
    assert 0 < refused <= most
