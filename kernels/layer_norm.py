"""Layer normalisation over rows: Triton kernel, launcher, reference and tuning space in one file."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
from __future__ import annotations

import torch
import triton
import triton.language as tl

__all__ = ["OP", "OP_OPTIONS", "TUNING_SPACE", "VARIANTS", "default_config", "launch", "make_inputs", "reference"]

OP = "layer_norm"

OP_OPTIONS = {"weight": True, "bias": True}

EPS = 1e-5

TUNING_SPACE = {"BLOCK_ROWS": [1, 2, 4, 8], "STREAM": [False, True], "num_warps": [1, 2, 4, 8, 16, 32]}

VARIANTS = [
    {
        "name": "stream",
        "category": "caching",
        "summary": "mark rows as used once, so that weight and bias keep the cache",
        "precondition": "M >= 64",
        "config": {"STREAM": True},
        "knobs": ["STREAM"],
    },
    {
        "name": "wide_program",
        "category": "memory_access",
        "summary": "several short rows in one program, so that each thread has 16-byte loads in flight",
        "precondition": "N <= 4096",
        "config": {"BLOCK_ROWS": 4},
        "knobs": ["BLOCK_ROWS", "num_warps"],
    },
]

_DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32}


@triton.jit
def layer_norm_single_pass(
    x_ptr, w_ptr, b_ptr, y_ptr, rows, cols, x_stride, y_stride, eps,
    BLOCK_ROWS: tl.constexpr, BLOCK_COLS: tl.constexpr, STREAM: tl.constexpr,
):  # fmt: skip
    """One block of rows a program, each row once from memory, variance from centred values."""
    row = tl.program_id(0).to(tl.int64) * BLOCK_ROWS + tl.arange(0, BLOCK_ROWS)
    col = tl.arange(0, BLOCK_COLS)
    inside = col < cols
    mask = (row[:, None] < rows) & inside[None, :]
    places = x_ptr + row[:, None] * x_stride + col[None, :]
    if STREAM:
        x = tl.load(places, mask=mask, other=0.0, eviction_policy="evict_first").to(tl.float32)
    else:
        x = tl.load(places, mask=mask, other=0.0).to(tl.float32)
    w = tl.load(w_ptr + col, mask=inside, other=0.0, eviction_policy="evict_last").to(tl.float32)
    b = tl.load(b_ptr + col, mask=inside, other=0.0, eviction_policy="evict_last").to(tl.float32)
    mean = tl.sum(x, axis=1) / cols
    # Padded columns would add mean^2 each to the variance.
    centred = tl.where(mask, x - mean[:, None], 0.0)
    scale = tl.rsqrt(tl.sum(centred * centred, axis=1) / cols + eps)
    y = (centred * scale[:, None] * w[None, :] + b[None, :]).to(y_ptr.dtype.element_ty)
    target = y_ptr + row[:, None] * y_stride + col[None, :]
    if STREAM:
        tl.store(target, y, mask=mask, cache_modifier=".cs")
    else:
        tl.store(target, y, mask=mask)


def make_inputs(shape, dtype, device="cuda", seed=0):
    """Return (x of MxN, weight of N, bias of N) of that storage type, from a seed."""
    rows, cols = shape
    generator = torch.Generator(device=device).manual_seed(seed)
    x = torch.randn(rows, cols, generator=generator, device=device, dtype=torch.float32) + 0.5
    weight = torch.rand(cols, generator=generator, device=device, dtype=torch.float32) + 0.5
    bias = torch.randn(cols, generator=generator, device=device, dtype=torch.float32)
    return tuple(one.to(_DTYPES[dtype]) for one in (x, weight, bias))


def reference(x, weight, bias, eps=EPS):
    """Return the normalised rows in float64, from plain torch operations."""
    wide = x.double()
    centred = wide - wide.mean(dim=-1, keepdim=True)
    scale = torch.rsqrt(centred.square().mean(dim=-1, keepdim=True) + eps)
    return centred * scale * weight.double() + bias.double()


def default_config(shape, dtype):
    """Return a good start for a shape: whole rows in registers, 16 to 32 elements a thread."""
    rows, cols = shape
    wide = triton.next_power_of_2(cols)
    block_rows = max(1, min(2048 // wide, triton.next_power_of_2(rows), 16))
    warps = max(1, min(wide * block_rows // (1024 if dtype != "fp32" else 512), 16))
    return {"BLOCK_ROWS": block_rows, "STREAM": False, "num_warps": warps}


def _plan(shape, dtype, config):
    """Return (grid, constexprs, launch options) of a configuration; missing keys take the default."""
    rows, cols = shape
    knobs = default_config(shape, dtype) | (config or {})
    constexprs = {
        "BLOCK_ROWS": knobs["BLOCK_ROWS"],
        "BLOCK_COLS": triton.next_power_of_2(cols),
        "STREAM": knobs["STREAM"],
    }
    return (triton.cdiv(rows, knobs["BLOCK_ROWS"]),), constexprs, {"num_warps": knobs["num_warps"], "num_stages": 1}


def launch(x, weight, bias, eps=EPS, *, config=None, out=None):
    """Return the normalised rows of x (MxN, unit column stride) in its storage type, written to `out` if given."""
    if x.ndim != 2 or x.stride(1) != 1 or weight.shape != (x.shape[1],) or bias.shape != weight.shape:
        raise ValueError(f"need x of MxN with unit column stride, weight and bias of N, got {x.shape}, {weight.shape}")
    out = torch.empty_like(x) if out is None else out
    dtype = next(name for name, one in _DTYPES.items() if one == x.dtype)
    grid, constexprs, options = _plan(tuple(x.shape), dtype, config)
    arguments = (x, weight, bias, out, *x.shape, x.stride(0), out.stride(0), eps)
    layer_norm_single_pass[grid](*arguments, **constexprs, **options)
    return out


def static_cases(shape, dtype, config=None):
    """Return the launches of a shape as `LaunchCase`s, for compilers and counters; needs kopt_kb installed."""
    from kopt_kb.kernels.launch_case import LaunchCase, TensorSpec

    rows, cols = shape
    grid, constexprs, options = _plan(shape, dtype, config)
    x, vector = TensorSpec((rows, cols), dtype), TensorSpec((cols,), dtype)
    arguments = (x, vector, vector, x, rows, cols, cols, cols, EPS)
    return (LaunchCase(layer_norm_single_pass, grid, arguments, constexprs, **options),)
