"""Stop Conditions: the targets in force, judged against measurements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from kopt_kb.errors import FindingError
from kopt_kb.problem.shapes import format_shape
from kopt_kb.quantity.statistics import geometric_mean
from kopt_kb.quantity.units import format_exact, unit
from kopt_kb.workspace.journal.round_events import Measured
from kopt_kb.workspace.journal.setup_events import Target
from kopt_kb.workspace.registration import AGGREGATE
from kopt_kb.workspace.roof_use import roof_amount
from kopt_kb.workspace.state import WorkspaceState

__all__ = ["AboveCeilingError", "Condition", "Evaluation", "Judged", "StopConditions"]


class AboveCeilingError(FindingError):
    """A measurement is faster than the roof allows: the measurement, the work or the roof is wrong."""

    code = "KB312"


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition of one shape.

    Attributes:
        amount: What counts under the target's roof: operations of one dtype and engine, or bytes of device memory.
        target_per_s: The target in base units a second, exact.
        ceiling_per_s: The documented roof; a measured one may be beaten, this one can't.
        unit: Unit the target is printed in.
    """

    shape: str
    quantity: str
    target: str
    amount: int
    target_per_s: Fraction
    ceiling_per_s: Fraction
    unit: str


@dataclass(frozen=True, slots=True)
class Judged:
    """A condition with its measurement: achieved rate (base units a second), ratio to the target, whether it is met."""

    condition: Condition
    median_s: float | None
    record: str
    achieved_per_s: float | None
    ratio: float | None

    @property
    def met(self) -> bool:
        """Whether the target is reached; False without a measurement."""
        return self.ratio is not None and self.ratio >= 1

    @property
    def ceiling_share(self) -> float | None:
        """Achieved over the documented roof, at most 1; None without a measurement."""
        return None if self.achieved_per_s is None else self.achieved_per_s / float(self.condition.ceiling_per_s)

    def to_json(self) -> dict[str, Any]:
        """Return the CLI's JSON."""
        return {
            "shape": self.condition.shape, "quantity": self.condition.quantity, "target": self.condition.target,
            "target_si": float(self.condition.target_per_s), "median_s": self.median_s,
            "achieved_si": self.achieved_per_s, "ratio": self.ratio, "ceiling_share": self.ceiling_share,
            "met": self.met, "record": self.record or None,
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Evaluation:
    """All conditions judged; `aggregate` is the geomean of achieved / target over measured shapes."""

    judged: tuple[Judged, ...]
    aggregate: float | None

    @property
    def all_met(self) -> bool:
        """Whether every shape's condition is met."""
        return bool(self.judged) and all(one.met for one in self.judged)

    @property
    def aggregate_met(self) -> bool:
        """Whether the geomean over all shapes is at least 1 and none is unmeasured."""
        complete = all(one.ratio is not None for one in self.judged)
        return complete and self.aggregate is not None and self.aggregate >= 1

    def to_json(self) -> dict[str, Any]:
        """Return the CLI's JSON."""
        return {
            "conditions": [one.to_json() for one in self.judged],
            "aggregate": {"value": self.aggregate, "met": self.aggregate_met},
            "all_met": self.all_met,
        }


@dataclass(frozen=True, slots=True)
class StopConditions:
    """The targets in force, one condition a shape."""

    conditions: tuple[Condition, ...]

    @classmethod
    def of(cls, state: WorkspaceState) -> StopConditions:
        """Return the conditions of a workspace's state."""
        roofs = {format_shape(tuple(one["work"]["shape"])): one for one in state.rooflines}
        targets = state.targets.targets if state.targets is not None else ()
        return cls(
            tuple(_condition(one, roofs[one.shape]) for one in targets if one.quantity != AGGREGATE and one.shape)
        )

    def evaluate(self, measurements: Mapping[str, Measured]) -> Evaluation:
        """Judge the latest measurement of each shape.

        Args:
            measurements: Shape → measurement record.

        Raises:
            AboveCeilingError: A rate above its roof: an error, never "met".
        """
        judged = tuple(_judge(one, measurements.get(one.shape)) for one in self.conditions)
        ratios = [one.ratio for one in judged if one.ratio is not None]
        aggregate = geometric_mean(ratios)
        return Evaluation(judged, aggregate)


def _condition(target: Target, roof: Mapping[str, Any]) -> Condition:
    amount = roof_amount(roof["work"], roof["target"]["name"])
    per_s = Fraction(target.value) * unit(target.unit).factor
    text = f"{target.op} {format_exact(Fraction(target.value))} {target.unit}"
    documented = next(one["documented"] for one in roof["ceilings"] if one["name"] == roof["target"]["name"])
    ceiling = Fraction(documented["si_value"]) if documented["value"] is not None else per_s / Fraction(target.factor)
    return Condition(target.shape or "", target.quantity, text, amount, per_s, ceiling, target.unit)


def _judge(one: Condition, found: Measured | None) -> Judged:
    if found is None:
        return Judged(one, None, "", None, None)
    achieved = one.amount / found.median_s
    if achieved > one.ceiling_per_s:
        raise AboveCeilingError(
            f"{one.quantity} of {one.shape} is {achieved / float(one.ceiling_per_s):.1%} of its roof",
            where=f"record {found.id}",
            fix="check the timing, the work and the roof; nothing is faster than its roof",
        )
    return Judged(one, found.median_s, found.id, achieved, achieved / float(one.target_per_s))
