"""Closed form of elementwise operations of equal shapes."""

from __future__ import annotations

from math import prod

from kopt_kb.problem.counts import Counts, FlopCount, SpecialCount, dram, exact
from kopt_kb.problem.dtypes import DType, vector_compute
from kopt_kb.problem.ops.definition import OpDefinition, Option, OptionValues
from kopt_kb.problem.shapes import Shape

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


DEFINITION = OpDefinition(
    id="elementwise",
    form="Nx...",
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
)
