"""Closed form of softmax over rows."""

from __future__ import annotations

from math import prod

from kopt_kb.problem.counts import Counts, FlopCount, SpecialCount, dram, exact
from kopt_kb.problem.dtypes import DType, vector_compute
from kopt_kb.problem.ops.definition import OpDefinition, OptionValues
from kopt_kb.problem.shapes import Shape
from kopt_kb.problem.trials import RANDOM, Cut, Edit, Split, Trial

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


_TRIALS = (
    RANDOM,
    Trial(
        "rows of other sizes",
        "a sum that is taken from the distribution, such as 1/n",
        (Edit("powers", 0, -2, 3),),
        dense=True,
    ),
    Trial("rows at other heights", "a maximum that is not subtracted", (Edit("shifts", 0, -2, 150.0),), dense=True),
    Trial("one huge logit a row", "a maximum that is not read", (Edit("place", 0, value=60.0),)),
    Trial("one logit above all", "a sum that is cut off", (Edit("place", 0, value=250.0),), exact=True),
    Trial("equal logits", "an answer that needs the elements to differ", (Edit("equal", 0),)),
    Trial("masked logits", "infinities that end as NaN", (Edit("mask", 0, value=0.5),)),
    Trial(
        "shifted logits",
        "an exponential of the logits themselves",
        (Edit("grid", 0),),
        then=(Edit("shift", 0, value=8.0),),
        dense=True,
    ),
    Trial(
        "reordered columns",
        "an answer by place",
        then=(Edit("permute", 0, -1, key="N"),),
        result=(Edit("permute", axis=-1, key="N"),),
        dense=True,
    ),
)

DEFINITION = OpDefinition(
    id="softmax",
    form="MxN",
    dimensions=("rows", "elements of a row, over which is normalised"),
    summary="y[i,:] = exp(x[i,:] - max) / sum(exp(x[i,:] - max)), computed in fp32 whatever the storage type",
    flops="a row of N: N-1 maxima, N subtractions, N-1 adds, N divisions = 4N-2; a maximum and a "
    "division count as one each; vector engine",
    special="1 exp an element",
    bytes="x once read, y once written, in the storage type",
    count=_count,
    trials=_TRIALS,
    split=Split((Cut(0, (0,)),), lambda shapes: 5 * prod(shapes[0])),
)
