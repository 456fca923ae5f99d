"""Which of two kernels is faster, by blocks that differ among themselves more than their quads do."""

from __future__ import annotations

import random

import pytest

from kopt_kb.launch.judge.difference import DifferenceTest
from kopt_kb.launch.judge.regression import BLOCKS, QuadBlock


def _ended(ratio: float, placement: float, seed: int, threshold: float = 0.0) -> DifferenceTest:
    drawn, test = random.Random(seed), DifferenceTest(threshold)
    while test.outcome is None:
        placed = drawn.gauss(ratio, placement)
        test.add(QuadBlock(len(test.blocks) % 2 == 0, tuple(drawn.gauss(placed, 0.003) for _ in range(6)), ()))
    return test


@pytest.mark.parametrize(
    ("ratio", "outcome"), [(0.03, "slower"), (-0.03, "faster"), (0.0, "same"), (0.003, "same")],
    ids=["slower", "faster", "alike", "below what counts"],
)  # fmt: skip
def test_calm_blocks_decide_at_the_first_look(ratio: float, outcome: str) -> None:
    test = _ended(ratio, 0.0005, seed=1)
    assert (test.outcome, len(test.blocks)) == (outcome, BLOCKS[0])
    assert test.looked[-1].low < test.looked[-1].mean < test.looked[-1].high


def test_equal_kernels_are_called_different_at_most_once_in_a_hundred() -> None:
    """Where memory lies moves each pair by 1.5 %: quads alone would call every third pair different."""
    seen = [_ended(0.0, 0.015, seed).outcome for seed in range(400)]
    assert seen.count("faster") + seen.count("slower") <= 8
    assert seen.count("same") + seen.count("undecided") >= 392


def test_a_difference_is_found_behind_the_noise_of_places() -> None:
    assert sum(_ended(-0.04, 0.015, seed).outcome == "faster" for seed in range(50)) >= 45


def test_less_than_the_threshold_is_no_difference() -> None:
    assert _ended(0.02, 0.0005, seed=3, threshold=0.03).outcome == "same"
