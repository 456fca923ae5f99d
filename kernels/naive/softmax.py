"""Softmax in three passes over the row with narrow loads: a slow start for a tuning campaign."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
from __future__ import annotations

import torch
import triton
import triton.language as tl

__all__ = ["OP", "OP_OPTIONS", "TUNING_SPACE", "default_config", "launch", "make_inputs", "reference"]

OP = "softmax"

OP_OPTIONS: dict[str, object] = {}

TUNING_SPACE = {"BLOCK": [32, 64, 128], "num_warps": [1, 2]}

_DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32}


@triton.jit
def softmax_three_pass(x_ptr, y_ptr, cols, x_stride, y_stride, BLOCK: tl.constexpr):
    """One row a program, one element a thread: maximum, then sum, then result."""
    row = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, BLOCK)
    top = tl.full((BLOCK,), -float("inf"), dtype=tl.float32)
    for start in range(0, cols, BLOCK):
        c = start + col
        x = tl.load(x_ptr + row * x_stride + c, mask=c < cols, other=-float("inf")).to(tl.float32)
        top = tl.maximum(top, x)
    highest = tl.max(top, axis=0)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, cols, BLOCK):
        c = start + col
        x = tl.load(x_ptr + row * x_stride + c, mask=c < cols, other=-float("inf")).to(tl.float32)
        total += tl.exp(x - highest)
    below = tl.sum(total, axis=0)
    for start in range(0, cols, BLOCK):
        c = start + col
        x = tl.load(x_ptr + row * x_stride + c, mask=c < cols, other=0.0).to(tl.float32)
        y = tl.exp(x - highest) / below
        tl.store(y_ptr + row * y_stride + c, y.to(y_ptr.dtype.element_ty), mask=c < cols)


def make_inputs(shape, dtype, device="cuda", seed=0):
    """Return (x of MxN,) of that storage type, from a seed."""
    generator = torch.Generator(device=device).manual_seed(seed)
    x = torch.randn(*shape, generator=generator, device=device, dtype=torch.float32) * 2
    return (x.to(_DTYPES[dtype]),)


def reference(x):
    """Return the softmax of each row in float64, from plain torch operations."""
    wide = x.double()
    e = torch.exp(wide - wide.amax(dim=-1, keepdim=True))
    return e / e.sum(dim=-1, keepdim=True)


def default_config(shape, dtype):  # noqa: ARG001 - the same for all shapes
    """Return one element a thread and one warp a program, whatever the shape."""
    return {"BLOCK": 32, "num_warps": 1}


def launch(x, *, config=None, out=None):
    """Return the softmax of each row of x (MxN, unit column stride) in its storage type, in `out` if given."""
    out = torch.empty_like(x) if out is None else out
    knobs = default_config(tuple(x.shape), None) | (config or {})
    softmax_three_pass[(x.shape[0],)](x, out, x.shape[1], x.stride(0), out.stride(0), **knobs, num_stages=1)
    return out


def static_cases(shape, dtype, config=None):
    """Return the launches of a shape as `LaunchCase`s, for compilers and counters; needs kopt_kb installed."""
    from kopt_kb.kernels.launch_case import LaunchCase, TensorSpec

    rows, cols = shape
    knobs = default_config(shape, dtype) | (config or {})
    x = TensorSpec((rows, cols), dtype)
    constexprs = {"BLOCK": knobs["BLOCK"]}
    return (LaunchCase(softmax_three_pass, (rows,), (x, x, cols, cols, cols), constexprs, knobs["num_warps"], 1),)
