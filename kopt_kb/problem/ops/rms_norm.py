"""Closed form of RMS normalisation over rows."""

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
    weight = options.flag("weight")
    compute = vector_compute(dtype)
    per_row = cols + (cols - 1) + 2 + cols + (cols if weight else 0)
    elements_bytes = dtype.storage_bytes(rows * cols)
    return Counts(
        flops=(FlopCount(compute, "vector", exact(rows * per_row)),),
        special=(SpecialCount("rsqrt", compute, exact(rows)),),
        bytes=dram(elements_bytes + (dtype.storage_bytes(cols) if weight else 0), elements_bytes),
    )


_TRIALS = (
    RANDOM,
    Trial("rows of other sizes", "a constant in place of the mean square", (Edit("powers", 0, -2, 4),), dense=True),
    Trial("small elements", "an epsilon that is left out", (Edit("scale", 0, value=2.0**-10),), dense=True),
    Trial("one large element a row", "squares in a narrow type", (Edit("place", 0, value=1000.0),)),
    Trial("equal elements", "an answer that needs the elements to differ", (Edit("equal", 0),)),
    Trial(
        "elements of one size",
        "weights in a narrower type, a mean square of a part of the row",
        (Edit("signs", 0, value=2.0**7),),
        exact=True,
    ),
    Trial("half of the rows zero", "a division by zero", (Edit("zero", 0, -2),)),
    Trial("weights of other sizes", "weights that are not read", (Edit("powers", 1, -1, 3),), dense=True),
    Trial("least elements", "elements flushed to zero", (Edit("tiny", 0, value=4.0),)),
    Trial(
        "twice as large",
        "a scale that does not follow the row",
        then=(Edit("scale", 0, value=-2.0),),
        result=(Edit("scale", value=-1.0),),
        dense=True,
    ),
    Trial(
        "reordered columns",
        "a mean over a part of the row",
        (Edit("powers", 0, -1, 3),),
        then=(Edit("permute", 0, -1, key="N"), Edit("permute", 1, -1, key="N")),
        result=(Edit("permute", axis=-1, key="N"),),
        dense=True,
    ),
)

DEFINITION = OpDefinition(
    id="rms_norm",
    form="MxN",
    dimensions=("rows", "elements of a row, over which is normalised"),
    summary="y[i,:] = x[i,:] * rsqrt(mean(x[i,:]^2) + eps) * w, computed in fp32 whatever the storage type",
    flops="a row of N: N squares, N-1 adds, 1 multiply by 1/N, 1 add of eps, N multiplies by the "
    "inverse root, N multiplies by the weight = 4N+1 (3N+1 without weight); vector engine",
    special="1 rsqrt a row",
    bytes="x once and w once read, y once written, each in the storage type; the inverse root is not stored",
    count=_count,
    options=(Option("weight", "bool", True, "multiply by a weight of N elements"),),
    trials=_TRIALS,
    split=Split((Cut(0, (0, None)),), lambda shapes: 4 * prod(shapes[0])),
)
