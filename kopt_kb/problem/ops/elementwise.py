"""Closed form of elementwise operations of equal shapes."""

from __future__ import annotations

from math import prod

from kopt_kb.problem.counts import Counts, FlopCount, SpecialCount, dram, exact
from kopt_kb.problem.dtypes import DType, vector_compute
from kopt_kb.problem.ops.definition import OpDefinition, Option, OptionValues
from kopt_kb.problem.shapes import Shape
from kopt_kb.problem.trials import RANDOM, Cut, Edit, Split, Trial

__all__ = ["DEFINITION"]


def _count(shape: Shape, dtype: DType, options: OptionValues) -> Counts:
    elements = prod(shape)
    compute = vector_compute(dtype)
    special = options.integer("special_per_element")
    one_bytes = dtype.storage_bytes(elements)
    return Counts(
        flops=(FlopCount(compute, "vector", exact(elements * options.integer("flops_per_element"))),),
        special=(SpecialCount("any", compute, exact(elements * special)),) if special else (),
        bytes=dram(options.integer("inputs") * one_bytes, options.integer("outputs") * one_bytes),
    )


_TRIALS = (
    RANDOM,
    Trial(
        "columns of other sizes",
        "a narrower type on the way",
        (Edit("powers", 0, -1, 6), Edit("powers", 1, -1, 6)),
        dense=True,
    ),
    Trial("one large element a row", "an element that is not read", (Edit("place", 0, value=500.0),)),
    Trial("equal elements", "an answer that needs the elements to differ", (Edit("equal", 0), Edit("equal", 1))),
    Trial("signs in turn", "an answer for one sign", (Edit("alternate", 0),)),
    Trial("the first alone", "a result that is rounded twice", (Edit("scale", 1, value=0.0),), exact=True),
    Trial("half of it zero", "zeros that are skipped or divided by", (Edit("zero", 0, -1),)),
    Trial("least elements", "elements flushed to zero", (Edit("tiny", 0, value=0.5), Edit("tiny", 1, value=0.5))),
    Trial(
        "reordered columns",
        "an answer by place",
        then=tuple(Edit("permute", number, -1, key="N") for number in range(4)),
        result=(Edit("permute", axis=-1, key="N"),),
        dense=True,
    ),
)

DEFINITION = OpDefinition(
    id="elementwise",
    form="Nx...",
    dimensions=("size of the first axis", "sizes of further axes"),
    summary="each output element is a function of the input elements at the same place; add of two by default",
    flops="flops_per_element for each of the N elements, as given; vector engine",
    special="special_per_element for each element, as given; of any function",
    bytes="each input once read, each output once written, in the storage type; nothing is broadcast",
    count=_count,
    options=(
        Option("inputs", "int", 2, "tensors read"),
        Option("outputs", "int", 1, "tensors written"),
        Option("flops_per_element", "int", 1, "arithmetic an element", minimum=0),
        Option("special_per_element", "int", 0, "special functions an element", minimum=0),
    ),
    kinds=("float", "int"),
    trials=_TRIALS,
    split=Split((Cut(0, (0, 0)),), lambda shapes: 2 * sum(map(prod, shapes))),
)
