"""Is a kernel slower than it was? A test for automation, on blocks of quads, each block in fresh processes.

Quads of one pair of processes are not independent: addresses and contexts move all of them alike, and a neighbour on
the device moves those beside each other. A bound that counts quads takes that for knowledge, and errs several times as
often as it says (benchmarks/regression_errors.py). So a block has one value, the trimmed mean of its quads, and blocks
are the sample: Student's t over them covers whatever the quads of a block have in common. Which process holds which
revision alternates from block to block; what a process gains by being the first cancels.

After 6, 8 and 12 blocks: `regression` where the lower bound of the log ratio is above zero and its mean at least half
of the regression that is looked for; `no_regression` where the upper bound is below that regression and the mean below
half of it. A run over k kernels shares the errors of lower bounds among kernels and looks, so that kernels whose time
did not change fail a run at most once in 100; upper bounds err at most 0.006 times a kernel.

Each block also holds the base against itself. Where that shows more than half a percent, nothing is said of the kernel.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import Wire
from kopt_kb.launch.judge.sequential import winsorised_bound
from kopt_kb.launch.judge.student import student_quantile

__all__ = [
    "BLOCKS",
    "FALSE_ALARM",
    "MISSED_A_LOOK",
    "MOST_FLOOR",
    "REGRESSION",
    "SPENT",
    "BlockInterval",
    "QuadBlock",
    "RegressionOutcome",
    "RegressionTest",
    "SelfRatio",
    "block_value",
    "mean_and_error",
]  # fmt: skip

BLOCKS = (6, 8, 12)
"""Blocks after which the test looks: even numbers, so that both revisions were first equally often."""

FALSE_ALARM = 0.01
"""Most probability that a run calls any kernel slower whose time did not change."""

SPENT = (1 / 8, 2 / 8, 5 / 8)
"""Share of that which each look may use: most is left for the last, at which noise decides."""

MISSED_A_LOOK = 0.002
"""Probability of the upper bound of a look to be too low."""

REGRESSION = math.log(1.02)
"""Log ratio that is looked for unless another is given: 2 % more time."""

MOST_FLOOR = 0.005
"""Log ratio of a kernel over itself above which nothing is said of it."""

_SHOWN = 2.5
"""Standard errors by which a floor has to be above `MOST_FLOOR` to end the test; below that it only forbids a pass."""

RegressionOutcome = Literal["regression", "no_regression", "undecided"]


@dataclass(frozen=True, slots=True)
class QuadBlock(Wire):
    """Quads of one pair of processes.

    Attributes:
        swapped: Whether the process that is loaded first held the head.
        head: Log ratios of head and base, a quad each.
        itself: Log ratios of the base and itself, a quad each.
    """

    swapped: bool
    head: tuple[float, ...]
    itself: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class BlockInterval(Wire):
    """Where the log ratio of head and base lies.

    Attributes:
        blocks: Blocks that it rests on.
        mean: Mean of their values.
        error: Its standard error.
        low: Lower bound, wrong with `FALSE_ALARM` over kernels and looks.
        high: Upper bound, wrong with `MISSED_A_LOOK`.
    """

    blocks: int
    mean: float
    error: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class SelfRatio(Wire):
    """What the base seems to gain or lose over itself: mean log ratio of its blocks, and the standard error."""

    mean: float
    error: float

    @property
    def is_high(self) -> bool:
        """Whether it is above half a percent as measured."""
        return abs(self.mean) > MOST_FLOOR

    @property
    def is_shown(self) -> bool:
        """Whether it is above half a percent whatever its error."""
        return abs(self.mean) - _SHOWN * self.error > MOST_FLOOR


class RegressionTest:
    """The test of one kernel as its blocks come in.

    Args:
        kernels: Kernels that are timed in the run.
        regression: Log ratio that is looked for.

    Attributes:
        blocks: Those that were added.
        looked: Interval of each look.
        outcome: None until the test has ended.

    Raises:
        BadInput: No kernel, or a regression that is none, or of a percent that no floor allows to be seen.
    """

    def __init__(self, kernels: int = 1, regression: float = REGRESSION) -> None:
        if kernels < 1 or not 2 * MOST_FLOOR <= regression < math.inf:
            what = f"{kernels} kernels, {100 * math.expm1(regression):g} % more time"
            raise BadInput(what, where="regression", fix=f"look for {200 * MOST_FLOOR:g} % or more", code="KB102")
        self._alarm = FALSE_ALARM / kernels
        self._regression = regression
        self.blocks: list[QuadBlock] = []
        self.looked: list[BlockInterval] = []
        self.outcome: RegressionOutcome | None = None

    @property
    def floor(self) -> SelfRatio:
        """What the base gains over itself; infinite before there are two blocks."""
        if len(self.blocks) < 2:
            return SelfRatio(0.0, math.inf)
        return SelfRatio(*mean_and_error([block_value(one.itself) for one in self.blocks]))

    def add(self, block: QuadBlock) -> None:
        """Take a block; looks when one is due.

        Raises:
            BadInput: It has fewer than four quads of a kind.
        """
        self.blocks.append(block)
        if self.outcome is None and len(self.blocks) in BLOCKS:
            self._look()

    def end(self) -> None:
        """End the test where no time is left for another block."""
        self.outcome = self.outcome or "undecided"

    def _look(self) -> None:
        count = len(self.blocks)
        mean, error = mean_and_error([block_value(one.head) for one in self.blocks])
        alarm = self._alarm * SPENT[BLOCKS.index(count)]
        low = mean - student_quantile(1 - alarm, count - 1) * error
        high = mean + student_quantile(1 - MISSED_A_LOOK, count - 1) * error
        self.looked.append(BlockInterval(count, mean, error, low, high))
        is_half = mean >= self._regression / 2
        if self.floor.is_shown:
            self.outcome = "undecided"
        elif low > 0 and is_half:
            self.outcome = "regression"
        elif high < self._regression and not is_half and not self.floor.is_high:
            self.outcome = "no_regression"
        elif count == BLOCKS[-1]:
            self.outcome = "undecided"


def block_value(quads: Sequence[float]) -> float:
    """Return what a block says: the mean of its quads without a tenth at each end."""
    return winsorised_bound(quads).mean


def mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean of blocks' values and its standard error."""
    return statistics.fmean(values), statistics.stdev(values) / math.sqrt(len(values))
