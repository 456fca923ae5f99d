"""How fast a type is multiplied on a product at most: its documented rate at the highest clock, of either engine."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod

from kopt_kb.quantity.quantity import Quantity
from kopt_kb.quantity.readable import si
from kopt_kb.wiki.registry import Platform
from kopt_kb.wiki.row import Row

__all__ = ["HighestRate", "highest_rate"]

_BOUNDS = {"fp64": "tf32", "fp32": "tf32", "tf32": "fp16", "fp16": "fp8", "bf16": "fp8"}
"""Float type to a narrower one: no engine multiplies the wider faster than the narrower (rule PHY-NARROW)."""

_RARE = frozenset({"fp6", "fp4", "mxfp8", "mxfp6", "mxfp4", "nvfp4", "int4"})
"""Types that a document names where a part has them: silence means that it has not."""


@dataclass(frozen=True, slots=True)
class HighestRate:
    """The rate that no product of a type exceeds.

    Attributes:
        per_s: Operations a second, exact.
        text: `989.4 TFLOPS of fp16 matrix, 1.071 PFLOPS at the highest clock`.
        citations: The rows that it rests on.
    """

    per_s: Fraction
    text: str
    citations: tuple[str, ...]


def highest_rate(platform: Platform, dtype: str) -> HighestRate | str | None:
    """Return the highest rate of a type on a product.

    Returns:
        The rate; None when the part can't multiply the type; the key of the row that is missing when nobody says it.
        A rate that nobody says is bounded by that of a narrower float, and by the ceiling of the product's target.
    """
    rows = platform.rows("peak_compute", dtype=dtype, sparsity="dense")
    matrix = [row for row in rows if dict(row.axes)["engine"] == "matrix"]
    rates = [one for row in rows if (one := _of_row(platform, row)) is not None]
    if any(row.kind == "unknown" for row in matrix) or (not rows and dtype not in _RARE):
        return _bound(platform, dtype) or f"{platform.id} peak_compute[dtype={dtype};engine=matrix]"
    return _fastest(rates)


def _bound(platform: Platform, dtype: str) -> HighestRate | None:
    """Return the least of what bounds a rate that nobody says; None where nothing does."""
    narrow = highest_rate(platform, _BOUNDS[dtype]) if dtype in _BOUNDS else None
    found = (
        []
        if not isinstance(narrow, HighestRate)
        else [replace(narrow, text=f"no more than {narrow.text.removeprefix('no more than ')}")]
    )
    axes = {"dtype": dtype, "engine": "matrix", "sparsity": "dense"}
    counted = _counted(platform, axes)
    if counted is not None:
        unit = "CU" if platform.identity.vendor == "AMD" else "SM"
        printed = platform.rows("ops_per_clock_per_sm", **axes)[0].value
        text = f"no more than {printed} operations a clock and {unit} of {dtype} matrix, {counted.text}"
        found.append(replace(counted, text=text))
    return min(found, key=lambda one: one.per_s, default=None)


def _fastest(rates: Iterable[HighestRate]) -> HighestRate | None:
    return max(rates, key=lambda one: one.per_s, default=None)


def _of_row(platform: Platform, row: Row) -> HighestRate | None:
    """Return the rate of a row at the highest documented clock; as printed where no clock is known.

    A printed rate may be rounded down; operations a clock are not.
    """
    value = platform.quantity(row)
    if not isinstance(value, Quantity):
        return None
    axes = dict(row.axes)
    highest = _clocks(platform, "max", axes["engine"])
    own = _clocks(platform, axes["clock"], axes["engine"]) if axes["clock"] != "unstated" else []
    per_s = value.si * max(highest[-1].si / own[0].si, Fraction(1)) if highest and own else value.si
    counted, citations = _counted(platform, axes), value.citation_texts
    if counted is not None and counted.per_s > per_s:
        per_s, citations = counted.per_s, (*citations, *counted.citations)
    said = "as printed"
    if counted is not None or (highest and own) or axes["clock"] == "max":
        near = _at_highest(per_s, axes["dtype"]) == _at_highest(value.si, axes["dtype"])
        said = "at the highest clock" if near else _at_highest(per_s, axes["dtype"])
    return HighestRate(per_s, f"{row.value} {row.unit} of {axes['dtype']} {axes['engine']}, {said}", citations)


def _at_highest(per_s: Fraction, dtype: str) -> str:
    return f"{si(per_s, 'OPS' if dtype.startswith('int') else 'FLOPS')} at the highest clock"


def _counted(platform: Platform, axes: dict[str, str]) -> HighestRate | None:
    """Return operations a clock and SM times SMs at the highest clock; None where a factor is unknown.

    The product's own row where it has one, else the ceiling of its target.
    """
    asked = {name: axes[name] for name in ("dtype", "engine", "sparsity")}
    rows = platform.rows("ops_per_clock_per_sm", **asked)
    own = [row for row in rows if not row.is_ceiling]
    found = [value for row in own or rows if isinstance(value := platform.quantity(row), Quantity)]
    units, clocks = platform.get("sm_count"), _clocks(platform, "max", axes["engine"])
    if not (found and clocks and isinstance(units, Quantity)):
        return None
    factors = (max(found, key=lambda one: one.si), units, clocks[-1])
    per_s = Fraction(prod(one.si for one in factors))
    citations = tuple(text for one in factors for text in one.citation_texts)
    return HighestRate(per_s, _at_highest(per_s, axes["dtype"]), citations)


def _clocks(platform: Platform, kind: str, engine: str) -> list[Quantity]:
    rows = [row for row in platform.rows("sm_clock", **{"class": kind}) if dict(row.axes)["ops"] in {"all", engine}]
    found = [value for row in rows if isinstance(value := platform.quantity(row), Quantity)]
    return sorted(found, key=lambda one: one.si)
