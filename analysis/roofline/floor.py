"""Floors: a time below which a result of a product is impossible, whichever arithmetic computed it.

A roof is what the declared arithmetic reaches on the declared engine. A floor has to hold for every route that the
check could accept: a product of fp32 matrices may run on matrix engines in tf32, fp16 or bf16, and two levels of
Strassen's algorithm leave (7/8)² of its operations.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from kopt_kb.base.wire import Wire
from kopt_kb.problem.dtypes import dtype_of
from kopt_kb.problem.work import Work
from kopt_kb.quantity.quantity import Quantity
from kopt_kb.wiki.registry import Platform
from kopt_kb.wiki.row import Row

__all__ = ["ComputeFloor", "compute_floor", "multiplied"]

STRASSEN = Fraction(7, 8) ** 2
"""Share of 2mnk operations that two levels of Strassen's algorithm leave; nobody ships more of them."""

_WHOLE = ("gemm", "batched_gemm")
"""Operations that are a product and nothing else, on whichever engine they are counted."""

_PRODUCTS = (*_WHOLE, "gemm_bias_act", "grouped_gemm", "attention")
"""Operations whose work on the matrix engine is products of dense matrices."""

_WIDE_BITS = 16
"""Wider storage may not be rounded to fewer bits in one product: the gate on machine code refuses it."""


@dataclass(frozen=True, slots=True)
class ComputeFloor(Wire):
    """The least time of the products of a work.

    Attributes:
        seconds: Exact.
        route: The fastest arithmetic that the check could accept, with its rate.
        citations: The rows that it rests on.
    """

    WIRE: ClassVar = ("seconds=_seconds", "route", "citations")
    seconds: Fraction
    route: str
    citations: tuple[str, ...]

    @property
    def _seconds(self) -> float:
        return float(self.seconds)


def multiplied(work: Work) -> int:
    """Return the operations of a work that are products of dense matrices; 0 where that is not known."""
    if work.op not in _PRODUCTS or work.exactness() == "upper":
        return 0
    return sum(one.useful.value for one in work.flops if work.op in _WHOLE or one.engine == "matrix")


def compute_floor(work: Work, platform: Platform) -> ComputeFloor | None:
    """Return the least time of the products of a work on a product.

    None for work without products of dense matrices (convolutions, vector work, what a problem's reference was seen to
    do), and where the rate of a route is UNKNOWN.
    """
    amount = multiplied(work)
    if not amount:
        return None
    fp16 = platform.rows("peak_compute", dtype="fp16", engine="matrix", sparsity="dense")
    if not fp16 or any(row.kind == "unknown" for row in fp16):
        return None
    rates = [
        (rate * Fraction(1, _products(row, work.dtype)), row)
        for row in platform.rows("peak_compute", sparsity="dense")
        if _products(row, work.dtype) and (rate := _at_most(platform, row)) is not None
    ]
    if not rates:
        return None
    rate, row = max(rates, key=lambda one: one[0])
    value = platform.quantity(row)
    cited = value.citation_texts if isinstance(value, Quantity) else ()
    axes = dict(row.axes)
    count = "" if (products := _products(row, work.dtype)) == 1 else f"{products} products of "
    route = f"{count}{axes['dtype']} {axes['engine']}, {row.value} {row.unit}, highest clock, two levels of Strassen"
    return ComputeFloor(amount * STRASSEN / rate, route, cited)


def _products(row: Row, storage: str) -> int:
    """Return how many products of a row's type stand for one of the storage type at least; 0 where none can."""
    bits, stored = dtype_of(dict(row.axes)["dtype"]).bits, dtype_of(storage).bits
    if bits >= min(stored, _WIDE_BITS):
        return 1
    if stored <= _WIDE_BITS:
        return 0
    return 2 if 2 * bits >= _WIDE_BITS else 0  # slices: 16 bits of one operand at the least


def _at_most(platform: Platform, row: Row) -> Fraction | None:
    """Return the rate of a row at the highest documented clock; as printed where a clock is not known."""
    value = platform.quantity(row)
    if not isinstance(value, Quantity):
        return None
    axes = dict(row.axes)
    own = _clocks(platform, axes.get("clock", "unstated"), axes["engine"])
    highest = _clocks(platform, "max", axes["engine"])
    scale = max(highest) / min(own) if own and highest and axes["clock"] != "unstated" else Fraction(1)
    return value.si * max(scale, Fraction(1))


def _clocks(platform: Platform, kind: str, engine: str) -> list[Fraction]:
    rows = [row for row in platform.rows("sm_clock", **{"class": kind}) if dict(row.axes)["ops"] in {"all", engine}]
    return [value.si for row in rows if isinstance(value := platform.quantity(row), Quantity)]
