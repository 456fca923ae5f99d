"""Closed form of grouped matrix products: row groups of one A, each with its own B."""

from __future__ import annotations

from kopt_kb.problem.counts import Counts, FlopCount, dram, exact
from kopt_kb.problem.dtypes import DType, matrix_compute
from kopt_kb.problem.ops.definition import OpDefinition, Option, OptionError, OptionValues
from kopt_kb.problem.ops.gemm import CONTRACTION_OPTIONS, check_blocks, output_type
from kopt_kb.problem.shapes import Shape
from kopt_kb.problem.trials import GENERIC, one_term

__all__ = ["DEFINITION"]


def _groups(rows: int, options: OptionValues) -> tuple[int, ...]:
    groups = options.integers("groups") or _skewed(rows)
    if sum(groups) != rows:
        raise OptionError(
            f"groups sum to {sum(groups)} rows, M is {rows}",
            fix="give the rows of each group, such as groups=128,64,0",
        )
    return groups


def _skewed(rows: int) -> tuple[int, ...]:
    """Return eight groups: half of the rows, half of the rest, and so on, the rest, and one without rows."""
    groups: list[int] = []
    for _ in range(6):
        groups.append((rows - sum(groups)) // 2)
    return (*groups, rows - sum(groups), 0)


def _count(shape: Shape, dtype: DType, options: OptionValues) -> Counts:
    rows, cols, depth = shape
    check_blocks(dtype, depth)
    active = sum(group > 0 for group in _groups(rows, options))
    compute, engine = matrix_compute(dtype, options.text("compute"), options.text("engine"))
    out = output_type(dtype, options.text("out_dtype"))
    read = dtype.storage_bytes(rows * depth) + active * dtype.storage_bytes(depth * cols)
    return Counts(
        flops=(FlopCount(compute, engine, exact(2 * rows * cols * depth)),),
        bytes=dram(read, out.storage_bytes(rows * cols)),
    )


DEFINITION = OpDefinition(
    id="grouped_gemm",
    form="MxNxK",
    dimensions=("rows of all groups together", "columns of B and C", "columns of A, rows of each B"),
    summary="C[rows of group g, N] = A[rows of group g, K] B[g][K,N]; the groups' rows add up to M",
    flops="2*M*N*K: one multiply and one add for each product; matrix engine, but plain fp32 on the "
    "vector engine unless compute=tf32 or engine=matrix",
    bytes="A once read, B of each group that has rows once read, C once written; a group without rows moves nothing",
    count=_count,
    options=(
        Option("groups", "ints", (), "rows of each group, zeros allowed; none: halves, eight in all", minimum=0),
        *CONTRACTION_OPTIONS,
    ),
    kinds=("float", "int"),
    trials=(*GENERIC, one_term(1, -2, "A"), one_term(0, -1, "B")),
)
