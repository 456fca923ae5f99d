"""Is a candidate faster? A test that may look five times, on quads of launches in secret order.

The unit is a quad: incumbent (A) and candidate (B) in the order ABBA or BAAB, each letter a few launches. Its value is
the mean log time of B minus that of A: below zero, the candidate is faster; a linear drift of the clock cancels. With
several shapes a round is one quad of each, and its value their mean: the log of the ratio of geometric means.

At 12, 24, 48, 96 and 192 rounds a winsorised t bound (Tukey and McLaughlin, Sankhya A 25, 1963) at 0.002 decides:
accepted when the upper bound is below -δ; not faster when the lower bound is above -δ, which ends hopeless contests
early and can only lower the number of acceptances. Five looks at 0.002 accept a kernel whose gain is δ or less at most
once in 100 contests, and end one that gains more than δ as not faster at most once in 100.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import Wire
from kopt_kb.launch.judge.student import student_quantile

__all__ = [
    "ERROR_A_LOOK",
    "LEAST_DELTA",
    "LOOKS",
    "MOST_DROPPED",
    "Order",
    "RatioInterval",
    "SequentialOutcome",
    "SequentialTest",
    "aa_floor",
    "delta_of",
    "quad_value",
    "secret_order",
    "winsorised_bound",
]

LOOKS = tuple(12 << doubled for doubled in range(5))
"""Rounds after which the test looks, 12 to 192, each twice the one before; never in between."""

ERROR_A_LOOK = 0.002
"""Probability of each bound of each look to be wrong; 0.01 over all looks."""

LEAST_DELTA = 0.005
"""Least log ratio that counts as faster: allocations alone move short kernels by up to this."""

MOST_DROPPED = 0.30
"""Share of dropped quads above which a contest says nothing."""

_WINSORISED = 0.10
"""Share of the values at each end that the mean leaves out and the deviation pulls in."""

Order = Literal["ABBA", "BAAB"]
SequentialOutcome = Literal["accepted", "not_faster", "undecided", "unavailable"]
"""`undecided`: 192 rounds were not enough; `unavailable`: too many quads were dropped."""


def secret_order() -> Order:
    """Return ABBA or BAAB from the system's entropy: no kernel can know which letter it is."""
    return "ABBA" if secrets.randbits(1) else "BAAB"


def quad_value(order: Order, letters_s: Sequence[Sequence[float]]) -> float:
    """Return the mean log time of B's letters minus that of A's; a letter's time is the mean of its launches.

    The log is taken of a letter, not of a launch: one that leaves its work to the next would gain by the mean of logs.

    Args:
        order: Which letter each part of the quad was.
        letters_s: Times of the launches of each of the four letters, in seconds.

    Raises:
        BadInput: Not four letters, a letter without a time, or a time that is no positive number.
    """
    if len(letters_s) != len(order) or not all(letters_s):
        raise BadInput("a quad has four letters with at least one time each", where="clock", code="KB096")
    if not all(math.isfinite(one) and one > 0 for times in letters_s for one in times):
        raise BadInput("a time of a quad is no positive number", where="clock", code="KB097")
    means = [math.log(math.fsum(times) / len(times)) for times in letters_s]
    signed = zip(order, means, strict=True)
    return sum(mean if letter == "B" else -mean for letter, mean in signed) / 2


@dataclass(frozen=True, slots=True)
class RatioInterval(Wire):
    """Where the log ratio lies.

    Attributes:
        count: Values it rests on.
        mean: Trimmed mean.
        low: One-sided lower bound at `ERROR_A_LOOK`.
        high: One-sided upper bound at `ERROR_A_LOOK`.
    """

    count: int
    mean: float
    low: float
    high: float


