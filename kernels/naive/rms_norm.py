"""RMS normalisation in three passes over the row with narrow loads: a slow start for a tuning campaign."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
from __future__ import annotations

import torch
import triton
import triton.language as tl

__all__ = ["OP", "OP_OPTIONS", "TUNING_SPACE", "default_config", "launch", "make_inputs", "reference"]

OP = "rms_norm"

OP_OPTIONS = {"weight": True}

EPS = 1e-6

TUNING_SPACE = {"BLOCK": [32, 64, 128], "num_warps": [1, 2]}

_DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32}


@triton.jit
def rms_norm_three_pass(x_ptr, w_ptr, y_ptr, cols, x_stride, y_stride, eps, BLOCK: tl.constexpr):
    """One row a program, one element a thread: squares, scaled row to memory, weight in a last pass."""
    row = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, BLOCK)
    squares = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, cols, BLOCK):
        c = start + col
        x = tl.load(x_ptr + row * x_stride + c, mask=c < cols, other=0.0).to(tl.float32)
        squares += x * x
    scale = tl.rsqrt(tl.sum(squares, axis=0) / cols + eps)
    for start in range(0, cols, BLOCK):
        c = start + col
        x = tl.load(x_ptr + row * x_stride + c, mask=c < cols, other=0.0).to(tl.float32)
        tl.store(y_ptr + row * y_stride + c, (x * scale).to(y_ptr.dtype.element_ty), mask=c < cols)
    for start in range(0, cols, BLOCK):
        c = start + col
        y = tl.load(y_ptr + row * y_stride + c, mask=c < cols, other=0.0).to(tl.float32)
        w = tl.load(w_ptr + c, mask=c < cols, other=0.0).to(tl.float32)
        tl.store(y_ptr + row * y_stride + c, (y * w).to(y_ptr.dtype.element_ty), mask=c < cols)


def make_inputs(shape, dtype, device="cuda", seed=0):
    """Return (x of MxN, weight of N) of that storage type, from a seed."""
    rows, cols = shape
    generator = torch.Generator(device=device).manual_seed(seed)
    x = torch.randn(rows, cols, generator=generator, device=device, dtype=torch.float32)
    weight = torch.rand(cols, generator=generator, device=device, dtype=torch.float32) + 0.5
    return x.to(_DTYPES[dtype]), weight.to(_DTYPES[dtype])


def reference(x, weight, eps=EPS):
    """Return the normalised rows in float64, from plain torch operations."""
    wide = x.double()
    return wide * torch.rsqrt(wide.square().mean(dim=-1, keepdim=True) + eps) * weight.double()


def default_config(shape, dtype):  # noqa: ARG001 - the same for all shapes
    """Return one element a thread and one warp a program, whatever the shape."""
    return {"BLOCK": 32, "num_warps": 1}


def launch(x, weight, eps=EPS, *, config=None, out=None):
    """Return the normalised rows of x (MxN, unit column stride) in its storage type, in `out` if given."""
    out = torch.empty_like(x) if out is None else out
    knobs = default_config(tuple(x.shape), None) | (config or {})
    rms_norm_three_pass[(x.shape[0],)](
        x, weight, out, x.shape[1], x.stride(0), out.stride(0), eps, **knobs, num_stages=1
    )
    return out


def static_cases(shape, dtype, config=None):
    """Return the launches of a shape as `LaunchCase`s, for compilers and counters; needs kopt_kb installed."""
    from kopt_kb.kernels.launch_case import LaunchCase, TensorSpec

    rows, cols = shape
    knobs = default_config(shape, dtype) | (config or {})
    x, weight = TensorSpec((rows, cols), dtype), TensorSpec((cols,), dtype)
    arguments = (x, weight, x, cols, cols, cols, EPS)
    constexprs = {"BLOCK": knobs["BLOCK"]}
    return (LaunchCase(rms_norm_three_pass, (rows,), arguments, constexprs, knobs["num_warps"], num_stages=1),)
