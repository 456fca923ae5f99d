"""Closed form of layer normalisation over rows."""

from __future__ import annotations

from kopt_kb.problem.counts import Counts, FlopCount, SpecialCount, dram, exact
from kopt_kb.problem.dtypes import DType, vector_compute
from kopt_kb.problem.ops.definition import OpDefinition, Option, OptionValues
from kopt_kb.problem.shapes import Shape

__all__ = ["DEFINITION"]


def _count(shape: Shape, dtype: DType, options: OptionValues) -> Counts:
    rows, cols = shape
    vectors = options.flag("weight") + options.flag("bias")
    compute = vector_compute(dtype)
    mean, variance = (cols - 1) + 1, cols + cols + (cols - 1) + 2
    per_row = mean + variance + cols + vectors * cols
    elements_bytes = dtype.storage_bytes(rows * cols)
    return Counts(
        flops=(FlopCount(compute, "vector", exact(rows * per_row)),),
        special=(SpecialCount("rsqrt", compute, exact(rows)),),
        bytes=dram(elements_bytes + vectors * dtype.storage_bytes(cols), elements_bytes),
    )


DEFINITION = OpDefinition(
    id="layer_norm",
    form="MxN",
    summary="y[i,:] = (x[i,:] - mean) * rsqrt(mean((x[i,:] - mean)^2) + eps) * w + b, in fp32 whatever "
    "the storage type",
    flops="a row of N: N-1 adds and 1 multiply for the mean, N subtractions, N squares, N-1 adds, 1 "
    "multiply by 1/N, 1 add of eps, N multiplies by the inverse root, N by the weight, N adds of "
    "the bias = 7N+1 (N less without weight, N less without bias); vector engine",
    special="1 rsqrt a row",
    bytes="x, w and b once read, y once written, each in the storage type; mean and inverse root are not stored",
    count=_count,
    options=(
        Option("weight", "bool", True, "multiply by a weight of N elements"),
        Option("bias", "bool", True, "add a bias of N elements"),
    ),
)
