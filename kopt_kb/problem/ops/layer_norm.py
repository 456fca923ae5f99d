"""Closed form of layer normalisation over rows."""

from __future__ import annotations

from math import prod

from kopt_kb.problem.counts import Counts, FlopCount, SpecialCount, dram, exact
from kopt_kb.problem.dtypes import DType, vector_compute
from kopt_kb.problem.ops.definition import OpDefinition, Option, OptionValues
from kopt_kb.problem.shapes import Shape
from kopt_kb.problem.trials import RANDOM, Cut, Edit, Split, Trial

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


_TRIALS = (
    RANDOM,
    Trial(
        "rows of other sizes and heights",
        "a constant in place of mean or variance",
        (Edit("powers", 0, -2, 3), Edit("shifts", 0, -2, 4.0)),
        dense=True,
    ),
    Trial(
        "large mean, small variance",
        "a variance from the difference of two large numbers in a narrow type",
        (Edit("shift", 0, value=32.0),),
        dense=True,
    ),
    Trial("small elements", "an epsilon that is left out", (Edit("scale", 0, value=2.0**-10),), dense=True),
    Trial("one large element a row", "squares in a narrow type", (Edit("place", 0, value=1000.0),)),
    Trial("equal elements", "a division by zero", (Edit("equal", 0),)),
    Trial(
        "elements of one size",
        "weights in a narrower type, a variance of a part of the row",
        (Edit("signs", 0, value=2.0**7), Edit("alternate", 0), Edit("scale", 2, value=0.0)),
        exact=True,
    ),
    Trial(
        "weights of other sizes",
        "weights that are not read",
        (Edit("powers", 1, -1, 3), Edit("powers", 2, -1, 3)),
        dense=True,
    ),
    Trial(
        "shifted rows",
        "a mean that is not subtracted",
        (Edit("grid", 0),),
        then=(Edit("shift", 0, value=8.0),),
        dense=True,
    ),
    Trial(
        "reordered columns",
        "a mean over a part of the row",
        (Edit("powers", 0, -1, 3),),
        then=tuple(Edit("permute", number, -1, key="N") for number in range(3)),
        result=(Edit("permute", axis=-1, key="N"),),
        dense=True,
    ),
)

DEFINITION = OpDefinition(
    id="layer_norm",
    form="MxN",
    dimensions=("rows", "elements of a row, over which is normalised"),
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
    trials=_TRIALS,
    split=Split((Cut(0, (0, None, None)),), lambda shapes: 5 * prod(shapes[0])),
)
