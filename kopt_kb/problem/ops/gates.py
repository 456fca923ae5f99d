"""Closed forms of gates: GELU, GEGLU, and the choice of experts by softmax and top-k."""

from __future__ import annotations

from math import prod

from kopt_kb.problem.counts import Counts, FlopCount, SpecialCount, dram, exact
from kopt_kb.problem.dtypes import DType, vector_compute
from kopt_kb.problem.ops.definition import OpDefinition, Option, OptionError, OptionValues
from kopt_kb.problem.shapes import Shape
from kopt_kb.problem.trials import RANDOM, SAFE, Edit, Trial

__all__ = ["DEFINITIONS"]


def _gelu(shape: Shape, dtype: DType, _options: OptionValues) -> Counts:
    elements, compute = prod(shape), vector_compute(dtype)
    moved = dtype.storage_bytes(elements)
    return Counts(
        flops=(FlopCount(compute, "vector", exact(4 * elements)),),
        special=(SpecialCount("erf", compute, exact(elements)),),
        bytes=dram(moved, moved),
    )


def _geglu(shape: Shape, dtype: DType, _options: OptionValues) -> Counts:
    elements, compute = prod(shape), vector_compute(dtype)
    moved = dtype.storage_bytes(elements)
    return Counts(
        flops=(FlopCount(compute, "vector", exact(5 * elements)),),
        special=(SpecialCount("erf", compute, exact(elements)),),
        bytes=dram(2 * moved, moved),
    )


def _moe_gate(shape: Shape, dtype: DType, options: OptionValues) -> Counts:
    tokens, experts = shape
    chosen, compute = options.integer("k"), vector_compute(dtype)
    if chosen > experts:
        raise OptionError(f"k is {chosen}, and there are {experts} experts", fix="give a smaller k")
    per_token = 4 * experts - 2 + (chosen - 1) + chosen
    written = dtype.storage_bytes(tokens * chosen) + ID_BYTES * tokens * chosen
    return Counts(
        flops=(FlopCount(compute, "vector", exact(tokens * per_token)),),
        special=(SpecialCount("exp", compute, exact(tokens * experts)),),
        bytes=dram(dtype.storage_bytes(tokens * experts), written),
    )


ID_BYTES = 8
"""Ids of experts are 64-bit, as torch gives them."""

DEFINITIONS = {
    "gelu": OpDefinition(
        id="gelu",
        form="Nx...",
        dimensions=("size of the first axis", "sizes of further axes"),
        summary="y = 0.5 x (1 + erf(x / sqrt 2)), in fp32 whatever the storage type",
        flops="an element: 1 multiply by 1/sqrt 2, 1 add, 2 multiplies = 4; vector engine",
        special="1 erf an element",
        bytes="x once read, y once written",
        count=_gelu,
        trials=SAFE,
    ),
    "geglu": OpDefinition(
        id="geglu",
        form="MxN",
        dimensions=("rows", "columns of each input"),
        summary="y = gelu(a) b for two inputs of MxN, GELU by erf; no projections",
        flops="an element: 4 of the GELU and 1 multiply = 5; vector engine",
        special="1 erf an element",
        bytes="a and b once read, y once written",
        count=_geglu,
        trials=(
            *SAFE,
            Trial(
                "values twice as large",
                "a product that is not linear in its second factor",
                then=(Edit("scale", 1, value=-2.0),),
                result=(Edit("scale", value=-2.0),),
                dense=True,
            ),
        ),
    ),
    "moe_gate": OpDefinition(
        id="moe_gate",
        form="TxE",
        dimensions=("tokens", "experts"),
        summary="softmax over E experts a token, the k largest and their ids, in falling order, divided by their sum",
        flops="a token: E-1 comparisons, E subtractions, E-1 adds, E divisions, then k-1 adds and k divisions"
        " = 4E-2 + 2k-1; the choice itself compares and counts nothing; vector engine",
        special="1 exp a logit",
        bytes="logits once read, k weights and 64-bit ids a token once written",
        count=_moe_gate,
        options=(Option("k", "int", 8, "experts a token"),),
        trials=(
            RANDOM,
            Trial("other experts", "an answer by place", (Edit("permute", 0, -1),), dense=True),
            Trial(
                "reordered tokens",
                "tokens that are computed in another way than the rest",
                then=(Edit("permute", 0, -2, key="T"),),
                result=(Edit("permute", axis=-2, key="T"),),
                dense=True,
            ),
        ),
    ),
}
