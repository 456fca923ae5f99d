"""Closed form of RMS normalisation over rows."""

from __future__ import annotations

from kopt_kb.problem.counts import Counts, FlopCount, SpecialCount, dram, exact
from kopt_kb.problem.dtypes import DType, vector_compute
from kopt_kb.problem.ops.definition import OpDefinition, Option, OptionValues
from kopt_kb.problem.shapes import Shape

__all__ = ["DEFINITION"]


def _count(shape: Shape, dtype: DType, options: OptionValues) -> Counts:
    rows, cols = shape
    weight = options.flag("weight")
    compute = vector_compute(dtype)
    per_row = cols + (cols - 1) + 2 + cols + (cols if weight else 0)
    elements_bytes = dtype.storage_bytes(rows * cols)
    return Counts(
        flops=(FlopCount(compute, "vector", exact(rows * per_row)),),
        special=(SpecialCount("rsqrt", compute, exact(rows)),),
        bytes=dram(elements_bytes + (dtype.storage_bytes(cols) if weight else 0), elements_bytes),
    )


DEFINITION = OpDefinition(
    id="rms_norm",
    form="MxN",
    summary="y[i,:] = x[i,:] * rsqrt(mean(x[i,:]^2) + eps) * w, computed in fp32 whatever the storage type",
    flops="a row of N: N squares, N-1 adds, 1 multiply by 1/N, 1 add of eps, N multiplies by the "
    "inverse root, N multiplies by the weight = 4N+1 (3N+1 without weight); vector engine",
    special="1 rsqrt a row",
    bytes="x once and w once read, y once written, each in the storage type; the inverse root is not stored",
    count=_count,
    options=(Option("weight", "bool", True, "multiply by a weight of N elements"),),
)
