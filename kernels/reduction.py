"""Sum over the last axis: Triton kernel, launcher, reference and tuning space in one file."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
from __future__ import annotations

import torch
import triton
import triton.language as tl

__all__ = ["OP", "OP_OPTIONS", "TUNING_SPACE", "VARIANTS", "default_config", "launch", "make_inputs", "reference"]

OP = "reduction"

OP_OPTIONS = {"axis": -1, "kind": "sum"}

TUNING_SPACE = {
    "BLOCK_ROWS": [1, 2, 4, 8, 16],
    "BLOCK_COLS": [512, 1024, 2048, 4096],
    "num_warps": [1, 2, 4, 8, 16],
    "num_stages": [1, 2, 3, 4],
}

VARIANTS = [
    {
        "name": "pipelined",
        "category": "latency_hiding",
        "summary": "load chunks ahead of the sum",
        "precondition": "N >= 4096",
        "config": {"num_stages": 3},
        "knobs": ["num_stages", "BLOCK_COLS"],
    },
]

_DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32}


@triton.jit
def sum_rows(
    x_ptr, y_ptr, rows, cols, x_stride,
    BLOCK_ROWS: tl.constexpr, BLOCK_COLS: tl.constexpr, STAGES: tl.constexpr,
):  # fmt: skip
    """Sum a block of rows a program, in chunks of columns kept as fp32 partial sums."""
    row = tl.program_id(0).to(tl.int64) * BLOCK_ROWS + tl.arange(0, BLOCK_ROWS)
    col = tl.arange(0, BLOCK_COLS)
    partial = tl.zeros((BLOCK_ROWS, BLOCK_COLS), dtype=tl.float32)
    for start in tl.range(0, cols, BLOCK_COLS, num_stages=STAGES):
        c = start + col
        mask = (row[:, None] < rows) & (c[None, :] < cols)
        partial += tl.load(x_ptr + row[:, None] * x_stride + c[None, :], mask=mask, other=0.0).to(tl.float32)
    total = tl.sum(partial, axis=1)
    tl.store(y_ptr + row, total.to(y_ptr.dtype.element_ty), mask=row < rows)


def make_inputs(shape, dtype, device="cuda", seed=0):
    """Return (x of MxN,) of that storage type, from a seed."""
    generator = torch.Generator(device=device).manual_seed(seed)
    x = torch.randn(*shape, generator=generator, device=device, dtype=torch.float32) + 0.25
    return (x.to(_DTYPES[dtype]),)


def reference(x):
    """Return the sums of the rows in float64."""
    return x.double().sum(dim=-1)


def default_config(shape, dtype):
    """Return a good start for a shape: one chunk of 2048 elements a program."""
    rows, cols = shape
    width = min(triton.next_power_of_2(cols), 2048 if dtype != "fp32" else 1024)
    block_rows = max(1, min(2048 // width, triton.next_power_of_2(rows), 16))
    return {"BLOCK_ROWS": block_rows, "BLOCK_COLS": width, "num_warps": 4, "num_stages": 3}


def _plan(shape, dtype, config):
    knobs = default_config(shape, dtype) | (config or {})
    constexprs = {key: knobs[key] for key in ("BLOCK_ROWS", "BLOCK_COLS")} | {"STAGES": knobs["num_stages"]}
    options = {"num_warps": knobs["num_warps"], "num_stages": knobs["num_stages"]}
    return (triton.cdiv(shape[0], knobs["BLOCK_ROWS"]),), constexprs, options


def launch(x, *, config=None, out=None):
    """Return the sums of the rows of x (MxN, unit column stride) in its storage type, in `out` if given."""
    if x.ndim != 2 or x.stride(1) != 1:
        raise ValueError(f"need x of MxN with unit column stride, got {tuple(x.shape)} with strides {x.stride()}")
    out = x.new_empty(x.shape[0]) if out is None else out
    dtype = next(name for name, one in _DTYPES.items() if one == x.dtype)
    grid, constexprs, options = _plan(tuple(x.shape), dtype, config)
    sum_rows[grid](x, out, *x.shape, x.stride(0), **constexprs, **options)
    return out


def static_cases(shape, dtype, config=None):
    """Return the launches of a shape as `LaunchCase`s, for compilers and counters; needs kopt_kb installed."""
    from kopt_kb.kernels.launch_case import LaunchCase, TensorSpec

    rows, cols = shape
    grid, constexprs, options = _plan(shape, dtype, config)
    x, y = TensorSpec((rows, cols), dtype), TensorSpec((rows,), dtype)
    return (LaunchCase(sum_rows, grid, (x, y, rows, cols, cols), constexprs, **options),)