def winsorised_bound(values: Sequence[float], error: float = ERROR_A_LOOK) -> RatioInterval:
    """Return one-sided bounds of a trimmed mean, by its winsorised deviation.

    With n values, k = n // 10 of them left out at each end, h = n - 2k, and s the standard deviation of all n with the
    outer ones pulled in to the nearest kept value: the trimmed mean has nearly Student's t with h - 1 degrees of
    freedom and the standard error s / sqrt(n) · (n - 1) / (h - 1) (Tukey and McLaughlin, Sankhya A 25, 1963; they
    divide by h / n, which is a little less and too little at 12 values). The winsorised mean itself would err 0.3 %
    instead of 0.2 % of the time where a tenth of the quads are outliers: benchmarks/decision_errors.py.

    Raises:
        BadInput: Fewer than four values.
    """
    count = len(values)
    if count < 4:
        raise BadInput(f"{count} quads are too few for a bound", where="clock", fix="measure more", code="KB076")
    pulled = int(count * _WINSORISED)
    ordered = sorted(values)
    inner = ordered[pulled : count - pulled]
    kept = [inner[0]] * pulled + inner + [inner[-1]] * pulled
    middle = math.fsum(kept) / count
    deviation = math.sqrt(math.fsum((one - middle) ** 2 for one in kept) / (count - 1))
    reach = deviation / math.sqrt(count) * (count - 1) / (len(inner) - 1)
    reach *= student_quantile(1 - error, len(inner) - 1)
    mean = math.fsum(inner) / len(inner)
    return RatioInterval(count, mean, mean - reach, mean + reach)


def delta_of(policy: float, floor: float) -> float:
    """Return δ: the largest of the policy's least gain, half a percent, and what a kernel gains over itself here."""
    return max(policy, LEAST_DELTA, floor)


def aa_floor(means: Sequence[float]) -> float:
    """Return what a kernel seems to gain or lose over itself: the largest mean log ratio of several A/A contests.

    Each contest needs allocations and processes of its own: within one the bias of its addresses stays the same.
    """
    return max(map(abs, means), default=0.0)


class SequentialTest:
    """One contest as its quads come in.

    Args:
        shapes: Shapes of the problem; a round is complete when each has a value.
        delta: Log ratio that has to be beaten, as `delta_of` returns it.

    Attributes:
        delta: As given.
        looked: Bounds at the looks so far.
        outcome: None until the test has ended.
        dropped: Quads that were dropped.
    """

    def __init__(self, shapes: Sequence[str], delta: float) -> None:
        self.delta = delta
        self.looked: list[RatioInterval] = []
        self.outcome: SequentialOutcome | None = None
        self.dropped = 0
        self._values: dict[str, list[float]] = {shape: [] for shape in shapes}

    @property
    def rounds(self) -> int:
        """Complete rounds."""
        return min(map(len, self._values.values()), default=0)

    @property
    def quads(self) -> int:
        """Quads that count, of all shapes."""
        return sum(map(len, self._values.values()))

    def values(self, shape: str = "") -> tuple[float, ...]:
        """Return the values of a shape, or of the complete rounds."""
        if shape:
            return tuple(self._values[shape])
        rounds = zip(*(values[: self.rounds] for values in self._values.values()), strict=True)
        return tuple(math.fsum(one) / len(one) for one in rounds)

    def shape_means(self) -> Mapping[str, float]:
        """Return the trimmed mean of each shape that has enough values."""
        return {shape: winsorised_bound(one).mean for shape, one in self._values.items() if len(one) >= 4}

    def drop(self) -> None:
        """Count a quad that a clock probe or a throttle reason spoiled; its shape is measured again.

        Ends the test as soon as the next look could not have 70 % of its quads, whatever comes.
        """
        self.dropped += 1
        due = next((look for look in LOOKS if look > self.rounds), LOOKS[-1]) * len(self._values)
        if self.outcome is None and self.dropped > MOST_DROPPED * (due + self.dropped):
            self.outcome = "unavailable"

    def add(self, shape: str, value: float) -> None:
        """Take the value of a shape's quad; looks when that completes a round at which a look is due."""
        before = self.rounds
        self._values[shape].append(value)
        if self.outcome is None and self.rounds > before and self.rounds in LOOKS:
            self._look()

    def _look(self) -> None:
        bound = winsorised_bound(self.values())
        self.looked.append(bound)
        if bound.high < -self.delta:
            self.outcome = "accepted"
        elif bound.low > -self.delta:
            self.outcome = "not_faster"
        elif bound.count == LOOKS[-1]:
            self.outcome = "undecided"
