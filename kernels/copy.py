"""A copy: what a machine gives for bytes read and written once; Triton kernel, launcher and reference in one file."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
from __future__ import annotations

import math

import torch
import triton
import triton.language as tl

__all__ = ["OP", "OP_OPTIONS", "TUNING_SPACE", "default_config", "launch", "make_inputs", "reference"]

OP = "elementwise"

OP_OPTIONS = {"inputs": 1, "outputs": 1, "flops_per_element": 0}

TUNING_SPACE = {"BLOCK": [1024, 2048, 4096, 8192], "num_warps": [4, 8]}

_DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32}


@triton.jit
def copy_blocks(x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    """Copy one block of elements a program."""
    place = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = place < count
    tl.store(out_ptr + place, tl.load(x_ptr + place, mask=mask), mask=mask)


def make_inputs(shape, dtype, device="cuda", seed=0):
    """Return (x,) of the shape and storage type, from a seed."""
    generator = torch.Generator(device=device).manual_seed(seed)
    return (torch.randn(*shape, generator=generator, device=device, dtype=torch.float32).to(_DTYPES[dtype]),)


def reference(x):
    """Return x in float64."""
    return x.double()


def default_config(shape, dtype):
    """Return a good start: 16 bytes a thread, four times."""
    block = 4096 if dtype != "fp32" else 2048
    return {"BLOCK": min(block, triton.next_power_of_2(math.prod(shape))), "num_warps": 4}


def _plan(shape, dtype, config):
    knobs = default_config(shape, dtype) | (config or {})
    grid = (triton.cdiv(math.prod(shape), knobs["BLOCK"]),)
    return grid, {"BLOCK": knobs["BLOCK"]}, {"num_warps": knobs["num_warps"], "num_stages": 1}


def launch(x, *, config=None, out=None):
    """Return a copy of a contiguous tensor, written to `out` if given."""
    if not x.is_contiguous():
        raise ValueError(f"need a contiguous tensor, got strides {x.stride()}")
    out = torch.empty_like(x) if out is None else out
    dtype = next(name for name, one in _DTYPES.items() if one == x.dtype)
    grid, constexprs, options = _plan(tuple(x.shape), dtype, config)
    copy_blocks[grid](x, out, x.numel(), **constexprs, **options)
    return out


def static_cases(shape, dtype, config=None):
    """Return the launches of a shape as `LaunchCase`s, for compilers and counters; needs kopt_kb installed."""
    from kopt_kb.kernels.launch_case import LaunchCase, TensorSpec

    grid, constexprs, options = _plan(shape, dtype, config)
    x = TensorSpec(tuple(shape), dtype)
    return (LaunchCase(copy_blocks, grid, (x, x, math.prod(shape)), constexprs, **options),)
