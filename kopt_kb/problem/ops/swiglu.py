"""Closed form of the SwiGLU gate."""

from __future__ import annotations

from kopt_kb.problem.counts import Counts, FlopCount, SpecialCount, dram, exact
from kopt_kb.problem.dtypes import DType, vector_compute
from kopt_kb.problem.ops.definition import OpDefinition, OptionValues
from kopt_kb.problem.shapes import Shape

__all__ = ["DEFINITION"]


def _count(shape: Shape, dtype: DType, _options: OptionValues) -> Counts:
    elements = shape[0] * shape[1]
    compute = vector_compute(dtype)
    one_bytes = dtype.storage_bytes(elements)
    return Counts(
        flops=(FlopCount(compute, "vector", exact(3 * elements)),),
        special=(SpecialCount("exp", compute, exact(elements)),),
        bytes=dram(2 * one_bytes, one_bytes),
    )


DEFINITION = OpDefinition(
    id="swiglu",
    form="MxN",
    summary="y = a / (1 + exp(-a)) * b for two inputs and one output of MxN, computed in fp32; no projections",
    flops="an element: 1 add, 1 division, 1 multiply = 3 (the sign change is part of the exp); vector engine",
    special="1 exp an element",
    bytes="a and b once read, y once written, in the storage type",
    count=_count,
)
