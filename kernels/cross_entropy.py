"""Cross-entropy loss a row: Triton kernels, launcher, reference and tuning space in one file."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
from __future__ import annotations

import torch
import triton
import triton.language as tl

__all__ = ["OP", "OP_OPTIONS", "TUNING_SPACE", "VARIANTS", "default_config", "launch", "make_inputs", "reference"]

OP = "cross_entropy"

OP_OPTIONS = {"reduction": "none"}

TUNING_SPACE = {
    "BLOCK": [1024, 2048, 4096, 8192],
    "POWERS": [False, True],
    "num_warps": [2, 4, 8, 16, 32],
    "num_stages": [1, 2, 3, 4],
}

VARIANTS = [
    {
        "name": "lanes",
        "category": "latency_hiding",
        "summary": "a running maximum and sum of every thread, joined once at the end: no exchange between chunks",
        "precondition": "V >= 2048",
        "config": {"VARIANT": "lanes"},
        "knobs": ["BLOCK", "num_warps", "num_stages"],
    },
    {
        "name": "pipelined",
        "category": "latency_hiding",
        "summary": "load chunks of logits ahead of the running sum",
        "precondition": "V >= 8192",
        "config": {"num_stages": 3},
        "knobs": ["num_stages", "BLOCK"],
    },
    {
        "name": "wide_program",
        "category": "memory_access",
        "summary": "wider chunks, so that each thread has several 16-byte loads in flight",
        "precondition": "V >= 16384",
        "config": {"BLOCK": 8192},
        "knobs": ["BLOCK", "num_warps"],
    },
    {
        "name": "powers",
        "category": "compute",
        "summary": "e^x as a power of two, without scalings for the least results: fewer instructions an element",
        "precondition": "V >= 64",
        "config": {"POWERS": True},
        "knobs": ["POWERS", "num_warps"],
    },
]

_DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32}


@triton.jit
def _exp(x, POWERS: tl.constexpr):
    """Return e^x, as a power of two if `POWERS`: without the comparison and two scalings for the least results."""
    return tl.exp2(x * 1.4426950408889634) if POWERS else tl.exp(x)


@triton.jit
def cross_entropy_rows(
    x_ptr, target_ptr, loss_ptr, classes, x_stride,
    BLOCK: tl.constexpr, STAGES: tl.constexpr, POWERS: tl.constexpr,
):  # fmt: skip
    """Loss of one row a program: running maximum and sum over chunks of logits, read once."""
    row = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, BLOCK)
    top = -float("inf")
    total = 0.0
    for start in tl.range(0, classes, BLOCK, num_stages=STAGES):
        c = start + col
        x = tl.load(x_ptr + row * x_stride + c, mask=c < classes, other=-float("inf"), eviction_policy="evict_first")
        wide = x.to(tl.float32)
        new_top = tl.maximum(top, tl.max(wide, axis=0))
        total = total * _exp(top - new_top, POWERS) + tl.sum(_exp(wide - new_top, POWERS), axis=0)
        top = new_top
    picked = tl.load(x_ptr + row * x_stride + tl.load(target_ptr + row)).to(tl.float32)
    loss = top + tl.log(total) - picked
    tl.store(loss_ptr + row, loss.to(loss_ptr.dtype.element_ty))


@triton.jit
def _lanes_joined(x, tops, totals, POWERS: tl.constexpr):
    """Return running maxima and sums with a chunk of logits, eight a lane, added to them."""
    wide = x.to(tl.float32)
    new_tops = tl.maximum(tops, tl.max(wide, axis=1))
    return new_tops, totals * _exp(tops - new_tops, POWERS) + tl.sum(_exp(wide - new_tops[:, None], POWERS), axis=1)


@triton.jit
def cross_entropy_lanes(
    x_ptr, target_ptr, loss_ptr, classes, x_stride,
    BLOCK: tl.constexpr, STAGES: tl.constexpr, POWERS: tl.constexpr,
):  # fmt: skip
    """Loss of one row a program: a running maximum and sum for every eight neighbours, joined behind the last chunk."""
    row = tl.program_id(0).to(tl.int64)
    place = tl.arange(0, BLOCK // 8)[:, None] * 8 + tl.arange(0, 8)[None, :]
    # Below every logit, yet finite: a lane without logits has a difference of 0, no NaN.
    tops = tl.full((BLOCK // 8,), -3.4e38, dtype=tl.float32)
    totals = tl.zeros((BLOCK // 8,), dtype=tl.float32)
    whole = classes // BLOCK * BLOCK
    for start in tl.range(0, whole, BLOCK, num_stages=STAGES):
        x = tl.load(x_ptr + row * x_stride + start + place, eviction_policy="evict_first")
        tops, totals = _lanes_joined(x, tops, totals, POWERS)
    if whole < classes:
        c = whole + place
        x = tl.load(x_ptr + row * x_stride + c, mask=c < classes, other=-float("inf"), eviction_policy="evict_first")
        tops, totals = _lanes_joined(x, tops, totals, POWERS)
    top = tl.max(tops, axis=0)
    total = tl.sum(totals * _exp(tops - top, POWERS), axis=0)
    picked = tl.load(x_ptr + row * x_stride + tl.load(target_ptr + row)).to(tl.float32)
    loss = top + tl.log(total) - picked
    tl.store(loss_ptr + row, loss.to(loss_ptr.dtype.element_ty))


_KERNELS = {"rows": cross_entropy_rows, "lanes": cross_entropy_lanes}


def make_inputs(shape, dtype, device="cuda", seed=0):
    """Return (logits of MxV in that storage type, M class indices), from a seed."""
    rows, classes = shape
    generator = torch.Generator(device=device).manual_seed(seed)
    x = torch.randn(rows, classes, generator=generator, device=device, dtype=torch.float32) * 2
    target = torch.randint(0, classes, (rows,), generator=generator, device=device)
    return x.to(_DTYPES[dtype]), target


def reference(x, target):
    """Return the loss of each row in float64, from plain torch operations."""
    wide = x.double()
    return torch.logsumexp(wide, dim=-1) - wide.gather(1, target[:, None])[:, 0]


def default_config(shape, dtype):
    """Return a good start for a shape: chunks of up to 4096 logits."""
    block = min(triton.next_power_of_2(shape[1]), 4096)
    warps = max(1, min(block // (512 if dtype != "fp32" else 256), 8))
    return {"VARIANT": "rows", "BLOCK": block, "POWERS": False, "num_warps": warps, "num_stages": 2}


def _plan(shape, dtype, config):
    knobs = default_config(shape, dtype) | (config or {})
    constexprs = {"BLOCK": max(knobs["BLOCK"], 8), "STAGES": knobs["num_stages"], "POWERS": knobs["POWERS"]}
    return (
        _KERNELS[knobs["VARIANT"]],
        (shape[0],),
        constexprs,
        {"num_warps": knobs["num_warps"], "num_stages": knobs["num_stages"]},
    )


def launch(x, target, *, config=None, out=None):
    """Return one loss a row of x (MxV, unit column stride) in its storage type, in `out` if given."""
    if x.ndim != 2 or x.stride(1) != 1 or target.shape != (x.shape[0],):
        raise ValueError(f"need x of MxV with unit column stride and M targets, got {x.shape}, {target.shape}")
    out = x.new_empty(x.shape[0]) if out is None else out
    dtype = next(name for name, one in _DTYPES.items() if one == x.dtype)
    kernel, grid, constexprs, options = _plan(tuple(x.shape), dtype, config)
    kernel[grid](x, target, out, x.shape[1], x.stride(0), **constexprs, **options)
    return out


def static_cases(shape, dtype, config=None):
    """Return the launches of a shape as `LaunchCase`s, for compilers and counters; needs kopt_kb installed."""
    from kopt_kb.kernels.launch_case import LaunchCase, TensorSpec

    rows, classes = shape
    kernel, grid, constexprs, options = _plan(shape, dtype, config)
    x, target, loss = TensorSpec((rows, classes), dtype), TensorSpec((rows,), "int64"), TensorSpec((rows,), dtype)
    return (LaunchCase(kernel, grid, (x, target, loss, classes, classes), constexprs, **options),)
