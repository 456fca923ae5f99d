"""Closed form of softmax over rows."""

from __future__ import annotations

from kopt_kb.problem.counts import Counts, FlopCount, SpecialCount, dram, exact
from kopt_kb.problem.dtypes import DType, vector_compute
from kopt_kb.problem.ops.definition import OpDefinition, OptionValues
from kopt_kb.problem.shapes import Shape

__all__ = ["DEFINITION"]


def _count(shape: Shape, dtype: DType, _options: OptionValues) -> Counts:
    rows, cols = shape
    compute = vector_compute(dtype)
    per_row = (cols - 1) + cols + (cols - 1) + cols
    elements_bytes = dtype.storage_bytes(rows * cols)
    return Counts(
        flops=(FlopCount(compute, "vector", exact(rows * per_row)),),
        special=(SpecialCount("exp", compute, exact(rows * cols)),),
        bytes=dram(elements_bytes, elements_bytes),
    )


DEFINITION = OpDefinition(
    id="softmax",
    form="MxN",
    summary="y[i,:] = exp(x[i,:] - max) / sum(exp(x[i,:] - max)), computed in fp32 whatever the storage type",
    flops="a row of N: N-1 maxima, N subtractions, N-1 adds, N divisions = 4N-2; a maximum and a "
    "division count as one each; vector engine",
    special="1 exp an element",
    bytes="x once read, y once written, in the storage type",
    count=_count,
)
