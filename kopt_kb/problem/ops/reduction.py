"""Closed form of reductions along one axis or over all elements."""

from __future__ import annotations

from math import prod

from kopt_kb.problem.counts import Counts, FlopCount, dram, exact
from kopt_kb.problem.dtypes import DType, vector_compute
from kopt_kb.problem.ops.definition import OpDefinition, Option, OptionError, OptionValues
from kopt_kb.problem.shapes import Shape, format_shape
from kopt_kb.problem.trials import RANDOM, Edit, Trial

__all__ = ["DEFINITION"]


def _reduced(shape: Shape, options: OptionValues) -> int:
    if options.flag("all"):
        return prod(shape)
    axis = options.integer("axis")
    if not -len(shape) <= axis < len(shape):
        raise OptionError(
            f"axis {axis} is outside a shape of {len(shape)} dimensions ({format_shape(shape)})",
            fix=f"give {-len(shape)} to {len(shape) - 1}",
        )
    return shape[axis]


def _count(shape: Shape, dtype: DType, options: OptionValues) -> Counts:
    elements = prod(shape)
    outputs = elements // _reduced(shape, options)
    scaling = outputs if options.text("kind") == "mean" else 0
    return Counts(
        flops=(FlopCount(vector_compute(dtype), "vector", exact(elements - outputs + scaling)),),
        bytes=dram(dtype.storage_bytes(elements), dtype.storage_bytes(outputs)),
    )


_TRIALS = (
    RANDOM,
    Trial(
        "rows of other sizes and heights",
        "a sum that is taken from the distribution, such as N/4",
        (Edit("powers", 0, -2, 4), Edit("shifts", 0, -2, 4.0)),
        dense=True,
    ),
    Trial("one large element a row", "a part of the row that is skipped", (Edit("place", 0, value=5000.0),)),
    Trial("equal elements", "an answer that needs the elements to differ", (Edit("equal", 0),)),
    Trial("signs in turn", "a sum that is too narrow", (Edit("alternate", 0),)),
    Trial(
        "one term a row", "elements in a narrower type, a factor that is left out", (Edit("single", 0, -1),), exact=True
    ),
    Trial("half of it zero", "a mean of what was looked at", (Edit("zero", 0, -1),)),
    Trial("least elements", "elements flushed to zero", (Edit("tiny", 0, value=0.25),)),
    Trial(
        "twice as large",
        "a sum that does not follow the row",
        then=(Edit("scale", 0, value=2.0),),
        result=(Edit("scale", value=2.0),),
        dense=True,
    ),
    Trial(
        "reordered columns",
        "a part of the row that stands for the rest",
        (Edit("powers", 0, -1, 4),),
        then=(Edit("permute", 0, -1, key="N"),),
        dense=True,
    ),
)

DEFINITION = OpDefinition(
    id="reduction",
    form="Nx...",
    dimensions=("size of the first axis", "sizes of further axes"),
    summary="y = sum, maximum or mean of x along one axis (the last unless said) or over all elements",
    flops="an output of n inputs: n-1 adds or maxima; a mean adds 1 multiply; vector engine",
    bytes="x once read, y once written, in the storage type",
    count=_count,
    options=(
        Option("axis", "int", -1, "axis to reduce", minimum=-64),
        Option("all", "bool", False, "reduce all axes to one element"),
        Option("kind", "choice", "sum", "combining function", choices=("sum", "max", "mean")),
    ),
    kinds=("float", "int"),
    trials=_TRIALS,
)
