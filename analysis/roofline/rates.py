"""How fast a type is multiplied on a product at most: its documented rate at the highest clock, of either engine."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

from kopt_kb.quantity.quantity import Quantity
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
        text: `989.4 TFLOPS of fp16 matrix`.
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
    counted = _counted(platform, {"dtype": dtype, "engine": "matrix", "sparsity": "dense"})
    if counted:
        row = platform.rows("ops_per_clock_per_sm", dtype=dtype, engine="matrix", sparsity="dense")[0]
        text, value = f"no more than {row.value} operations a clock and SM of {dtype} matrix", platform.quantity(row)
        found.append(HighestRate(counted, text, value.citation_texts if isinstance(value, Quantity) else ()))
    return min(found, key=lambda one: one.per_s, default=None)


def _fastest(rates: Iterable[HighestRate]) -> HighestRate | None:
    return max(rates, key=lambda one: one.per_s, default=None)


def _of_row(platform: Platform, row: Row) -> HighestRate | None:
    """Return the rate of a row at the highest documented clock; as printed where no clock is known."""
    value = platform.quantity(row)
    if not isinstance(value, Quantity):
        return None
    axes = dict(row.axes)
    highest = _clocks(platform, "max", axes["engine"])
    if axes["clock"] == "unstated":
        per_s = max(value.si, _counted(platform, axes))
    else:
        own = _clocks(platform, axes["clock"], axes["engine"])
        per_s = value.si * max(max(highest) / min(own), Fraction(1)) if own and highest else value.si
    return HighestRate(per_s, f"{row.value} {row.unit} of {axes['dtype']} {axes['engine']}", value.citation_texts)


def _counted(platform: Platform, axes: dict[str, str]) -> Fraction:
    """Return operations a clock and SM times SMs at the highest clock, for a rate that is printed without a clock.

    The product's own row where it has one, else the ceiling of its target; 0 where a factor is unknown.
    """
    asked = {name: axes[name] for name in ("dtype", "engine", "sparsity")}
    rows = platform.rows("ops_per_clock_per_sm", **asked)
    own = [row for row in rows if not row.is_ceiling]
    found = [value.si for row in own or rows if isinstance(value := platform.quantity(row), Quantity)]
    units, clocks = platform.get("sm_count"), _clocks(platform, "max", axes["engine"])
    if not (found and clocks and isinstance(units, Quantity)):
        return Fraction(0)
    return max(found) * units.si * max(clocks)


def _clocks(platform: Platform, kind: str, engine: str) -> list[Fraction]:
    rows = [row for row in platform.rows("sm_clock", **{"class": kind}) if dict(row.axes)["ops"] in {"all", engine}]
    return [value.si for row in rows if isinstance(value := platform.quantity(row), Quantity)]
