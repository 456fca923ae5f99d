"""Elementwise addition of two tensors: Triton kernel, launcher, reference and tuning space in one file."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
from __future__ import annotations

import math

import torch
import triton
import triton.language as tl

__all__ = ["OP", "OP_OPTIONS", "TUNING_SPACE", "VARIANTS", "default_config", "launch", "make_inputs", "reference"]

OP = "elementwise"

OP_OPTIONS = {"inputs": 2, "outputs": 1, "flops_per_element": 1}

TUNING_SPACE = {"BLOCK": [512, 1024, 2048, 4096, 8192], "num_warps": [1, 2, 4, 8, 16]}

VARIANTS = [
    {
        "name": "wide_program",
        "category": "memory_access",
        "summary": "more elements a program, so that each thread has several 16-byte loads in flight",
        "precondition": "elements >= 1048576",
        "config": {"BLOCK": 4096},
        "knobs": ["BLOCK", "num_warps"],
    },
]

_DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32}


@triton.jit
def add_blocks(x_ptr, y_ptr, out_ptr, count, BLOCK: tl.constexpr):
    """Add one block of elements a program, in fp32."""
    place = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = place < count
    x = tl.load(x_ptr + place, mask=mask, other=0.0).to(tl.float32)
    y = tl.load(y_ptr + place, mask=mask, other=0.0).to(tl.float32)
    tl.store(out_ptr + place, (x + y).to(out_ptr.dtype.element_ty), mask=mask)


def make_inputs(shape, dtype, device="cuda", seed=0):
    """Return (x, y) of the shape and storage type, from a seed."""
    generator = torch.Generator(device=device).manual_seed(seed)
    parts = (torch.randn(*shape, generator=generator, device=device, dtype=torch.float32) for _ in range(2))
    return tuple(one.to(_DTYPES[dtype]) for one in parts)


def reference(x, y):
    """Return the sum in float64."""
    return x.double() + y.double()


def default_config(shape, dtype):
    """Return a good start for a shape: 16 bytes a thread and input, twice."""
    block = 2048 if dtype != "fp32" else 1024
    return {"BLOCK": min(block, triton.next_power_of_2(math.prod(shape))), "num_warps": 4}


def _plan(shape, dtype, config):
    knobs = default_config(shape, dtype) | (config or {})
    grid = (triton.cdiv(math.prod(shape), knobs["BLOCK"]),)
    return grid, {"BLOCK": knobs["BLOCK"]}, {"num_warps": knobs["num_warps"], "num_stages": 1}


def launch(x, y, *, config=None, out=None):
    """Return x + y for two contiguous tensors of one shape, in x's storage type, written to `out` if given."""
    if x.shape != y.shape or not (x.is_contiguous() and y.is_contiguous()):
        raise ValueError(f"need two contiguous tensors of one shape, got {tuple(x.shape)} and {tuple(y.shape)}")
    out = torch.empty_like(x) if out is None else out
    dtype = next(name for name, one in _DTYPES.items() if one == x.dtype)
    grid, constexprs, options = _plan(tuple(x.shape), dtype, config)
    add_blocks[grid](x, y, out, x.numel(), **constexprs, **options)
    return out


def static_cases(shape, dtype, config=None):
    """Return the launches of a shape as `LaunchCase`s, for compilers and counters; needs kopt_kb installed."""
    from kopt_kb.kernels.launch_case import LaunchCase, TensorSpec

    grid, constexprs, options = _plan(shape, dtype, config)
    x = TensorSpec(tuple(shape), dtype)
    return (LaunchCase(add_blocks, grid, (x, x, x, math.prod(shape)), constexprs, **options),)
