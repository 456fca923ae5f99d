"""Which of two kernels is faster? A test in both directions, on blocks of quads, each block in fresh processes.

Where buffers lie moves a kernel that gathers little of much memory by 1 to 2 % from process to process, and a contest
within one pair of processes takes that for a difference (benchmarks/results/placement_h100_sxm.jsonl). As in
`regression.py` a block is one value, and Student's t over blocks covers what its quads have in common; which process
holds which kernel alternates.

After 6, 8 and 12 blocks: `slower` or `faster` where the interval of the log ratio leaves zero out and its mean is at
least the difference that counts; `same` where the interval lies within `SAME`. Each bound errs at most 0.005 times.
"""

from __future__ import annotations

import math
from typing import Literal

from kopt_kb.launch.judge.regression import BLOCKS, SPENT, BlockInterval, QuadBlock, block_value, mean_and_error
from kopt_kb.launch.judge.sequential import LEAST_DELTA
from kopt_kb.launch.judge.student import student_quantile

__all__ = ["SAME", "DifferenceOutcome", "DifferenceTest"]

SAME = math.log(1.02)
"""Log ratio within which two kernels are the same."""

_ERROR = 0.005
"""Probability of a bound to be wrong, over all looks."""

DifferenceOutcome = Literal["faster", "slower", "same", "undecided"]
"""Of the second kernel."""


class DifferenceTest:
    """The test of two kernels as their blocks come in.

    Args:
        threshold: Log ratio that counts as a difference; half a percent at least.

    Attributes:
        blocks: Those that were added.
        looked: Interval of each look.
        outcome: None until the test has ended.
    """

    floor = None

    def __init__(self, threshold: float = 0.0) -> None:
        self._least = max(threshold, LEAST_DELTA)
        self.blocks: list[QuadBlock] = []
        self.looked: list[BlockInterval] = []
        self.outcome: DifferenceOutcome | None = None

    def add(self, block: QuadBlock) -> None:
        """Take a block; looks when one is due."""
        self.blocks.append(block)
        count = len(self.blocks)
        if self.outcome is not None or count not in BLOCKS:
            return
        mean, error = mean_and_error([block_value(one.head) for one in self.blocks])
        reach = student_quantile(1 - _ERROR * SPENT[BLOCKS.index(count)], count - 1) * error
        seen = BlockInterval(count, mean, error, mean - reach, mean + reach)
        self.looked.append(seen)
        if seen.low > 0 and mean >= self._least:
            self.outcome = "slower"
        elif seen.high < 0 and mean <= -self._least:
            self.outcome = "faster"
        elif max(self._least, SAME) > max(seen.high, -seen.low):
            self.outcome = "same"
        elif count == BLOCKS[-1]:
            self.outcome = "undecided"
