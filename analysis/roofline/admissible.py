"""Which routes of arithmetic a check could accept: only those are left out whose error provably exceeds its limit."""

from __future__ import annotations

from math import isqrt

from kopt_kb.problem.dtypes import dtype_of
from kopt_kb.problem.tolerances import Tolerance
from kopt_kb.problem.work import Work
from kopt_kb.wiki.arithmetic import ArithmeticRoute

__all__ = ["NORMAL_INPUTS", "accepted_routes", "allowed_error", "least_error"]

NORMAL_INPUTS = ("gemm", "batched_gemm")
"""Operations whose check draws both operands from the standard normal distribution, and whose terms it knows."""

_NARROWEST = 1 / 12**0.5
"""Least root mean square of a rounding error over an element, in units of 2^-bits.

A number of `bits` significant bits below 2^(e+1) is rounded in steps of 2^(e+1-bits). The error is even within half a
step, its root mean square the step over the root of 12, and the number less than 2^(e+1). The bits of fixed-point
slices count from the largest number of a row or block, which is no less than the element.
"""

_ROUNDINGS = 8
_LARGEST = 7
"""Standard deviations that no element of a result reaches: where nobody knows its terms, it stands for them."""


def least_error(bits: int) -> float:
    """Return the least relative error (norm over norm) of a product of normal operands that keeps so many bits.

    The rounding of one operand is enough: its error, multiplied by the other, is to the result as it is to the operand.
    """
    return float(_NARROWEST * 2.0**-bits)


def allowed_error(work: Work, tolerance: Tolerance) -> float:
    """Return the largest relative error that the comparison of this work accepts: its limit and the rounding of terms.

    `launch/kernel/comparison.py` takes 8 roundings at the size of the terms from an error before it is judged; the
    terms of an element are at most the norms of its row and column, sqrt(K) times the result's own size.
    """
    roundoff = 2.0**-53 if work.dtype == "fp64" else 2.0**-24
    terms = max(isqrt(work.shape[-1]) + 1, _LARGEST)
    return float(tolerance.rel_l2_err) + _ROUNDINGS * roundoff * terms


def accepted_routes(
    routes: tuple[ArithmeticRoute, ...], work: Work, tolerance: Tolerance
) -> tuple[ArithmeticRoute, ...]:
    """Return the routes that the check of a work could accept.

    Storage of 16 bits is multiplied in 16 bits at least, of fewer in its own width: the gate on machine code holds
    that; integers of 32 bits may be small. Wider storage is free: a route is left out where its least error is above
    what the comparison accepts, and nothing is left out of operations whose inputs are not known. The option `operands`
    of a problem asks for more, and the gate on machine code holds that too.
    """
    stored = dtype_of(work.dtype)
    single = tuple(one for one in routes if one.cost == 1)
    if stored.kind == "int":
        return tuple(one for one in single if one.bits.si >= min(stored.bits, 8))
    if stored.bits <= 16:
        return tuple(one for one in single if dtype_of(one.dtype).bits >= stored.bits)
    stated = dict(work.options).get("operands", "tolerance")
    if stated == "storage":
        return tuple(one for one in single if one.dtype == work.dtype)
    if stated == "16bit":
        routes = tuple(one for one in routes if dtype_of(one.dtype).bits >= 16)
    if work.op not in NORMAL_INPUTS:
        return routes
    limit = allowed_error(work, tolerance)
    return tuple(one for one in routes if least_error(int(one.bits.si)) <= limit)
