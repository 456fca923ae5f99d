"""Stop Conditions: the targets in force, judged against measurements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

from kopt_kb.analysis.roofline.recorded import RecordedRoofline, roof_uses
from kopt_kb.base.errors import BadInput, FindingError
from kopt_kb.base.wire import Wire
from kopt_kb.quantity.readable import duration
from kopt_kb.quantity.statistics import geometric_mean
from kopt_kb.quantity.units import MeasuredTime, format_exact, seconds_of, unit
from kopt_kb.workspace.journal.round_events import Measured, Trust
from kopt_kb.workspace.journal.setup_events import AGGREGATE, Target, TargetSet
from kopt_kb.workspace.state import WorkspaceState
from kopt_kb.workspace.targets.floors import floor_s, has_floors

__all__ = [
    "AboveCeilingError",
    "Aggregate",
    "Condition",
    "Evaluation",
    "JudgedCondition",
    "StopConditions",
    "above_roof",
    "condition_of",
    "wiki_of",
]


class AboveCeilingError(FindingError):
    """A measurement is faster than the roof allows: the measurement, the work or the roof is wrong."""

    code = "KB312"


@dataclass(frozen=True, slots=True)
class Condition(Wire):
    """One condition of one shape.

    Attributes:
        roof: Name of the roof that the target is a share of: `bf16 matrix`, `dram`.
        amount: What counts under that roof: operations of one dtype and engine, or bytes of device memory.
        target_per_s: The target in base units a second, exact.
        ceiling_per_s: The documented roof of the declared arithmetic, which other arithmetic may beat; where nothing is
            documented, the roof that the target is a share of.
        unit: Unit the target is printed in.
        is_documented: Whether `ceiling_per_s` is documented.
        floor_s: Seconds below which a time is impossible, whichever arithmetic ran; 0 where nothing is known.
    """

    WIRE: ClassVar = (
        "shape", "quantity", "roof", "target", "target_si", "latency_s=_latency", "ceiling_si=_ceiling", "floor_s",
    )  # fmt: skip
    shape: str
    quantity: str
    roof: str
    target: str
    amount: int
    target_per_s: Fraction
    ceiling_per_s: Fraction
    unit: str
    floor_s: float = 0.0
    is_documented: bool = True

    @property
    def target_si(self) -> float:
        """The target in base units a second."""
        return float(self.target_per_s)

    @property
    def latency_s(self) -> Fraction:
        """The longest median that meets the condition, in seconds, exact."""
        return Fraction(self.amount) / self.target_per_s

    @property
    def _latency(self) -> float:
        return float(self.latency_s)

    @property
    def _ceiling(self) -> float:
        return float(self.ceiling_per_s)

    def ratio(self, median_s: float) -> float:
        """Return achieved over target at a median in seconds; at least 1 meets the condition."""
        return self.amount / median_s / self.target_si

    def share(self, median_s: float) -> float:
        """Return achieved over the documented roof at a median in seconds."""
        return self.amount / median_s / float(self.ceiling_per_s)


@dataclass(frozen=True, slots=True)
class JudgedCondition(Wire):
    """A condition with its measurement: achieved rate (base units a second), ratio to the target, whether it is met.

    `trust` is how far the measurement can be trusted; `unstated` without one, and where its record does not say.
    """

    WIRE: ClassVar = (
        "shape=condition.shape", "quantity=condition.quantity", "target=condition.target",
        "target_si=condition.target_si", "median_s", "achieved_si=achieved_per_s", "ratio", "ceiling_share", "met",
        "record=record_id", "trust?=level",
    )  # fmt: skip
    condition: Condition
    median_s: float | None
    record: str
    achieved_per_s: float | None
    ratio: float | None
    trust: Trust = "unstated"

    @property
    def level(self) -> Trust | None:
        """The level of trust, where it is stated."""
        return None if self.trust == "unstated" else self.trust

    @property
    def met(self) -> bool:
        """Whether the target is reached; False without a measurement."""
        return self.ratio is not None and self.ratio >= 1

    @property
    def ceiling_share(self) -> float | None:
        """Achieved over the documented roof of the declared arithmetic; None without a measurement or such a roof."""
        known = self.achieved_per_s is not None and self.condition.is_documented
        return (
            None
            if not known or self.achieved_per_s is None
            else self.achieved_per_s / float(self.condition.ceiling_per_s)
        )

    @property
    def record_id(self) -> str | None:
        """Id of the record; None where none is kept."""
        return self.record or None


@dataclass(frozen=True, slots=True)
class Aggregate(Wire):
    """Geomean of achieved / target over measured shapes, None without one; met only when every shape is measured."""

    value: float | None
    met: bool


@dataclass(frozen=True, slots=True)
class Evaluation(Wire):
    """All conditions judged; `aggregate` is the geomean of achieved / target over measured shapes."""

    WIRE: ClassVar = ("conditions=judged", "aggregate=total", "all_met")
    judged: tuple[JudgedCondition, ...]
    aggregate: float | None

    def __repr__(self) -> str:
        value = "unmeasured" if self.aggregate is None else f"{self.aggregate:.4g}"
        return f"Evaluation({sum(one.met for one in self.judged)} of {len(self.judged)} targets met, aggregate {value})"

    @property
    def all_met(self) -> bool:
        """Whether every shape's condition is met."""
        return bool(self.judged) and all(verdict.met for verdict in self.judged)

    @property
    def aggregate_met(self) -> bool:
        """Whether the geomean over all shapes is at least 1 and none is unmeasured."""
        complete = all(verdict.ratio is not None for verdict in self.judged)
        return complete and self.aggregate is not None and self.aggregate >= 1

    @property
    def total(self) -> Aggregate:
        """The aggregate with whether it is met."""
        return Aggregate(self.aggregate, self.aggregate_met)


