"""Grouped matrix products with skewed groups: Triton kernel, launcher, reference and tuning space in one file."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
from __future__ import annotations

import torch
import triton
import triton.language as tl

__all__ = ["OP", "OP_OPTIONS", "TUNING_SPACE", "VARIANTS", "default_config", "launch", "make_inputs", "reference"]

OP = "grouped_gemm"

OP_OPTIONS: dict[str, object] = {}

TUNING_SPACE = {
    "BLOCK_M": [16, 32, 64, 128],
    "BLOCK_N": [32, 64, 128, 256],
    "BLOCK_K": [32, 64],
    "num_warps": [4, 8],
    "num_stages": [2, 3, 4],
}

VARIANTS = [
    {
        "name": "short_tiles",
        "category": "parallelism",
        "summary": "tiles of few rows, so that small groups waste little of them",
        "precondition": "M <= 4096",
        "config": {"BLOCK_M": 32, "BLOCK_N": 64},
        "knobs": ["BLOCK_N", "BLOCK_K", "num_warps"],
    },
]

_DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32}
_GROUPS = 8


@triton.jit
def grouped_product(
    a_ptr, b_ptr, ends_ptr, c_ptr, N, K,
    GROUPS: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """One tile of one group a program; programs beyond the last tile do nothing."""
    tile = tl.program_id(0)
    group, first, last, before, start = 0, 0, 0, 0, 0
    for each in tl.static_range(GROUPS):
        end = tl.load(ends_ptr + each)
        tiles = tl.cdiv(end - start, BLOCK_M)
        here = (tile >= before) & (tile < before + tiles)
        group = tl.where(here, each, group)
        first = tl.where(here, start + (tile - before) * BLOCK_M, first)
        last = tl.where(here, end, last)
        before += tiles
        start = end
    row = first + tl.arange(0, BLOCK_M)
    col = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    inner = tl.arange(0, BLOCK_K)
    rows, cols = row[:, None] < last, col[None, :] < N
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    matrix = b_ptr + tl.cast(group, tl.int64) * K * N
    for begin in range(0, K, BLOCK_K):
        k = begin + inner
        left = tl.load(a_ptr + row[:, None].to(tl.int64) * K + k[None, :], mask=rows & (k[None, :] < K), other=0.0)
        right = tl.load(matrix + k[:, None] * N + col[None, :], mask=(k[:, None] < K) & cols, other=0.0)
        total = tl.dot(left, right, total, input_precision="ieee")
    target = c_ptr + row[:, None].to(tl.int64) * N + col[None, :]
    tl.store(target, total.to(c_ptr.dtype.element_ty), mask=rows & cols)


def _ends(rows):
    """Return where each of eight groups ends: half of the rows, half of the rest, and so on, and an empty one."""
    ends, end = [], 0
    for _ in range(_GROUPS - 2):
        end += (rows - end) // 2
        ends.append(end)
    return [*ends, rows, rows]


def make_inputs(shape, dtype, device="cuda", seed=0):
    """Return (A of MxK, B of 8xKxN, ends of the groups' rows as 32-bit integers)."""
    rows, cols, depth = shape
    generator = torch.Generator(device=device).manual_seed(seed)
    a = torch.randn(rows, depth, generator=generator, device=device)
    b = torch.randn(_GROUPS, depth, cols, generator=generator, device=device) / depth**0.5
    ends = torch.tensor(_ends(rows), dtype=torch.int32, device=device)
    return a.to(_DTYPES[dtype]), b.to(_DTYPES[dtype]), ends


def reference(a, b, ends):
    """Return each group's rows times its matrix, in float64."""
    group = torch.bucketize(torch.arange(a.shape[0], device=a.device), ends.long(), right=True)
    out = a.new_zeros((a.shape[0], b.shape[2]), dtype=torch.float64)
    for one in range(b.shape[0]):
        rows = group == one
        out[rows] = a[rows].double() @ b[one].double()
    return out


def default_config(shape, dtype):
    """Return a good start for a shape."""
    del dtype
    rows = 64 if shape[0] > 2048 else 32
    return {"BLOCK_M": rows, "BLOCK_N": 64, "BLOCK_K": 32, "num_warps": 4, "num_stages": 3}


def _plan(shape, dtype, config):
    rows, cols, _ = shape
    knobs = default_config(shape, dtype) | {key: one for key, one in (config or {}).items() if key != "VARIANT"}
    grid = (triton.cdiv(rows, knobs["BLOCK_M"]) + _GROUPS, triton.cdiv(cols, knobs["BLOCK_N"]))
    options = {"num_warps": knobs["num_warps"], "num_stages": knobs["num_stages"]}
    blocks = {key: knobs[key] for key in ("BLOCK_M", "BLOCK_N", "BLOCK_K")}
    return grid, {"GROUPS": _GROUPS, **blocks}, options


def launch(a, b, ends, *, config=None, out=None):
    """Return the products in the storage type of A, written to `out` if given.

    Args:
        a: MxK, contiguous.
        b: 8xKxN, contiguous.
        ends: Behind the last row of each group, 32-bit integers in rising order, the last one M.
        config: Keys of `TUNING_SPACE`; what is missing comes from `default_config`.
        out: Where to write, MxN; a new tensor if None.
    """
    if not (a.is_contiguous() and b.is_contiguous()) or b.shape[:2] != (_GROUPS, a.shape[1]):
        raise ValueError(f"need contiguous A of MxK and B of {_GROUPS}xKxN, got {a.shape}, {b.shape}")
    shape = (a.shape[0], b.shape[2], a.shape[1])
    out = torch.empty(shape[:2], dtype=a.dtype, device=a.device) if out is None else out
    dtype = next(name for name, one in _DTYPES.items() if one == a.dtype)
    grid, constexprs, options = _plan(shape, dtype, config)
    grouped_product[grid](a, b, ends, out, shape[1], shape[2], **constexprs, **options)
    return out


def static_cases(shape, dtype, config=None):
    """Return the launches of a shape as `LaunchCase`s, for compilers and counters; needs kopt_kb installed."""
    from kopt_kb.kernels.launch_case import LaunchCase, TensorSpec

    rows, cols, depth = shape
    grid, constexprs, options = _plan(shape, dtype, config)
    a, b = TensorSpec((rows, depth), dtype), TensorSpec((_GROUPS, depth, cols), dtype)
    ends, c = TensorSpec((_GROUPS,), "int32"), TensorSpec((rows, cols), dtype)
    return (LaunchCase(grouped_product, grid, (a, b, ends, c, cols, depth), constexprs, **options),)
