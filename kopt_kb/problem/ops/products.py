"""Closed forms of products beside the plain one: vectors, batches, epilogues, narrow weights, convolution."""

from __future__ import annotations

from kopt_kb.problem.counts import Counts, FlopCount, SpecialCount, dram, exact
from kopt_kb.problem.dtypes import DTYPES, DType, Engine, matrix_compute, vector_compute
from kopt_kb.problem.ops.definition import OpDefinition, Option, OptionError, OptionValues
from kopt_kb.problem.shapes import Shape
from kopt_kb.problem.trials import LINEAR, RANDOM, SAFE, Edit, Trial, one_term

__all__ = ["DEFINITIONS"]


def _engine(dtype: DType) -> tuple[str, Engine]:
    return matrix_compute(dtype, "storage", "auto")


def _gemv(shape: Shape, dtype: DType, _options: OptionValues) -> Counts:
    rows, depth = shape
    read = dtype.storage_bytes(rows * depth) + dtype.storage_bytes(depth)
    flops = (FlopCount(*_engine(dtype), exact(2 * rows * depth)),)
    return Counts(flops=flops, bytes=dram(read, dtype.storage_bytes(rows)))


def _batched_gemm(shape: Shape, dtype: DType, _options: OptionValues) -> Counts:
    batch, rows, cols, depth = shape
    read = dtype.storage_bytes(batch * rows * depth) + dtype.storage_bytes(batch * depth * cols)
    flops = (FlopCount(*_engine(dtype), exact(2 * batch * rows * cols * depth)),)
    return Counts(flops=flops, bytes=dram(read, dtype.storage_bytes(batch * rows * cols)))


_ACTIVATIONS = {"relu": (1, ""), "gelu": (4, "erf"), "silu": (2, "exp")}
"""Operations an element, and its special function."""


def _gemm_bias_act(shape: Shape, dtype: DType, options: OptionValues) -> Counts:
    rows, cols, depth = shape
    each, function = _ACTIVATIONS[options.text("act")]
    compute, results = vector_compute(dtype), rows * cols
    product, more = FlopCount(*_engine(dtype), exact(2 * results * depth)), exact((1 + each) * results)
    read = dtype.storage_bytes(rows * depth) + dtype.storage_bytes(depth * cols) + dtype.storage_bytes(cols)
    same = (product.dtype, product.engine) == (compute, "vector")
    flops = (
        (FlopCount(compute, "vector", product.useful + more),)
        if same
        else (product, FlopCount(compute, "vector", more))
    )
    return Counts(
        flops=flops,
        special=(SpecialCount(function, compute, exact(results)),) if function else (),
        bytes=dram(read, dtype.storage_bytes(results)),
    )


def _int4_gemm(shape: Shape, dtype: DType, options: OptionValues) -> Counts:
    rows, cols, depth = shape
    group = options.integer("group")
    if depth % group or depth % 2:
        raise OptionError(f"K is {depth}, no multiple of the group {group}", fix="give another K or group")
    weights = cols * depth
    read = dtype.storage_bytes(rows * depth) + weights // 2 + dtype.storage_bytes(cols * (depth // group))
    return Counts(
        flops=(
            FlopCount(*_engine(dtype), exact(2 * rows * weights)),
            FlopCount(vector_compute(dtype), "vector", exact(2 * weights)),
        ),
        bytes=dram(read, dtype.storage_bytes(rows * cols)),
    )


