"""Targets: a share of a cited roof, 0.9 unless something else is asked for (`0.85`, `> 500 TFLOPS`, `> 60% peak`)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

from kopt_kb.analysis.roofline.ceilings import Ceiling
from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import Wire
from kopt_kb.problem.shapes import format_shape
from kopt_kb.problem.work import Work
from kopt_kb.quantity.quantity import Quantity, Unknown, given
from kopt_kb.quantity.units import UNITS, format_exact

__all__ = [
    "TARGET_FACTOR",
    "Aim",
    "PerformanceTarget",
    "RoofTarget",
    "TargetAboveRoofError",
    "parse_performance_target",
    "target_of",
]

TARGET_FACTOR = Fraction(9, 10)
"""Share of a roof that a kernel must reach: the seed's rule."""

TargetMetric = Literal["compute", "bandwidth"]

_TEXT = re.compile(r"(?:>=?|≥)?\s*([0-9]{1,30}(?:\.[0-9]{1,30})?)\s*(%|[A-Za-z]+(?:/s)?)\s*(.*)")
_SHOWN = 80
_SHARE_WORDS = {"", "peak", "of peak", "peak efficiency", "of peak efficiency", "efficiency"}
_PRINTED = {"compute": "TFLOPS", "bandwidth": "TB/s"}
"""Units targets are printed in; integer peaks are printed in TOPS."""
_FIX = 'write "> 500 TFLOPS", ">= 3 TB/s", "> 60% peak efficiency", or "null" for none'


class TargetAboveRoofError(BadInput):
    """A performance target asks for more than the documented roofs of the product allow."""

    code = "KB320"


@dataclass(frozen=True, slots=True)
class RoofTarget(Wire):
    """An absolute target.

    Attributes:
        metric: `compute` (FLOP/s of one dtype and engine) or `bandwidth` (compulsory bytes over time).
        name: Ceiling it comes from: `bf16 matrix`, `dram`.
        value: factor x roof; Unknown when the roof is.
        basis: `measured` or `documented`; `vendor_measured` where nothing is documented.
        factor: Share of the roof.
    """

    WIRE: ClassVar = (
        "metric", "name", "basis", "factor=_factor", "value=value._printed", "unit=value.unit",
        "needs?=value.needs", "si_value?=value._number_si", "grades?=value.grade_names",
    )  # fmt: skip
    metric: TargetMetric
    name: str
    value: Quantity | Unknown
    basis: str
    factor: Fraction = TARGET_FACTOR

    def line(self) -> str:
        """Return the line, such as `memory-bound target >= 3.6 TB/s`."""
        kind = "compute-bound" if self.metric == "compute" else "memory-bound"
        if isinstance(self.value, Unknown):
            return f"{kind} target: UNKNOWN, no source gives {', '.join(self.value.needs)}"
        return f"{kind} target >= {self.value}"

    @property
    def _factor(self) -> float:
        return float(self.factor)


@dataclass(frozen=True, slots=True)
class PerformanceTarget:
    """What a user aims at.

    Attributes:
        text: As written.
        number: The rate, or the percentage.
        unit: Unit of a rate, or `%` of the roof that limits each shape.
    """

    text: str
    number: Fraction
    unit: str


def parse_performance_target(text: str, where: str = "--performance-target") -> PerformanceTarget | None:
    """Return the target that a text means; None for nothing, `null` and `none`.

    A condition holds from its number on: `>` is read as `>=`, the same on any clock.

    Raises:
        BadInput: It is neither a rate of operations or bytes, nor a percentage above 0 and at most 100.
    """
    plain = " ".join(text.split())
    if plain.casefold() in {"", "null", "none"}:
        return None
    match = _TEXT.fullmatch(plain)
    if match is None:
        shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
        raise BadInput(f"{shown!r} is no performance target", where=where, fix=_FIX, code="KB326")
    number, name, rest = Fraction(match[1]), match[2], match[3].casefold()
    if name == "%":
        if rest not in _SHARE_WORDS or not 0 < number <= 100:
            raise BadInput(f"{text!r} is no share of a peak", where=where, fix=_FIX, code="KB326")
        return PerformanceTarget(plain, number, "%")
    if name not in UNITS or UNITS[name].dimension not in {"op/s", "B/s"} or rest or not number:
        raise BadInput(f"{text!r} is no rate of operations or bytes", where=where, fix=_FIX, code="KB326")
    return PerformanceTarget(plain, number, name)


Aim = Fraction | PerformanceTarget
"""What to ask for: a share of the measured roof (else of the documented one), or a rate or share of documented ones."""


def target_of(metric: TargetMetric, ceiling: Ceiling, work: Work, aim: Aim = TARGET_FACTOR) -> RoofTarget:
    """Return factor x roof.

    A share is taken of our own measured roof where the wiki has a comparable one. A performance target rests on the
    documented roof and an exact share of it alone: a percentage is that share; a rate is one time for the work, and so
    one rate under each of its roofs, so that `500 TFLOPS` on a shape that memory limits is the bandwidth at which its
    operations come at 500 TFLOPS.

    Raises:
        TargetAboveRoofError: The documented roof allows less than a performance target, with numbers and citation.
    """
    if not isinstance(aim, PerformanceTarget):
        return _scaled(metric, ceiling.name, ceiling.roof, ceiling.basis, aim)
    roof = ceiling.documented
    if isinstance(roof, Unknown):
        return RoofTarget(metric, ceiling.name, roof, "documented")
    share = _share(work, ceiling.name, roof, aim)
    if share > 1:
        raise _above(work, ceiling.name, roof, aim, share)
    return _scaled(metric, ceiling.name, roof, "documented", share)


def _scaled(metric: TargetMetric, name: str, roof: Quantity | Unknown, basis: str, factor: Fraction) -> RoofTarget:
    value = given(factor, "1", "target factor", is_policy=True) * roof
    if isinstance(value, Quantity):
        value = value.as_ceiling().to(_PRINTED[metric] if value.unit.endswith(("FLOPS", "B/s")) else "TOPS")
    return RoofTarget(metric, name, value, basis, factor)


def _share(work: Work, name: str, roof: Quantity, target: PerformanceTarget) -> Fraction:
    """Return the share of a documented roof at which the work runs at the rate asked for.

    A rate of operations is one of the engine that does most of them, as kernels of two engines are quoted.
    """
    if target.unit == "%":
        return target.number / 100
    asked = UNITS[target.unit]
    amounts = {
        "op/s": max((work.amount_under(f"{one.dtype} {one.engine}") for one in work.flops), default=0),
        "B/s": work.amount_under("dram"),
    }
    if not amounts[asked.dimension]:
        raise BadInput(
            f"{target.text} of {format_shape(work.shape)}, which counts no such work",
            where="performance target",
            code="KB326",
        )
    return target.number * asked.factor * work.amount_under(name) / amounts[asked.dimension] / roof.si


def _above(work: Work, name: str, roof: Quantity, target: PerformanceTarget, share: Fraction) -> TargetAboveRoofError:
    most = target.number / share
    cited = "; ".join(f"{each.location}" for each in roof.citations())
    text = (
        f"{target.text} is above the {format_exact(most)} {target.unit} that the documented {name} roof of {roof} "
        f"allows on {format_shape(work.shape)} ({cited})"
    )
    return TargetAboveRoofError(
        text, where="performance target", fix="nothing is faster than its roof: aim lower", code="KB326"
    )