@dataclass(frozen=True, slots=True)
class StopConditions(Wire):
    """The targets in force, one condition a shape.

    Attributes:
        conditions: Of shapes that have one.
        left_out: Shape and why it has none: a roof that is UNKNOWN, a target that is shorter than a launch.
    """

    WIRE: ClassVar = ("conditions", "left_out=_left_out")
    conditions: tuple[Condition, ...]
    left_out: tuple[tuple[str, str], ...] = ()

    def __repr__(self) -> str:
        said = [f"{one.shape}: {one.quantity} {one.target}, {duration(one.latency_s)}" for one in self.conditions]
        return f"StopConditions({'; '.join([*said, *(f'{shape}: none, {why}' for shape, why in self.left_out)])})"

    @classmethod
    def of(cls, state: WorkspaceState) -> StopConditions:
        """Return the conditions of a workspace's state."""
        roofs = {roofline.shape: roofline for roofline in state.rooflines}
        targets = state.targets.targets if state.targets is not None else ()
        judged = [one for one in targets if one.quantity != AGGREGATE and one.shape in roofs]
        floors = floor_s(state, cold=True) if has_floors(state) else None
        return cls(tuple(condition_of(target, roofs[target.shape or ""], floors) for target in judged))

    def evaluate(self, measurements: Mapping[str, Measured]) -> Evaluation:
        """Judge the latest measurement of each shape.

        Args:
            measurements: Shape → measurement record.

        Raises:
            AboveCeilingError: A rate above its roof: an error, never "met".
        """
        return _evaluation(_judge(condition, measurements.get(condition.shape)) for condition in self.conditions)

    def judge(self, times: Mapping[str, MeasuredTime]) -> Evaluation:
        """Judge times that no journal holds: shape → median, in seconds or as text such as "52us".

        Raises:
            AboveCeilingError: A time is below its floor: an error, never "met".
            BadInput: A shape that has no condition, or what is no time.
        """
        known = {one.shape for one in self.conditions}
        if surplus := [shape for shape in times if shape not in known]:
            why = dict(self.left_out).get(surplus[0], f"conditions are of {', '.join(sorted(known)) or 'no shape'}")
            raise BadInput(f"no condition of {surplus[0]!r}", where="times", fix=why, code="KB102")
        seconds = {shape: seconds_of(time) for shape, time in times.items()}
        return _evaluation(_timed(one, seconds.get(one.shape), "the time given") for one in self.conditions)

    @property
    def _left_out(self) -> dict[str, str]:
        return dict(self.left_out)


