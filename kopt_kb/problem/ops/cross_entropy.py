"""Closed form of the cross-entropy loss of logits against class indices."""

from __future__ import annotations

from kopt_kb.problem.counts import Counts, FlopCount, SpecialCount, dram, exact
from kopt_kb.problem.dtypes import DType, vector_compute
from kopt_kb.problem.ops.definition import OpDefinition, Option, OptionValues
from kopt_kb.problem.shapes import Shape

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


DEFINITION = OpDefinition(
    id="cross_entropy",
    form="MxV",
    summary="loss[i] = max + log(sum(exp(x[i,:] - max))) - x[i,target[i]], computed in fp32; forward pass",
    flops="a row of V: V-1 maxima, V subtractions, V-1 adds, 1 add of the maximum, 1 subtraction of the"
    " target's logit = 3V; the mean over M rows adds M-1 adds and 1 multiply; vector engine",
    special="1 exp a logit, 1 log a row",
    bytes="logits once read in the storage type, one 8-byte class index a row read; one loss a row written "
    "(a single one for the mean) in the storage type; the target's logit is one of the logits already read",
    count=_count,
    options=(Option("reduction", "choice", "mean", "one loss, or one a row", choices=("mean", "none")),),
)
