"""Latencies and rates of an attempt, computed from its measurement records and the problem's closed forms."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from kopt_kb.errors import BadInput
from kopt_kb.problem.problem import Problem
from kopt_kb.problem.shapes import check_shape, format_shape, parse_shape
from kopt_kb.quantity.units import UNITS
from kopt_kb.workspace.journal.round_events import Measured
from kopt_kb.workspace.roof_use import DRAM, roof_amount
from kopt_kb.workspace.state import WorkspaceState

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
    problem = state.problem
    order = [format_shape(shape) for shape in problem.shapes]
    shapes = [*(one for one in order if one in records), *(one for one in records if one not in order)]
    roofs = {format_shape(tuple(one["work"]["shape"])): one for one in state.rooflines} if judged else {}
    return tuple(_rate(state, problem, records[shape], roofs.get(shape)) for shape in shapes)


def _per_s(amount: int, record: Measured) -> float | None:
    if not record.median_s > 0 or not amount:
        return None
    try:
        return finite(amount / record.median_s)
    except OverflowError:
        return None


def _amounts(problem: Problem, shape: str) -> tuple[int, int]:
    """Return useful operations and compulsory bytes of device memory; zeros for a shape the operation can't have."""
    try:
        work = problem.work(check_shape(parse_shape(shape)))
    except BadInput:
        return 0, 0
    return sum(flop.useful.value for flop in work.flops), work.amount_under(DRAM)


def _rate(state: WorkspaceState, problem: Problem, record: Measured, roof: Mapping[str, Any] | None) -> ShapeRate:
    flops, moved = _amounts(problem, record.shape)
    flops_per_s, bytes_per_s = _per_s(flops, record), _per_s(moved, record)
    compute, bandwidth, ratio = None, None, None
    if roof is not None:
        (engine, compute_roof), bandwidth_roof = _documented(roof)
        compute = _share(_per_s(roof_amount(roof["work"], engine), record), compute_roof)
        bandwidth = _share(bytes_per_s, bandwidth_roof)
        judged_per_s = _per_s(roof_amount(roof["work"], roof["target"]["name"]), record)
        for target in state.targets.targets if state.targets is not None else ():
            if target.shape == record.shape and target.unit in UNITS:
                ratio = _share(judged_per_s, float(Fraction(target.value) * UNITS[target.unit].factor))
    return ShapeRate(record, flops_per_s, bytes_per_s, compute, bandwidth, ratio)


def _share(rate: float | None, roof: float | None) -> float | None:
    return finite(rate / roof) if rate is not None and roof else None


def _documented(roof: Mapping[str, Any]) -> tuple[tuple[str, float | None], float | None]:
    """Return the documented compute roof that binds (else the lowest) with its name, and that of device memory."""
    known = {one["name"]: one["documented"] for one in roof["ceilings"] if one["documented"]["value"] is not None}
    values = {name: float(Fraction(one["si_value"])) for name, one in known.items()}
    engines = {name: value for name, value in values.items() if " " in name}
    name = roof["limiter"] if roof["limiter"] in engines else min(engines, key=lambda one: engines[one], default="")
    return (name, engines.get(name)), values.get(DRAM)