def _evaluation(verdicts: Iterable[JudgedCondition]) -> Evaluation:
    judged = tuple(verdicts)
    return Evaluation(judged, geometric_mean(verdict.ratio for verdict in judged if verdict.ratio is not None))


def condition_of(target: Target, roof: RecordedRoofline, floors: Mapping[str, float] | None) -> Condition:
    """Return the condition of a shape; `floors` of no recording means that the documented roof stands for its own."""
    name = roof.target.name
    per_s = Fraction(target.value) * unit(target.unit).factor
    text = f"{target.op} {format_exact(Fraction(target.value))} {target.unit}"
    found = roof.ceiling(name)
    documented = found.per_s("documented") if found is not None else None
    ceiling = documented if documented is not None else per_s / Fraction(target.factor)
    amount, shape = roof.amount_under(name), target.shape or ""
    floor = float(amount / ceiling) if floors is None else floors.get(shape, 0.0)
    return Condition(
        shape, target.quantity, name, text, amount, per_s, ceiling, target.unit, floor, documented is not None
    )


def _judge(condition: Condition, measured: Measured | None) -> JudgedCondition:
    if measured is None:
        return _timed(condition, None, "")
    return replace(
        _timed(condition, measured.median_s, f"record {measured.id}"), record=measured.id, trust=measured.trust
    )


def _timed(condition: Condition, median_s: float | None, where: str) -> JudgedCondition:
    if median_s is None:
        return JudgedCondition(condition, None, "", None, None)
    if median_s < condition.floor_s:
        share = condition.share(median_s)
        raise AboveCeilingError(
            f"{condition.quantity} of {condition.shape} is {share:.1%} of its roof",
            where=where,
            fix="check the timing, the work and the roof; nothing is faster than its floor",
        )
    return JudgedCondition(condition, median_s, "", condition.amount / median_s, condition.ratio(median_s))


def wiki_of(targets: TargetSet | None) -> str:
    """Return where the rows of targets were read, where that is not the packaged wiki; else nothing."""
    named = targets.work.get("wiki") if targets is not None else None
    return named if isinstance(named, str) else ""


def above_roof(state: WorkspaceState, records: Mapping[str, Measured]) -> dict[str, str]:
    """Return shape → what is wrong, for every record above a documented roof or above its target's ceiling.

    Such a record is an error of timing, work or roof, and no measurement of the kernel.

    Args:
        state: Rooflines and targets.
        records: Shape → record, taken on the workspace's product.
    """
    conditions = {condition.shape: condition for condition in StopConditions.of(state).conditions}
    roofs = {roofline.shape: roofline for roofline in state.rooflines}
    if has_floors(state):
        floors = floor_s(state, cold=True)
        return {
            shape: f"{shape} took {duration(one.median_s)}, less than its floor of {duration(floors[shape])}"
            for shape, one in records.items()
            if 0 < one.median_s < floors.get(shape, 0.0)
        }
    found = {}
    for shape, record in records.items():
        used = roof_uses(roofs[shape], record.median_s) if shape in roofs and record.median_s > 0 else ()
        shares = [(one.documented_share, one.name) for one in used]
        above = [(share, name) for share, name in shares if share is not None and share > 1]
        if above:
            share, name = max(above)
            found[shape] = f"{shape} is at {share:.1%} of its {name} roof"
        elif shape in conditions and record.median_s > 0:
            try:
                StopConditions((conditions[shape],)).evaluate(records)
            except AboveCeilingError as error:
                found[shape] = error.what
    return found
