"""Closed forms of what moves or places elements: rotary embedding, transpose, embedding lookup, histogram, scan."""

from __future__ import annotations

from kopt_kb.problem.counts import Counts, FlopCount, dram, exact
from kopt_kb.problem.dtypes import DType, vector_compute
from kopt_kb.problem.ops.definition import OpDefinition, OptionValues
from kopt_kb.problem.shapes import Shape, ShapeError
from kopt_kb.problem.trials import LINEAR, RANDOM, Edit, Trial

__all__ = ["DEFINITIONS"]


ID_BYTES = 8
"""Indices are 64-bit, as torch keeps them."""


def _rope(shape: Shape, dtype: DType, _options: OptionValues) -> Counts:
    batch, length, heads, width = shape
    if width % 2:
        raise ShapeError(f"D is {width}; a rotation takes pairs", fix="give an even D")
    elements = batch * length * heads * width
    tables = 2 * dtype.storage_bytes(length * (width // 2))
    moved = dtype.storage_bytes(elements)
    flops = (FlopCount(vector_compute(dtype), "vector", exact(3 * elements)),)
    return Counts(flops=flops, bytes=dram(moved + tables, moved))


def _transpose(shape: Shape, dtype: DType, _options: OptionValues) -> Counts:
    moved = dtype.storage_bytes(shape[0] * shape[1])
    return Counts(flops=(FlopCount(vector_compute(dtype), "vector", exact(0)),), bytes=dram(moved, moved))


def _embedding(shape: Shape, dtype: DType, _options: OptionValues) -> Counts:
    tokens, rows, width = shape
    read = dtype.storage_bytes(min(tokens, rows) * width) + ID_BYTES * tokens
    flops = (FlopCount(vector_compute(dtype), "vector", exact(0)),)
    return Counts(flops=flops, bytes=dram(read, dtype.storage_bytes(tokens * width)))


def _histogram(shape: Shape, dtype: DType, _options: OptionValues) -> Counts:
    values, bins = shape
    read, written = dtype.storage_bytes(values + bins), dtype.storage_bytes(bins)
    return Counts(flops=(FlopCount(vector_compute(dtype), "vector", exact(values)),), bytes=dram(read, written))


def _scan(shape: Shape, dtype: DType, _options: OptionValues) -> Counts:
    rows, cols = shape
    moved = dtype.storage_bytes(rows * cols)
    flops = (FlopCount(vector_compute(dtype), "vector", exact(rows * (cols - 1))),)
    return Counts(flops=flops, bytes=dram(moved, moved))


DEFINITIONS = {
    "rope": OpDefinition(
        id="rope",
        form="BxSxHxD",
        dimensions=("batches", "positions of a sequence", "heads", "width of a head"),
        summary="pairs (x[i], x[i + D/2]) of each head become (a cos - b sin, a sin + b cos); tables of SxD/2"
        " for all B, H",
        flops="a pair: 4 multiplies, 1 subtraction, 1 add = 3 an element; vector engine",
        bytes="x and both tables once read, y once written, each in the storage type",
        count=_rope,
        trials=LINEAR,
    ),
    "transpose": OpDefinition(
        id="transpose",
        form="MxN",
        dimensions=("rows of x", "columns of x"),
        summary="y[j,i] = x[i,j], y contiguous",
        flops="none: nothing is computed",
        bytes="x once read, y once written",
        count=_transpose,
        kinds=("float", "int"),
        trials=LINEAR,
    ),
    "embedding": OpDefinition(
        id="embedding",
        form="TxVxD",
        dimensions=("ids (tokens)", "rows of the table (vocabulary)", "elements of a row"),
        summary="y[t,:] = table[ids[t],:] for T ids of a table of V rows; ids differ as far as V allows",
        flops="none: nothing is computed",
        bytes="64-bit ids once read, the min(T, V) different rows once read, y once written",
        count=_embedding,
        trials=LINEAR,
    ),
    "histogram": OpDefinition(
        id="histogram",
        form="NxB",
        dimensions=("ids", "bins"),
        summary="counts[b] = how many of N ids are b, for B bins",
        flops="one add an id; vector engine, int32",
        bytes="ids and the zeros that are counted into once read, counts once written, each 32-bit",
        count=_histogram,
        kinds=("int",),
        trials=(
            RANDOM,
            Trial("other order", "an answer by place", (Edit("permute", 0, -1),), dense=True, integers=True),
            Trial(
                "reordered ids",
                "an id that is counted twice, or not",
                then=(Edit("permute", 0, -1),),
                dense=True,
                integers=True,
            ),
        ),
    ),
    "scan": OpDefinition(
        id="scan",
        form="MxN",
        dimensions=("rows", "elements of a row, along which is summed"),
        summary="y[i,j] = x[i,0] + ... + x[i,j], in fp32 whatever the storage type",
        flops="N-1 adds a row, the least of any algorithm (parallel ones do more); vector engine",
        bytes="x once read, y once written",
        count=_scan,
        trials=LINEAR,
    ),
}
