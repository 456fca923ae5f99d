"""A performance target in words (`> 500 TFLOPS`, `> 60% peak efficiency`) as a share of cited, documented roofs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from kopt_kb.analysis.roofline.roofline import Roofline, Target
from kopt_kb.errors import BadInput
from kopt_kb.problem.shapes import format_shape
from kopt_kb.quantity.quantity import Quantity, given
from kopt_kb.quantity.units import UNITS, format_exact

__all__ = ["PerformanceTarget", "TargetAboveRoofError", "aimed", "parse_performance_target"]

_TEXT = re.compile(r"(?:>=?|≥)?\s*([0-9]{1,30}(?:\.[0-9]{1,30})?)\s*(%|[A-Za-z]+(?:/s)?)\s*(.*)")
_SHOWN = 80
_SHARE_WORDS = {"", "peak", "of peak", "peak efficiency", "of peak efficiency", "efficiency"}
_PRINTED = {"compute": "TFLOPS", "bandwidth": "TB/s"}
_FIX = 'write "> 500 TFLOPS", ">= 3 TB/s", "> 60% peak efficiency", or "null" for none'


class TargetAboveRoofError(BadInput):
    """A performance target asks for more than the documented roofs of the product allow."""

    code = "KB320"


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
    found = _TEXT.fullmatch(plain)
    if found is None:
        shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
        raise BadInput(f"{shown!r} is no performance target", where=where, fix=_FIX)
    number, name, rest = Fraction(found[1]), found[2], found[3].casefold()
    if name == "%":
        if rest not in _SHARE_WORDS or not 0 < number <= 100:
            raise BadInput(f"{text!r} is no share of a peak", where=where, fix=_FIX)
        return PerformanceTarget(plain, number, "%")
    if name not in UNITS or UNITS[name].dimension not in {"op/s", "B/s"} or rest or not number:
        raise BadInput(f"{text!r} is no rate of operations or bytes", where=where, fix=_FIX)
    return PerformanceTarget(plain, number, name)


def aimed(found: Sequence[Roofline], target: PerformanceTarget) -> list[Roofline]:
    """Return the rooflines with conditions that ask for this target: a share of each shape's documented roofs.

    A percentage is that share of the roof that limits the shape. A rate is one time for the shape's work, and so one
    rate under each of its roofs: `500 TFLOPS` on a shape that memory limits is the bandwidth at which its operations
    come at 500 TFLOPS. The share is exact, and every target rests on a cited row and that share alone.

    Raises:
        TargetAboveRoofError: The documented roofs of a shape allow less, with both numbers and the citation.
    """
    return [_aimed(one, target) for one in found]


def _aimed(one: Roofline, target: PerformanceTarget) -> Roofline:
    roofs = {roof.name: roof.documented for roof in one.roofs()}
    made = []
    for old in one.targets:
        roof = roofs[old.name]
        if not isinstance(roof, Quantity):
            made.append(replace(old, basis="documented", value=roof))
            continue
        share = _share(one, roof, target)
        if share > 1:
            raise _above(one, old, roof, target, share)
        made.append(_scaled(old, roof, share))
    return replace(one, targets=tuple(made))


def _share(one: Roofline, roof: Quantity, target: PerformanceTarget) -> Fraction:
    if target.unit == "%":
        return target.number / 100
    asked = UNITS[target.unit]
    flops = sum(each.useful.value for each in one.work.flops)
    moved = sum(each.compulsory.value for each in one.work.bytes)
    amounts = {"op/s": flops, "B/s": moved}
    own = amounts[roof.dimension]
    if not amounts[asked.dimension]:
        raise BadInput(
            f"{target.text} of {format_shape(one.work.shape)}, which counts no such work", where="performance target"
        )
    return target.number * asked.factor * own / amounts[asked.dimension] / roof.si


def _above(
    one: Roofline, old: Target, roof: Quantity, target: PerformanceTarget, share: Fraction
) -> TargetAboveRoofError:
    most = target.number / share
    cited = "; ".join(f"{each.location}" for each in roof.citations())
    text = (
        f"{target.text} is above the {format_exact(most)} {target.unit} that the documented {old.name} roof of {roof} "
        f"allows on {format_shape(one.work.shape)} ({cited})"
    )
    return TargetAboveRoofError(text, where="performance target", fix="nothing is faster than its roof: aim lower")


def _scaled(old: Target, roof: Quantity, share: Fraction) -> Target:
    factor = given(share, "1", "performance target set for this workspace", is_policy=True)
    value = factor * roof
    if isinstance(value, Quantity):
        integer = old.metric == "compute" and not roof.unit.endswith("FLOPS")
        value = value.as_ceiling().to("TOPS" if integer else _PRINTED[old.metric])
    return replace(old, value=value, factor=share, basis="documented")
