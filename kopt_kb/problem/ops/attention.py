"""Closed form of scaled dot-product attention, full and causal, with grouped key and value heads."""

from __future__ import annotations

from math import prod

from kopt_kb.problem.counts import Counts, FlopCount, SpecialCount, dram, exact
from kopt_kb.problem.dtypes import DType, matrix_compute, vector_compute
from kopt_kb.problem.ops.definition import OpDefinition, Option, OptionError, OptionValues
from kopt_kb.problem.shapes import Shape
from kopt_kb.problem.trials import RANDOM, Cut, Edit, Split, Trial

__all__ = ["DEFINITION"]


def _key_value(shape: Shape, options: OptionValues) -> tuple[int, int]:
    heads, length = shape[1], shape[2]
    kv_heads = options.integer("kv_heads") or heads
    kv_length = options.integer("kv_length") or length
    if heads % kv_heads:
        raise OptionError(f"{heads} query heads do not divide into {kv_heads} key heads", fix="give a divisor of H")
    if options.flag("causal") and kv_length != length:
        raise OptionError(
            f"a causal mask of {length} queries over {kv_length} keys can be aligned in two ways",
            fix="count equal lengths, or leave causal out",
        )
    return kv_heads, kv_length


def _count(shape: Shape, dtype: DType, options: OptionValues) -> Counts:
    batch, heads, length, depth = shape
    kv_heads, kv_length = _key_value(shape, options)
    rows = batch * heads * length
    triangle = batch * heads * (length * (length + 1) // 2)
    pairs = triangle if options.flag("causal") else rows * kv_length
    compute, engine = matrix_compute(dtype, options.text("compute"), options.text("engine"))
    vector = vector_compute(dtype)
    softmax = pairs + (pairs - rows) + pairs + (pairs - rows) + rows * depth
    query_bytes = dtype.storage_bytes(rows * depth)
    key_bytes = dtype.storage_bytes(batch * kv_heads * kv_length * depth)
    return Counts(
        flops=(
            FlopCount(compute, engine, exact(4 * pairs * depth)),
            FlopCount(vector, "vector", exact(softmax)),
        ),
        special=(SpecialCount("exp", vector, exact(pairs)),),
        bytes=dram(query_bytes + 2 * key_bytes, query_bytes),
    )


_TRIALS = (
    RANDOM,
    Trial(
        "values of other sizes",
        "weights that are taken from the distribution, such as the mean of the values",
        (Edit("powers", 2, -2, 3),),
        dense=True,
    ),
    Trial("sharp scores", "weights that are nearly equal", (Edit("scale", 0, value=4.0),), dense=True),
    Trial("equal scores", "an answer that needs the scores to differ", (Edit("scale", 1, value=0.0),)),
    Trial(
        "one key for all",
        "values in a narrower type, a sum of weights that is cut off",
        (Edit("lead", 0, -9), Edit("scale", 0, value=32.0), Edit("lead", 1, -2)),
        exact=True,
    ),
    Trial("one large value a key", "a key that is skipped", (Edit("place", 2, value=64.0),)),
    Trial(
        "later keys",
        "a query that sees keys behind its own",
        then=(Edit("reverse_tail", 1, -2, key="S"), Edit("reverse_tail", 2, -2, key="S")),
        result=(Edit("head", axis=-2, key="S"),),
        dense=True,
    ),
    Trial(
        "values twice as large",
        "a result that is not linear in the values",
        then=(Edit("scale", 2, value=-2.0),),
        result=(Edit("scale", value=-2.0),),
        dense=True,
    ),
    Trial(
        "reordered heads",
        "a head that reads another's keys",
        then=tuple(Edit("permute", number, -3, key="H") for number in range(3)),
        result=(Edit("permute", axis=-3, key="H"),),
        dense=True,
    ),
)


def _held(shapes: tuple[Shape, ...]) -> int:
    """Scores of every pair three times at once (scores, mask and weights), and twice all that is read and written."""
    query, keys = shapes[0], shapes[1]
    return 3 * prod(query[:-1]) * keys[-2] + 2 * (prod(query) + sum(map(prod, shapes)))


DEFINITION = OpDefinition(
    id="attention",
    form="BxHxSxD",
    dimensions=("batches", "heads", "queries a head, and keys where kv_length is not given", "width of a head"),
    summary="O = softmax(Q K^T / sqrt(D)) V for B batches and H heads of S queries; forward pass, head width D for all",
    flops="P = query-key pairs: B*H*S*S_kv, or with a causal mask exactly B*H*S*(S+1)/2. Matrix engine:"
    " 2*D for each pair of Q K^T and 2*D of P V = 4*P*D. Vector engine (fp32): for each pair 1 "
    "scale, 1 subtraction, and maxima and adds (one less than pairs in each row); D divisions for"
    " each query, since the sum can divide the output = 4P - 2*B*H*S + B*H*S*D",
    special="1 exp for each pair",
    bytes="Q once, K and V of the kv_heads once read, O once written, in the storage type; no score matrix",
    count=_count,
    options=(
        Option("causal", "bool", False, "each query sees keys up to its own place"),
        Option("kv_heads", "int", 0, "key and value heads; 0 means H", minimum=0),
        Option("kv_length", "int", 0, "keys a query could see; 0 means S", minimum=0),
        Option("compute", "choice", "storage", "tf32 rounds fp32 operands", choices=("storage", "tf32"), counts=True),
        Option("engine", "choice", "auto", "engine that multiplies", choices=("auto", "matrix", "vector"), counts=True),
    ),
    trials=_TRIALS,
    split=Split(
        (Cut(0, (0, 0, 0)), Cut(1, (1, 1, 1)), Cut(-2, (-2, None, None), first="first")),
        _held,
    ),
)
