"""Floors: a time below which a result of a product is impossible, whichever arithmetic computed it.

A roof is what the declared arithmetic reaches on the declared engine. A floor has to hold for every route that the
check could accept: a product of fp32 matrices may run on matrix engines in tf32, fp16, bf16 or slices of int8, and two
levels of Strassen's algorithm leave (7/8)² of its operations. The target is neither: a share of the roof.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

from kopt_kb.analysis.roofline.admissible import accepted_routes
from kopt_kb.analysis.roofline.last_caches import last_caches
from kopt_kb.analysis.roofline.rates import HighestRate, highest_rate
from kopt_kb.base.wire import Wire
from kopt_kb.problem.dtypes import dtype_of
from kopt_kb.problem.tolerances import Tolerance, tolerance_of
from kopt_kb.problem.work import Work
from kopt_kb.quantity.quantity import Quantity
from kopt_kb.quantity.readable import said
from kopt_kb.wiki.arithmetic import ArithmeticRoute, arithmetic_routes
from kopt_kb.wiki.registry import Platform

__all__ = ["ComputeFloor", "Floor", "compute_floor", "multiplied", "work_floor"]

STRASSEN = Fraction(7, 8) ** 2
"""Share of 2mnk operations that two levels of Strassen's algorithm leave; nobody ships more of them."""

_WHOLE = ("gemm", "batched_gemm")
"""Operations that are a product and nothing else, on whichever engine they are counted."""

_PRODUCTS = (*_WHOLE, "gemm_bias_act", "grouped_gemm", "attention")
"""Operations whose work on the matrix engine is products of dense matrices."""

_NO_PRODUCT = (
    "no product of dense matrices is known in it: convolutions, vector, sparse and triangular work have no floor of "
    "arithmetic"
)


@dataclass(frozen=True, slots=True)
class ComputeFloor(Wire):
    """The time below which the products of a work are impossible.

    Attributes:
        seconds: Exact; None where the work has no such floor.
        route: The fastest arithmetic that the check could accept, with its rate; without a floor, why there is none.
        citations: The rows that it rests on.
        missing: Rows whose value nobody says and without which there is no floor.
    """

    WIRE: ClassVar = ("seconds=_seconds", "route", "citations", "missing")
    seconds: Fraction | None
    route: str
    citations: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def _seconds(self) -> float | None:
        return None if self.seconds is None else float(self.seconds)


@dataclass(frozen=True, slots=True)
class Floor(Wire):
    """The time below which a result of a work is impossible: the longer of what its bytes and its products take.

    Attributes:
        seconds: As a float; `kb` judges the exact value.
        by: `bytes` or `products`.
        route: What takes it: the bandwidth of device memory, or the fastest arithmetic that the check could accept.
        citations: The rows that it rests on.
        products: The floor of its products by itself, or why it has none.
    """

    seconds: float
    by: Literal["bytes", "products"]
    route: str
    citations: tuple[str, ...]
    products: ComputeFloor


def multiplied(work: Work) -> int:
    """Return the operations of a work that are products of dense matrices; 0 where that is not known."""
    if work.op not in _PRODUCTS or work.exactness() == "upper":
        return 0
    return sum(one.useful.value for one in work.flops if work.op in _WHOLE or one.engine == "matrix")


def compute_floor(work: Work, platform: Platform, tolerance: Tolerance | None = None) -> ComputeFloor:
    """Return the floor of the products of a work on a product.

    Args:
        work: Convolutions, vector work and what a problem's reference was seen to do have none.
        platform: Whose rates are taken, at its highest clock. A route whose rate nobody says could be the fastest:
            then there is no floor, and the row is named.
        tolerance: Of the check; None: the package's own of the storage type.
    """
    amount = multiplied(work)
    if not amount:
        return ComputeFloor(None, _NO_PRODUCT)
    routes = accepted_routes(arithmetic_routes(platform.wiki), work, tolerance or tolerance_of(work.dtype))
    if not routes:
        return ComputeFloor(None, f"the wiki has no route for {work.dtype}")
    rates = {dtype: highest_rate(platform, dtype) for dtype in dict.fromkeys(one.dtype for one in routes)}
    missing = tuple(sorted(one for one in rates.values() if isinstance(one, str)))
    if missing:
        return ComputeFloor(None, f"UNKNOWN: {', '.join(missing)}", missing=missing)
    known = {dtype: rate for dtype, rate in rates.items() if isinstance(rate, HighestRate)}
    timed = [(_seconds(one, known), one) for one in routes if one.dtype in known]
    if not timed:
        return ComputeFloor(None, f"no route for {work.dtype} runs on {platform.id}")
    ranks = {one: (dtype_of(one).bits, one != work.dtype) for one in known}
    (cost, narrow), best = min(timed, key=lambda each: (each[0][0], *ranks[each[1].dtype]))
    rate = known[best.dtype]
    rest = f", all but the first at {narrow.text}" if narrow is not None else ""
    text = f"{best.words} ({best.name}) at {rate.text}{rest}, two levels of Strassen"
    return ComputeFloor(amount * STRASSEN * cost, text, (*rate.citations, *best.citations))


def _seconds(route: ArithmeticRoute, rates: dict[str, HighestRate]) -> tuple[Fraction, HighestRate | None]:
    """Return seconds an operation: corrections of a split product may run in a narrower type, where that is faster."""
    own, bits = rates[route.dtype], dtype_of(route.dtype).bits
    faster = [one for dtype, one in rates.items() if dtype_of(dtype).bits < bits and one.per_s > own.per_s]
    narrow = max(faster, key=lambda one: one.per_s, default=None) if route.cost > 1 else None
    return 1 / own.per_s + (route.cost - 1) / (narrow or own).per_s, narrow


def work_floor(work: Work, platform: Platform, tolerance: Tolerance | None = None) -> Floor | None:
    """Return the floor of a work whose inputs begin in device memory; None where nothing is known.

    Args:
        work: Bytes that it writes count as far as caches can't keep them.
        platform: Documented bandwidth, caches and rates.
        tolerance: Of the check; None: the package's own of the storage type.
    """
    products = compute_floor(work, platform, tolerance)
    found: list[tuple[Fraction, Floor]] = []
    if products.seconds is not None:
        one = Floor(float(products.seconds), "products", products.route, products.citations, products)
        found.append((products.seconds, one))
    rate = platform.get("memory_bandwidth")
    if isinstance(rate, Quantity):
        seconds = work.moved_at_least(last_caches(platform).held) / rate.si
        text = f"bytes of dram at {said(rate)}, writes that caches may keep left out"
        found.append((seconds, Floor(float(seconds), "bytes", text, rate.citation_texts, products)))
    return max(found, key=lambda one: one[0])[1] if found else None
