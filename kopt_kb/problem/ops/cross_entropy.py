"""Closed form of the cross-entropy loss of logits against class indices."""

from __future__ import annotations

from math import prod

from kopt_kb.problem.counts import Counts, FlopCount, SpecialCount, dram, exact
from kopt_kb.problem.dtypes import DType, vector_compute
from kopt_kb.problem.ops.definition import OpDefinition, Option, OptionValues
from kopt_kb.problem.shapes import Shape
from kopt_kb.problem.trials import RANDOM, Cut, Edit, Split, Trial

__all__ = ["DEFINITION"]

INDEX_BYTES = 8


def _count(shape: Shape, dtype: DType, options: OptionValues) -> Counts:
    rows, classes = shape
    mean = options.text("reduction") == "mean"
    compute = vector_compute(dtype)
    per_row = (classes - 1) + classes + (classes - 1) + 2
    flops = rows * per_row + (rows if mean else 0)
    losses = 1 if mean else rows
    return Counts(
        flops=(FlopCount(compute, "vector", exact(flops)),),
        special=(
            SpecialCount("exp", compute, exact(rows * classes)),
            SpecialCount("log", compute, exact(rows)),
        ),
        bytes=dram(dtype.storage_bytes(rows * classes) + INDEX_BYTES * rows, dtype.storage_bytes(losses)),
    )


_TRIALS = (
    RANDOM,
    Trial(
        "rows at other heights",
        "a sum of exponentials that is taken from the distribution: only the target's logit is read",
        (Edit("shifts", 0, -2, 150.0),),
        dense=True,
    ),
    Trial("rows of other sizes", "a sum that is the same for all rows", (Edit("powers", 0, -2, 2),), dense=True),
    Trial("one huge logit a row", "a maximum that is not read", (Edit("place", 0, value=100.0),), exact=True),
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
        "renamed classes",
        "classes that are left out, or an index that is not read",
        (Edit("powers", 0, -1, 1),),
        then=(Edit("permute", 0, -1, key="V"), Edit("mapped", 1, key="V")),
        dense=True,
    ),
)

DEFINITION = OpDefinition(
    id="cross_entropy",
    form="MxV",
    dimensions=("rows (tokens)", "classes (vocabulary)"),
    summary="loss[i] = max + log(sum(exp(x[i,:] - max))) - x[i,target[i]], computed in fp32; forward pass",
    flops="a row of V: V-1 maxima, V subtractions, V-1 adds, 1 add of the maximum, 1 subtraction of the"
    " target's logit = 3V; the mean over M rows adds M-1 adds and 1 multiply; vector engine",
    special="1 exp a logit, 1 log a row",
    bytes="logits once read in the storage type, one 8-byte class index a row read; one loss a row written "
    "(a single one for the mean) in the storage type; the target's logit is one of the logits already read",
    count=_count,
    options=(Option("reduction", "choice", "mean", "one loss, or one a row", choices=("mean", "none")),),
    trials=_TRIALS,
    split=Split((Cut(0, (0, 0)),), lambda shapes: 4 * prod(shapes[0])),
)
