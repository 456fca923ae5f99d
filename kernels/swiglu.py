"""SwiGLU gate of two tensors: Triton kernel, launcher, reference and tuning space in one file."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
from __future__ import annotations

import math

import torch
import triton
import triton.language as tl

__all__ = ["OP", "OP_OPTIONS", "TUNING_SPACE", "VARIANTS", "default_config", "launch", "make_inputs", "reference"]

OP = "swiglu"

OP_OPTIONS: dict[str, object] = {}

TUNING_SPACE = {"BLOCK": [256, 512, 1024, 2048, 4096, 8192], "POWERS": [False, True], "num_warps": [1, 2, 4, 8, 16]}

VARIANTS = [
    {
        "name": "wide_program",
        "category": "memory_access",
        "summary": "more elements a program, so that each thread has several 16-byte loads in flight",
        "precondition": "elements >= 1048576",
        "config": {"BLOCK": 4096, "num_warps": 4},
        "knobs": ["BLOCK", "num_warps"],
    },
    {
        "name": "powers",
        "category": "compute",
        "summary": "e^x as a power of two and the quotient as a square root's square: fewer instructions an element",
        "precondition": "elements >= 1048576",
        "config": {"POWERS": True},
        "knobs": ["POWERS", "BLOCK", "num_warps"],
    },
]

_DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32}


@triton.jit
def swiglu_blocks(a_ptr, b_ptr, out_ptr, count, BLOCK: tl.constexpr, POWERS: tl.constexpr):
    """Gate one block of elements a program, in fp32."""
    place = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = place < count
    a = tl.load(a_ptr + place, mask=mask, other=0.0).to(tl.float32)
    b = tl.load(b_ptr + place, mask=mask, other=0.0).to(tl.float32)
    if POWERS:
        # Exponential and division of fp32 each cost a comparison and two scalings more, for the ends of the range.
        root = tl.rsqrt(1.0 + tl.exp2(-1.4426950408889634 * a))
        y = a * root * root * b
    else:
        y = a / (1.0 + tl.exp(-a)) * b
    tl.store(out_ptr + place, y.to(out_ptr.dtype.element_ty), mask=mask)


def make_inputs(shape, dtype, device="cuda", seed=0):
    """Return (a, b) of MxN and that storage type, from a seed."""
    generator = torch.Generator(device=device).manual_seed(seed)
    parts = (torch.randn(*shape, generator=generator, device=device, dtype=torch.float32) for _ in range(2))
    return tuple(one.to(_DTYPES[dtype]) for one in parts)


def reference(a, b):
    """Return silu(a) * b in float64."""
    wide = a.double()
    return wide / (1 + torch.exp(-wide)) * b.double()


def default_config(shape, _dtype):
    """Return a good start for a shape: four elements a thread."""
    block = min(1024, triton.next_power_of_2(math.prod(shape)))
    return {"BLOCK": block, "POWERS": False, "num_warps": max(1, block // 128)}


def _plan(shape, dtype, config):
    knobs = default_config(shape, dtype) | (config or {})
    grid = (triton.cdiv(math.prod(shape), knobs["BLOCK"]),)
    return (
        grid,
        {"BLOCK": knobs["BLOCK"], "POWERS": knobs["POWERS"]},
        {"num_warps": knobs["num_warps"], "num_stages": 1},
    )


def launch(a, b, *, config=None, out=None):
    """Return silu(a) * b for two contiguous tensors of one shape, in a's storage type, in `out` if given."""
    if a.shape != b.shape or not (a.is_contiguous() and b.is_contiguous()):
        raise ValueError(f"need two contiguous tensors of one shape, got {tuple(a.shape)} and {tuple(b.shape)}")
    out = torch.empty_like(a) if out is None else out
    dtype = next(name for name, one in _DTYPES.items() if one == a.dtype)
    grid, constexprs, options = _plan(tuple(a.shape), dtype, config)
    swiglu_blocks[grid](a, b, out, a.numel(), **constexprs, **options)
    return out


def static_cases(shape, dtype, config=None):
    """Return the launches of a shape as `LaunchCase`s, for compilers and counters; needs kopt_kb installed."""
    from kopt_kb.kernels.launch_case import LaunchCase, TensorSpec

    grid, constexprs, options = _plan(shape, dtype, config)
    a = TensorSpec(tuple(shape), dtype)
    return (LaunchCase(swiglu_blocks, grid, (a, a, a, math.prod(shape)), constexprs, **options),)
