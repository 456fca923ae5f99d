"""The test of automation on blocks of quads: what ends it, what it says, how often it errs."""

from __future__ import annotations

import math
import random

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.judge.regression import BLOCKS, FALSE_ALARM, REGRESSION, QuadBlock, RegressionTest


def _ended(heads: list[list[float]], selves: list[list[float]], kernels: int = 1, **more: float) -> RegressionTest:
    test = RegressionTest(kernels, **more)
    for number, (head, itself) in enumerate(zip(heads, selves, strict=True)):
        test.add(QuadBlock(bool(number % 2), tuple(head), tuple(itself)))
        if test.outcome:
            break
    return test


def _quads(rng: random.Random, mean: float, quad: float, kept: float) -> list[list[float]]:
    """Return blocks that a pair of processes moves as one."""
    moved = [mean + rng.gauss(0, kept) for _ in range(BLOCKS[-1])]
    return [[one + rng.gauss(0, quad) for _ in range(12)] for one in moved]


@pytest.mark.parametrize(
    ("change", "outcome"),
    [
        (0.0, "no_regression"),
        (-0.3, "no_regression"),
        (0.009, "no_regression"),
        (0.02, "regression"),
        (1, "regression"),
    ],
)
def test_what_is_plain_ends_at_the_first_look(change: float, outcome: str) -> None:
    """Half of the regression looked for divides them."""
    rng = random.Random(1)
    test = _ended(_quads(rng, change, 0.002, 0.0003), _quads(rng, 0, 0.002, 0.0003), kernels=4)
    assert (test.outcome, len(test.blocks)) == (outcome, BLOCKS[0])
    assert test.looked[0].mean == pytest.approx(change, abs=0.001)


def test_another_regression_is_looked_for() -> None:
    """3 % more time is no regression where 10 % are looked for."""
    rng = random.Random(2)
    heads, selves = _quads(rng, 0.03, 0.002, 0.001), _quads(rng, 0, 0.002, 0.001)
    assert _ended(heads, selves).outcome == "regression"
    assert _ended(heads, selves, regression=math.log(1.1)).outcome == "no_regression"


def test_what_gains_over_itself_never_passes() -> None:
    """More than half a percent: neither equal nor slower kernels are judged; a noisy estimate only forbids a pass."""
    rng = random.Random(3)
    for change in (0.0, 0.02):
        test = _ended(_quads(rng, change, 0.002, 0.001), _quads(rng, 0.01, 0.002, 0.001))
        assert (test.outcome, test.floor.is_high, test.floor.is_shown) == ("undecided", True, True)
    noisy = [[0.006 + rng.gauss(0, 0.04) for _ in range(6)] for _ in range(BLOCKS[-1])]
    slower = _ended(_quads(rng, 0.03, 0.002, 0.001), noisy)
    assert slower.outcome == "regression"


def test_noise_that_hides_a_regression_is_undecided() -> None:
    """After the last look, or where no time is left."""
    rng = random.Random(4)
    test = _ended(_quads(rng, 0.012, 0.01, 0.03), _quads(rng, 0, 0.002, 0.001))
    assert (test.outcome, len(test.looked)) == ("undecided", len(BLOCKS))
    cut = RegressionTest()
    assert math.isinf(cut.floor.error) and not cut.floor.is_high
    cut.end()
    assert cut.outcome == "undecided"


def test_a_run_shares_its_false_alarms() -> None:
    """Each lower bound is lower with more kernels; upper bounds are not."""
    rng = random.Random(5)
    heads, selves = _quads(rng, 0.0, 0.005, 0.003), _quads(rng, 0, 0.005, 0.003)
    one, many = (_ended(heads, selves, kernels).looked[0] for kernels in (1, 50))
    assert many.low < one.low and many.high == one.high


def test_errors_with_what_a_pair_of_processes_keeps() -> None:
    """No equal kernel of 400 is called slower though their blocks scatter by 0.5 %, and 2 % are found in all of 200."""
    rng = random.Random(6)
    equal = [_ended(_quads(rng, 0, 0.008, 0.005), _quads(rng, 0, 0.008, 0.003)).outcome for _ in range(400)]
    assert equal.count("regression") <= 400 * FALSE_ALARM
    slower = [_ended(_quads(rng, REGRESSION, 0.008, 0.003), _quads(rng, 0, 0.008, 0.003)).outcome for _ in range(200)]
    assert slower.count("regression") >= 0.99 * 200


@pytest.mark.parametrize(("kernels", "regression"), [(0, REGRESSION), (1, 0.005), (1, -1.0), (1, math.inf)])
def test_what_no_floor_allows_to_be_seen(kernels: int, regression: float) -> None:
    """No kernel, or less than a percent."""
    with pytest.raises(BadInput, match="more time"):
        RegressionTest(kernels, regression)
