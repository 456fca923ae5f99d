"""Latencies and rates of an attempt, computed from its records and the work that its rooflines count."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from operator import itemgetter

from kopt_kb.analysis.roofline.recorded import DRAM, RecordedCeiling, RecordedRoofline
from kopt_kb.base.errors import BadInput
from kopt_kb.problem.problem import Problem
from kopt_kb.problem.shapes import check_shape, format_shape, parse_shape
from kopt_kb.problem.work import Work
from kopt_kb.workspace.journal.round_events import Measured
from kopt_kb.workspace.state import WorkspaceState
from kopt_kb.workspace.targets.conditions import Condition, StopConditions

__all__ = ["ShapeRate", "finite", "rates_of", "short"]

_DIGITS = 6


@dataclass(frozen=True, slots=True)
class ShapeRate:
    """One record with what follows from it; None where nothing does.

    Attributes:
        record: The measurement.
        flops_per_s: Useful operations of all engines over the median.
        bytes_per_s: Compulsory bytes of device memory over the median.
        compute_share: Of the documented compute roof that limits the shape, 0 to 1.
        bandwidth_share: Of the documented bandwidth of device memory, 0 to 1.
        target_ratio: Achieved over target; at least 1 meets the condition.
    """

    record: Measured
    flops_per_s: float | None
    bytes_per_s: float | None
    compute_share: float | None
    bandwidth_share: float | None
    target_ratio: float | None


def finite(value: float | None) -> float | None:
    """Return the number when it is one that JSON can carry, else None."""
    return value if value is not None and math.isfinite(value) else None


def short(value: float | None) -> float | None:
    """Return a derived number at six significant digits: more would pretend a precision no timing has."""
    known = finite(value)
    return None if known is None else float(f"{known:.{_DIGITS}g}")


def rates_of(state: WorkspaceState, records: Mapping[str, Measured], *, judged: bool = True) -> tuple[ShapeRate, ...]:
    """Return the rates of each shape's record, shapes of the problem first and in its order.

    Args:
        state: Problem, rooflines and targets.
        records: Shape → record.
        judged: Whether to compare with roofs and targets; simulated times never are.
    """
    order = [format_shape(shape) for shape in state.problem.shapes]
    shapes = [*(one for one in order if one in records), *(one for one in records if one not in order)]
    roofs = {roofline.shape: roofline for roofline in state.rooflines}
    conditions = {one.shape: one for one in StopConditions.of(state).conditions} if judged else {}
    made = []
    for shape in shapes:
        roof = roofs.get(shape)
        work = roof.work if roof is not None else _counted(state.problem, shape)
        made.append(_rate(records[shape], work, roof if judged else None, conditions.get(shape)))
    return tuple(made)


def _counted(problem: Problem, shape: str) -> Work | None:
    """Return the work of a shape that no target is for any more; None for one the operation can't have."""
    try:
        return problem.work(check_shape(parse_shape(shape)))
    except BadInput:
        return None


def _rate(record: Measured, work: Work | None, roof: RecordedRoofline | None, condition: Condition | None) -> ShapeRate:
    flops = sum(count.useful.value for count in work.flops) if work is not None else 0
    bytes_per_s = _per_s(work.amount_under(DRAM) if work is not None else 0, record)
    compute = bandwidth = ratio = None
    if roof is not None:
        compute = _share(roof, _binding_engine(roof), record)
        bandwidth = _share(roof, roof.ceiling(DRAM), record)
    if condition is not None and record.median_s > 0:
        ratio = finite(condition.ratio(record.median_s))
    return ShapeRate(record, _per_s(flops, record), bytes_per_s, compute, bandwidth, ratio)


def _per_s(amount: int, record: Measured) -> float | None:
    if not record.median_s > 0 or not amount:
        return None
    try:
        return finite(amount / record.median_s)
    except OverflowError:
        return None


def _binding_engine(roof: RecordedRoofline) -> RecordedCeiling | None:
    """Return the documented compute roof that limits the work, else the lowest."""
    engines = [(per_s, one) for one in roof.ceilings if one.is_engine and (per_s := one.per_s("documented"))]
    named = [one for _, one in engines if one.name == roof.limiter]
    lowest = min(engines, key=itemgetter(0), default=None)
    return named[0] if named else lowest[1] if lowest is not None else None


def _share(roof: RecordedRoofline, ceiling: RecordedCeiling | None, record: Measured) -> float | None:
    roof_per_s = ceiling.per_s("documented") if ceiling is not None else None
    if ceiling is None or not roof_per_s:
        return None
    achieved = _per_s(roof.amount_under(ceiling.name), record)
    return None if achieved is None else finite(achieved / float(roof_per_s))