def _fp8_gemm(shape: Shape, dtype: DType, options: OptionValues) -> Counts:
    rows, cols, depth = shape
    block = options.integer("block")
    if depth % block or cols % block:
        raise OptionError(f"N is {cols} and K {depth}, no multiples of the block {block}", fix="give other sizes")
    scales = rows * (depth // block) + (cols // block) * (depth // block)
    read = dtype.storage_bytes(rows * depth) + dtype.storage_bytes(cols * depth) + DTYPES["fp32"].storage_bytes(scales)
    return Counts(
        flops=(
            FlopCount(*_engine(dtype), exact(2 * rows * cols * depth)),
            FlopCount("fp32", "vector", exact(rows * depth + cols * depth)),
        ),
        bytes=dram(read, DTYPES["bf16"].storage_bytes(rows * cols)),
    )


def _conv2d(shape: Shape, dtype: DType, options: OptionValues) -> Counts:
    batch, channels, height, width = shape
    out, kernel = options.integer("channels"), options.integer("kernel")
    stride, pad = options.integer("stride"), options.integer("padding")
    high, wide = ((extent + 2 * pad - kernel) // stride + 1 for extent in (height, width))
    if high < 1 or wide < 1:
        raise OptionError(f"a kernel of {kernel} does not fit {height}x{width}", fix="give a smaller kernel or padding")
    weights, results = out * channels * kernel * kernel, batch * out * high * wide
    read = dtype.storage_bytes(batch * channels * height * width) + dtype.storage_bytes(weights)
    flops = (FlopCount(*_engine(dtype), exact(2 * results * channels * kernel * kernel)),)
    return Counts(flops=flops, bytes=dram(read, dtype.storage_bytes(results)))


_PRODUCT = (
    "2 for each product of two elements (the first add is counted, as is usual); matrix engine, fp32 on the vector one"
)

DEFINITIONS = {
    "gemv": OpDefinition(
        id="gemv",
        form="MxK",
        dimensions=("rows of A, elements of y", "columns of A, elements of x"),
        summary="y[M] = A[M,K] x[K] with wide accumulation",
        flops=f"2*M*K: {_PRODUCT}",
        bytes="A and x once read, y once written",
        count=_gemv,
        trials=(*LINEAR, one_term(1, -1, "A"), one_term(0, -1, "x")),
    ),
    "batched_gemm": OpDefinition(
        id="batched_gemm",
        form="BxMxNxK",
        dimensions=("independent products", "rows of A and C", "columns of B and C", "columns of A, rows of B"),
        summary="C[b] = A[b] B[b] for B pairs of MxK and KxN with wide accumulation",
        flops=f"2*B*M*N*K: {_PRODUCT}",
        bytes="A and B once read, C once written",
        count=_batched_gemm,
        trials=(*LINEAR, one_term(1, -2, "A"), one_term(0, -1, "B")),
    ),
    "gemm_bias_act": OpDefinition(
        id="gemm_bias_act",
        form="MxNxK",
        dimensions=("rows of A and C", "columns of B and C, elements of the bias", "columns of A, rows of B"),
        summary="C = act(A B + bias) with wide accumulation; act is relu, gelu (by erf) or silu",
        flops=f"2*M*N*K: {_PRODUCT}; a result: 1 add, and 1 of relu, 4 of gelu or 2 of silu on the vector engine",
        special="1 erf a result of gelu, 1 exp of silu",
        bytes="A, B and bias once read, C once written",
        count=_gemm_bias_act,
        options=(Option("act", "choice", "relu", "activation", choices=("relu", "gelu", "silu")),),
        trials=SAFE,
    ),
    "int4_gemm": OpDefinition(
        id="int4_gemm",
        form="MxNxK",
        dimensions=("rows of A and C", "columns of W and C", "columns of A, rows of W"),
        summary="C = A W, W[k,n] = (q[k,n] - 8) s[k / group, n] with q of 4 bits, two in a byte along K; weights only",
        flops=f"2*M*N*K: {_PRODUCT}; each weight once: 1 subtraction, 1 multiply = 2*N*K, vector engine",
        bytes="A, N*K/2 bytes of weights and the scales once read, C once written",
        count=_int4_gemm,
        options=(Option("group", "int", 128, "weights along K that share a scale"),),
        trials=LINEAR,
    ),
    "fp8_gemm": OpDefinition(
        id="fp8_gemm",
        form="MxNxK",
        dimensions=("rows of A and C", "rows of B, columns of C", "columns of A and B"),
        summary="C = (A sa) (B sb)^T in bf16: A[M,K] with fp32 scales of 1 x block, B[N,K] with scales of block"
        " x block",
        flops="2*M*N*K on the matrix engine in fp8; each element of A and B times its scale once = (M+N)*K,"
        " vector engine",
        bytes="A, B and their scales once read, C once written in bf16",
        count=_fp8_gemm,
        result="bf16",
        options=(Option("block", "int", 128, "elements along K, and along N of B, that share a scale"),),
        trials=(
            RANDOM,
            Trial("rows of other sizes", "one scale for all rows of A", (Edit("powers", 2, -2, 3),), dense=True),
            Trial(
                "blocks of K of other sizes", "a scale that is read once a row", (Edit("powers", 2, -1, 3),), dense=True
            ),
            Trial("blocks of N of other sizes", "one scale for all of B", (Edit("powers", 3, -2, 3),), dense=True),
            Trial(
                "scales twice as large",
                "a scale that is not read",
                then=(Edit("scale", 2, value=-2.0),),
                result=(Edit("scale", value=-2.0),),
                dense=True,
            ),
        ),
    ),
    "conv2d": OpDefinition(
        id="conv2d",
        form="NxCxHxW",
        dimensions=("images", "channels of an image", "height of an image", "width of an image"),
        summary="2-D convolution of N images of C channels with `channels` filters of kernel x kernel, no bias",
        flops=f"a result: 2*C*kernel^2, products with padding included: {_PRODUCT}",
        bytes="images and filters once read, results once written",
        count=_conv2d,
        options=(
            Option("channels", "int", 64, "filters"),
            Option("kernel", "int", 3, "their height and width"),
            Option("stride", "int", 1, "steps between places"),
            Option("padding", "int", 1, "zeros around an image", minimum=0),
        ),
        trials=LINEAR,
    ),
}
