"""Closed forms of what runs along a sequence: attention of one new token over a paged cache, a selective scan."""

from __future__ import annotations

from kopt_kb.problem.counts import Counts, FlopCount, SpecialCount, dram, exact
from kopt_kb.problem.dtypes import DType, matrix_compute, vector_compute
from kopt_kb.problem.ops.definition import OpDefinition, Option, OptionError, OptionValues
from kopt_kb.problem.shapes import Shape
from kopt_kb.problem.trials import SAFE

__all__ = ["DEFINITIONS"]


def _attention_decode(shape: Shape, dtype: DType, options: OptionValues) -> Counts:
    batch, heads, length, depth = shape
    shared, page = options.integer("kv_heads") or heads, options.integer("page")
    if heads % shared:
        raise OptionError(f"{heads} query heads do not divide into {shared} key heads", fix="give a divisor of H")
    if length % page:
        raise OptionError(f"S is {length}, no multiple of the page {page}", fix="give another S or page")
    rows = batch * heads
    pairs, vector = rows * length, vector_compute(dtype)
    softmax = 4 * pairs - 2 * rows + rows * depth
    cache = 2 * dtype.storage_bytes(batch * length * shared * depth)
    query = dtype.storage_bytes(rows * depth)
    compute, engine = matrix_compute(dtype, "storage", "auto")
    product, more = FlopCount(compute, engine, exact(4 * pairs * depth)), exact(softmax)
    flops: tuple[FlopCount, ...] = (product, FlopCount(vector, "vector", more))
    if (compute, engine) == (vector, "vector"):
        flops = (FlopCount(vector, "vector", product.useful + more),)
    return Counts(
        flops=flops,
        special=(SpecialCount("exp", vector, exact(pairs)),),
        bytes=dram(query + cache + PAGE_BYTES * batch * (length // page), query),
    )


PAGE_BYTES = 4
"""A page's number is 32-bit."""


def _mamba_scan(shape: Shape, dtype: DType, _options: OptionValues) -> Counts:
    batch, length, width, states = shape
    places, vector = batch * length * width, vector_compute(dtype)
    read = 2 * dtype.storage_bytes(places) + 2 * dtype.storage_bytes(batch * length * states)
    read += dtype.storage_bytes(width * states) + dtype.storage_bytes(width)
    return Counts(
        flops=(FlopCount(vector, "vector", exact(places * (6 * states + 2))),),
        special=(SpecialCount("exp", vector, exact(places * states)),),
        bytes=dram(read, dtype.storage_bytes(places)),
    )


DEFINITIONS = {
    "attention_decode": OpDefinition(
        id="attention_decode",
        form="BxHxSxD",
        dimensions=("sequences, one query each", "query heads", "keys in the cache of a sequence", "width of a head"),
        summary="O = softmax(q K^T / sqrt(D)) V for one query a sequence and head over S cached keys; the cache"
        " lies in pages"
        " that a table names, and H query heads share kv_heads of it",
        flops="P = B*H*S pairs. Matrix engine: 2*D for each of q K^T and of P V = 4*P*D. Vector engine (fp32):"
        " 1 scale, 1"
        " subtraction a pair, maxima and adds (one less than pairs in each row), D divisions a query = 4P -"
        " 2*B*H + B*H*D",
        special="1 exp a pair",
        bytes="q and all pages once read, each used by one sequence, 32-bit table once read, O once written",
        count=_attention_decode,
        options=(
            Option("kv_heads", "int", 0, "key and value heads; 0 means H", minimum=0),
            Option("page", "int", 16, "tokens of a page"),
        ),
        trials=SAFE,
    ),
    "mamba_scan": OpDefinition(
        id="mamba_scan",
        form="BxLxDxN",
        dimensions=("batches", "positions of a sequence", "channels", "states of a channel"),
        summary="h = exp(dt A) h + dt B u, y = C h + D u along L, for D channels of N states; gate and softplus"
        " left out",
        flops="a place (B*L*D): dt u, then for each state dt A, the product with h, dt u B, their sum, C h, and"
        " N-1 adds, then D"
        " u and its add = 6N+2; vector engine (fp32)",
        special="1 exp a place and state",
        bytes="u, dt, A, B, C, D once read, y once written, each in the storage type; no state leaves the kernel",
        count=_mamba_scan,
        trials=SAFE,
    ),
}
