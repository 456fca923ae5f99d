"""Closed form of matrix products, plain and batched."""

from __future__ import annotations

from math import prod

from kopt_kb.base.errors import BadInput
from kopt_kb.problem.counts import Counts, FlopCount, dram, exact
from kopt_kb.problem.dtypes import DTYPES, DType, dtype_of, matrix_compute
from kopt_kb.problem.ops.definition import OpDefinition, Option, OptionValues
from kopt_kb.problem.shapes import Shape
from kopt_kb.problem.trials import RANDOM, Cut, Edit, Split, Trial, one_term

__all__ = ["CONTRACTION_OPTIONS", "DEFINITION", "check_blocks", "output_type"]

CONTRACTION_OPTIONS = (
    Option("out_dtype", "dtype", "storage", "type of the result; narrow operands give bf16, integers int32"),
    Option("compute", "choice", "storage", "tf32 rounds fp32 operands", choices=("storage", "tf32"), counts=True),
    Option("engine", "choice", "auto", "engine that multiplies", choices=("auto", "matrix", "vector"), counts=True),
    Option(
        "operands",
        "choice",
        "tolerance",
        "narrowest operands of a matrix instruction: what the tolerance accepts, of 16 bits, or as stored",
        choices=("tolerance", "16bit", "storage"),
        quiet=True,
        counts=True,
    ),
)


def output_type(dtype: DType, wanted: str) -> DType:
    """Return the result's type: as wanted, else as stored, bf16 below 16 bits, int32 for integers."""
    if wanted != "storage":
        return dtype_of(wanted)
    if dtype.kind == "int":
        return DTYPES["int32"]
    return dtype if dtype.bits >= 16 else DTYPES["bf16"]


def check_blocks(dtype: DType, contraction: int) -> None:
    """Raise `BadInput` when a block-scaled type does not divide the contraction axis."""
    if contraction % dtype.block:
        raise BadInput(
            f"{dtype.name} shares a scale between {dtype.block} elements of K, and K is {contraction}",
            fix=f"give a K that is a multiple of {dtype.block}",
            code="KB066",
        )


def _count(shape: Shape, dtype: DType, options: OptionValues) -> Counts:
    rows, cols, depth = shape
    check_blocks(dtype, depth)
    batch = options.integer("batch")
    compute, engine = matrix_compute(dtype, options.text("compute"), options.text("engine"))
    out = output_type(dtype, options.text("out_dtype"))
    operands = dtype.storage_bytes(batch * rows * depth) + dtype.storage_bytes(batch * depth * cols)
    result = out.storage_bytes(batch * rows * cols)
    read, written, products = operands, result, 1
    if dict(options.items).get("step") == "forward_backward":
        read, written, products = 2 * operands + result, result + operands, 3
    return Counts(
        flops=(FlopCount(compute, engine, exact(products * 2 * batch * rows * cols * depth)),),
        bytes=dram(read, written),
    )


_TRIALS = (
    RANDOM,
    Trial(
        "rows and columns of other sizes",
        "one scale for all of an operand, as narrow types without scales of their own need",
        (Edit("powers", 0, -2, 3), Edit("powers", 1, -1, 3)),
        dense=True,
    ),
    Trial(
        "K of other sizes",
        "operands rounded to int8 or fp8 by row or column: what A loses in one place of K, B makes large",
        then=(Edit("powers", 0, -1, 4, key="K"), Edit("powers", 1, -2, 4, key="K", inverse=True)),
        dense=True,
    ),
    Trial("one large product a row", "a part of K that is skipped", (Edit("place", 0, value=64.0),)),
    Trial("equal elements", "an answer that needs the elements to differ", (Edit("equal", 0), Edit("equal", 1))),
    Trial(
        "half of K zero",
        "a place of K that is left out as if it were always small",
        (Edit("zero", 0, -1),),
        then=(Edit("scale", 0, value=-2.0),),
        result=(Edit("scale", value=-2.0),),
    ),
    Trial(
        "reordered K",
        "a place of K that counts twice, or that meets another place",
        then=(Edit("permute", 0, -1, key="K"), Edit("permute", 1, -2, key="K")),
        dense=True,
    ),
    Trial(
        "reordered rows",
        "rows that are computed in another way than the rest",
        then=(Edit("permute", 0, -2, key="M"),),
        result=(Edit("permute", axis=-2, key="M"),),
        dense=True,
    ),
    Trial("least elements", "elements flushed to zero", (Edit("tiny", 0, value=0.5),)),
    one_term(1, -2, "A"),
    one_term(0, -1, "B"),
)


def _held(shapes: tuple[Shape, ...]) -> int:
    """Both operands and the product, and once more what they are made of."""
    return 2 * sum(map(prod, shapes)) + 2 * shapes[0][-2] * shapes[1][-1]


DEFINITION = OpDefinition(
    id="gemm",
    form="MxNxK",
    dimensions=("rows of A and C", "columns of B and C", "columns of A, rows of B"),
    summary="C[M,N] = A[M,K] B[K,N] with wide accumulation, once for each of the batch",
    flops="2*M*N*K for each of the batch: one multiply and one add for each product (the first add is "
    "counted, as is usual); matrix engine, but plain fp32 on the vector engine unless "
    "compute=tf32 or engine=matrix; step=forward_backward adds dA = dC B^T and dB = A^T dC, 4*M*N*K more",
    bytes="A and B once read, C once written; block scales of mx and nv types included; C is not read; "
    "step=forward_backward adds A, B and dC once read, dA and dB once written, gradients typed like their tensors",
    count=_count,
    options=(
        Option("batch", "int", 1, "independent products, each with its own A and B"),
        Option(
            "step", "choice", "forward", "passes that are counted", choices=("forward", "forward_backward"), quiet=True
        ),
        *CONTRACTION_OPTIONS,
    ),
    kinds=("float", "int"),
    trials=_TRIALS,
    split=Split((Cut(-2, (-2, None)), Cut(-1, (None, -1))), _held),
)
