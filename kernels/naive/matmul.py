"""Matrix product with small tiles, no pipeline and no tile order: a slow start for a tuning campaign."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
from __future__ import annotations

import torch
import triton
import triton.language as tl

__all__ = ["OP", "OP_OPTIONS", "TUNING_SPACE", "default_config", "launch", "make_inputs", "reference"]

OP = "gemm"

OP_OPTIONS = {"batch": 1}

TUNING_SPACE = {"BLOCK": [16, 32], "num_warps": [1, 2, 4]}

_DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32}


@triton.jit
def matmul_small_tiles(
    a_ptr, b_ptr, c_ptr, m, n, k, a_stride, b_stride, c_stride,
    BLOCK: tl.constexpr, WIDEN: tl.constexpr,
):  # fmt: skip
    """One small square tile of C a program, in row order, one tile of A and B at a time."""
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    col = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for start in range(0, k, BLOCK):
        depth = start + tl.arange(0, BLOCK)
        a_place = a_ptr + row[:, None].to(tl.int64) * a_stride + depth[None, :]
        b_place = b_ptr + depth[:, None].to(tl.int64) * b_stride + col[None, :]
        a = tl.load(a_place, mask=(row[:, None] < m) & (depth[None, :] < k), other=0.0)
        b = tl.load(b_place, mask=(depth[:, None] < k) & (col[None, :] < n), other=0.0)
        if WIDEN:  # Triton's interpreter would multiply the bit patterns of bf16
            a = a.to(tl.float32)
            b = b.to(tl.float32)
        acc = tl.dot(a, b, acc, input_precision="ieee")  # fp32 operands are not rounded to tf32
    place = c_ptr + row[:, None].to(tl.int64) * c_stride + col[None, :]
    tl.store(place, acc.to(c_ptr.dtype.element_ty), mask=(row[:, None] < m) & (col[None, :] < n))


def make_inputs(shape, dtype, device="cuda", seed=0):
    """Return (A of MxK, B of KxN), row-major in that storage type, from a seed."""
    rows, cols, depth = shape
    generator = torch.Generator(device=device).manual_seed(seed)
    a = torch.randn(rows, depth, generator=generator, device=device, dtype=torch.float32)
    b = torch.randn(depth, cols, generator=generator, device=device, dtype=torch.float32)
    return a.to(_DTYPES[dtype]), b.to(_DTYPES[dtype])


def reference(a, b):
    """Return the product in float64."""
    return a.double() @ b.double()


def default_config(shape, dtype):  # noqa: ARG001 - the same for all shapes
    """Return tiles of 16 by 16 and one warp a program, whatever the shape."""
    return {"BLOCK": 16, "num_warps": 1}


def _grid(shape, block):
    return (triton.cdiv(shape[0], block), triton.cdiv(shape[1], block))


def launch(a, b, *, config=None, out=None):
    """Return A B in A's storage type for row-major A of MxK and B of KxN, written to `out` if given."""
    shape = (a.shape[0], b.shape[1], a.shape[1])
    out = a.new_empty(shape[:2]) if out is None else out
    knobs = default_config(shape, None) | (config or {})
    matmul_small_tiles[_grid(shape, knobs["BLOCK"])](
        a,
        b,
        out,
        *shape,
        a.stride(0),
        b.stride(0),
        out.stride(0),
        WIDEN=triton.knobs.runtime.interpret,
        **knobs,
        num_stages=1,
    )
    return out


def static_cases(shape, dtype, config=None):
    """Return the launches of a shape as `LaunchCase`s, for compilers and counters; needs kopt_kb installed."""
    from kopt_kb.kernels.launch_case import LaunchCase, TensorSpec

    rows, cols, depth = shape
    knobs = default_config(shape, dtype) | (config or {})
    tensors = tuple(TensorSpec(one, dtype) for one in ((rows, depth), (depth, cols), (rows, cols)))
    arguments = (*tensors, *shape, depth, cols, cols)
    constexprs = {"BLOCK": knobs["BLOCK"], "WIDEN": False}
    grid = _grid(shape, knobs["BLOCK"])
    return (LaunchCase(matmul_small_tiles, grid, arguments, constexprs, knobs["num_warps"], 1),)
