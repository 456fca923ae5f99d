"""Closed form of the SwiGLU gate."""

from __future__ import annotations

from math import prod

from kopt_kb.problem.counts import Counts, FlopCount, SpecialCount, dram, exact
from kopt_kb.problem.dtypes import DType, vector_compute
from kopt_kb.problem.ops.definition import OpDefinition, OptionValues
from kopt_kb.problem.shapes import Shape
from kopt_kb.problem.trials import RANDOM, Cut, Edit, Split, Trial

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


_TRIALS = (
    RANDOM,
    Trial(
        "columns of other sizes",
        "a narrower type on the way, or a gate that is nearly linear",
        (Edit("powers", 0, -1, 2), Edit("powers", 1, -1, 4)),
        dense=True,
    ),
    Trial("saturated gates", "an exponential that overflows, or is cut off", (Edit("scale", 0, value=32.0),)),
    Trial(
        "open gates",
        "values in a narrower type, a result that is rounded twice",
        (Edit("signs", 0, value=64.0), Edit("alternate", 0, -9)),
        exact=True,
    ),
    Trial("equal elements", "an answer that needs the elements to differ", (Edit("equal", 0), Edit("equal", 1))),
    Trial("half of the gates zero", "zeros that are skipped", (Edit("zero", 0, -1),)),
    Trial("least elements", "elements flushed to zero", (Edit("tiny", 1, value=0.5),)),
    Trial(
        "values twice as large",
        "a product that is not linear in its second factor",
        then=(Edit("scale", 1, value=-2.0),),
        result=(Edit("scale", value=-2.0),),
        dense=True,
    ),
    Trial(
        "reordered columns",
        "an answer by place",
        then=(Edit("permute", 0, -1, key="N"), Edit("permute", 1, -1, key="N")),
        result=(Edit("permute", axis=-1, key="N"),),
        dense=True,
    ),
)

DEFINITION = OpDefinition(
    id="swiglu",
    form="MxN",
    dimensions=("rows", "columns of each input"),
    summary="y = a / (1 + exp(-a)) * b for two inputs and one output of MxN, computed in fp32; no projections",
    flops="an element: 1 add, 1 division, 1 multiply = 3 (the sign change is part of the exp); vector engine",
    special="1 exp an element",
    bytes="a and b once read, y once written, in the storage type",
    count=_count,
    trials=_TRIALS,
    split=Split((Cut(0, (0, 0)),), lambda shapes: 3 * sum(map(prod, shapes))),
)
