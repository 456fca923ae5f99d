"""What a tuning policy may say: thresholds, repeats, gates and stop reasons, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from kopt_kb.errors import BadInput
from kopt_kb.wire import Wire

__all__ = ["ALWAYS", "GATES", "Gate", "Policy", "StopReason"]

StopReason = Literal[
    "target", "hardware_limit", "iterations", "budget", "user", "plateau", "exhausted", "escalated", "aborted"
]
"""Why a campaign ends; the words of the journal."""

ALWAYS: frozenset[StopReason] = frozenset({"budget", "user", "exhausted", "aborted"})
"""Reasons that end every campaign: nothing is left to spend, to wait for, to try or to measure."""

Gate = Literal["lint", "limits", "build", "correctness", "timing", "roofline", "evidence"]
GATES: tuple[Gate, ...] = get_args(Gate)
"""All gates in the order in which they are judged."""


@dataclass(frozen=True, slots=True)
class Policy(Wire):
    """Thresholds and switches of one way to run a campaign.

    A change is 100 × (incumbent time / candidate time − 1) percent: positive is faster.

    Attributes:
        name: How users choose it.
        source: The document it follows.
        small_gain_pct: A gain of the score below this must be shown again by repeats.
        small_gain_repeats: Repeats that a small gain needs.
        least_mean_gain_pct: The mean of the repeats' gains must be above this for a small gain to count.
        least_gain_over_deviation: And above this many standard deviations of the repeats' gains.
        suspicious_gain_pct: A gain above this needs `suspicious_repeats`; None: no gain is too good.
        suspicious_repeats: Repeats that a suspicious gain needs; above `repeats` it is timed once more in a fresh run.
        regression_limit_pct: A core shape that loses this much or more rolls the round back.
        note_loss_pct: A shape that loses more than this is a trade-off, named in a note.
        chain_loss_pct: Most by which an accepted version may fall behind the best accepted one.
        core_shapes: Shapes the regression limit protects; None: all shapes.
        repeats: Repeats that the engine measures.
        required_gates: Gates whose absence leaves a round unverified.
        stop_reasons: Reasons that may end a campaign, besides those that end every one.
        stop_scope: Which Stop Condition ends it: the aggregate, or every shape's.
        max_rounds: Rounds after the baseline; None: no limit.
        plateau_rounds: Decided rounds in a row without `plateau_gain_pct` in all; used by reason plateau.
        plateau_gain_pct: Gain over those rounds that ends a plateau.
        stagnation_rollbacks: Rollbacks in a row after which the next hypothesis is of another category.
        escalation_rollbacks: Rollbacks in a row that hand the campaign to a person; used by reason escalated.
        hardware_limit_pct: Share of the measured ceiling, on every shape and repeat, that is the limit.
    """

    name: str
    source: str
    small_gain_pct: float
    small_gain_repeats: int
    least_mean_gain_pct: float
    least_gain_over_deviation: float
    suspicious_gain_pct: float | None
    suspicious_repeats: int
    regression_limit_pct: float
    note_loss_pct: float
    chain_loss_pct: float
    core_shapes: tuple[str, ...] | None
    repeats: int
    required_gates: tuple[Gate, ...]
    stop_reasons: tuple[StopReason, ...]
    stop_scope: Literal["aggregate", "every_shape"]
    max_rounds: int | None
    plateau_rounds: int
    plateau_gain_pct: float
    stagnation_rollbacks: int
    escalation_rollbacks: int
    hardware_limit_pct: float

    def __post_init__(self) -> None:
        """Refuse values that can't be meant; raises `BadInput`."""
        where = f"policy {self.name}"
        if self.repeats < max(1, self.small_gain_repeats) or 2 * self.repeats < self.suspicious_repeats:
            raise BadInput("repeats is below what its own rules need", where=where, fix="raise repeats", code="KB408")
        if set(self.required_gates) - set(GATES):
            raise BadInput(
                "a required gate does not exist", where=where, fix=f"one of {', '.join(GATES)}", code="KB408"
            )
        if self.max_rounds is not None and self.max_rounds < 1:
            raise BadInput(f"max_rounds is {self.max_rounds}", where=where, fix="at least 1, or none", code="KB408")

    def is_core(self, shape: str) -> bool:
        """Return whether the regression limit protects this shape."""
        return self.core_shapes is None or shape in self.core_shapes
