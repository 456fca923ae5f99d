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
    "BLOCK": [1024, 2048, 4096, 8192, 16384],
    "POWERS": [False, True],
    "num_warps": [2, 4, 8, 16, 32],
    "num_stages": [1, 2, 3, 4],
}

VARIANTS = [
    {
        "name": "rows",
        "category": "parallelism",
        "summary": "one launch, a program for each row with one running maximum and sum",
        "precondition": "M >= 64",
        "config": {"VARIANT": "rows"},
        "knobs": ["BLOCK", "POWERS", "num_warps", "num_stages"],
    },
    {
        "name": "lanes",
        "category": "latency_hiding",
        "summary": "a running maximum and sum of every thread, joined once at the end: no exchange between chunks",
        "precondition": "V >= 2048",
        "config": {"VARIANT": "lanes"},
        "knobs": ["BLOCK", "num_warps", "num_stages"],
    },
    {
        "name": "parts",
        "category": "parallelism",
        "summary": "a program for each part of a row, and a short second launch that joins them",
        "precondition": "V >= 8192",
        "config": {"VARIANT": "parts", "BLOCK": 4096, "num_warps": 8},
        "knobs": ["BLOCK", "POWERS", "num_warps"],
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
    top = -3.4e38  # below every logit, yet finite: chunks of logits that are all masked make no NaN
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


@triton.jit
def cross_entropy_parts(
    x_ptr, tops_ptr, totals_ptr, classes, x_stride, BLOCK: tl.constexpr, PARTS: tl.constexpr, POWERS: tl.constexpr
):
    """Maximum and sum of one part of a row a program: neighbours run together, so memory is read in its order."""
    place = tl.program_id(0)  # one dimension of the grid: the others take no more than 65,535 rows
    row = (place // PARTS).to(tl.int64)
    c = place % PARTS * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * x_stride + c, mask=c < classes, other=-float("inf"), eviction_policy="evict_first")
    wide = x.to(tl.float32)
    # Finite: a part without logits must make no NaN.
    top = tl.maximum(tl.max(wide, axis=0), -3.4e38)
    tl.store(tops_ptr + place, top)
    tl.store(totals_ptr + place, tl.sum(_exp(wide - top, POWERS), axis=0))


@triton.jit
def cross_entropy_joined(
    x_ptr, target_ptr, loss_ptr, tops_ptr, totals_ptr, rows, parts, x_stride,
    ROWS: tl.constexpr, PARTS: tl.constexpr, POWERS: tl.constexpr,
):  # fmt: skip
    """Losses of a block of rows from the maxima and sums of their parts."""
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    part = tl.arange(0, PARTS)
    there = (row[:, None] < rows) & (part[None, :] < parts)
    place = row[:, None] * parts + part[None, :]
    tops = tl.load(tops_ptr + place, mask=there, other=-3.4e38)
    totals = tl.load(totals_ptr + place, mask=there, other=0.0)
    top = tl.max(tops, axis=1)
    total = tl.sum(totals * _exp(tops - top[:, None], POWERS), axis=1)
    target = tl.load(target_ptr + row, mask=row < rows, other=0)
    picked = tl.load(x_ptr + row * x_stride + target, mask=row < rows, other=0.0).to(tl.float32)
    loss = top + tl.log(total) - picked
    tl.store(loss_ptr + row, loss.to(loss_ptr.dtype.element_ty), mask=row < rows)


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
    """Return a good start for a shape: chunks of up to 4096 logits, of long rows parts in programs of their own."""
    if shape[1] >= 16384:
        return {"VARIANT": "parts", "BLOCK": 8192, "POWERS": False, "num_warps": 16, "num_stages": 1}
    block = min(triton.next_power_of_2(shape[1]), 4096)
    warps = max(1, min(block // (512 if dtype != "fp32" else 256), 8))
    return {"VARIANT": "rows", "BLOCK": block, "POWERS": False, "num_warps": warps, "num_stages": 2}


def _plan(shape, dtype, config):
    """Return the launches of a configuration: (kernel, grid, constexprs, launch options) each."""
    rows, classes = shape
    knobs = default_config(shape, dtype) | (config or {})
    options = {"num_warps": knobs["num_warps"], "num_stages": knobs["num_stages"]}
    block, powers = max(knobs["BLOCK"], 8), knobs["POWERS"]
    if knobs["VARIANT"] != "parts":
        constexprs = {"BLOCK": block, "STAGES": knobs["num_stages"], "POWERS": powers}
        return ((_KERNELS[knobs["VARIANT"]], (rows,), constexprs, options),)
    parts = triton.cdiv(classes, block)
    wide = triton.next_power_of_2(parts)
    high = max(1, 512 // wide)
    joined = {"ROWS": high, "PARTS": wide, "POWERS": powers}
    return (
        (cross_entropy_parts, (rows * parts,), {"BLOCK": block, "PARTS": parts, "POWERS": powers}, options),
        (cross_entropy_joined, (triton.cdiv(rows, high),), joined, {"num_warps": 4, "num_stages": 1}),
    )


def launch(x, target, *, config=None, out=None):
    """Return one loss a row of x (MxV, unit column stride) in its storage type, in `out` if given."""
    if x.ndim != 2 or x.stride(1) != 1 or target.shape != (x.shape[0],):
        raise ValueError(f"need x of MxV with unit column stride and M targets, got {x.shape}, {target.shape}")
    out = x.new_empty(x.shape[0]) if out is None else out
    dtype = next(name for name, one in _DTYPES.items() if one == x.dtype)
    (kernel, grid, constexprs, options), *last = _plan(tuple(x.shape), dtype, config)
    if not last:
        kernel[grid](x, target, out, x.shape[1], x.stride(0), **constexprs, **options)
        return out
    parts = constexprs["PARTS"]
    tops, totals = torch.empty((2, x.shape[0], parts), dtype=torch.float32, device=x.device)
    kernel[grid](x, tops, totals, x.shape[1], x.stride(0), **constexprs, **options)
    kernel, blocks, constexprs, options = last[0]
    kernel[blocks](x, target, out, tops, totals, x.shape[0], parts, x.stride(0), **constexprs, **options)
    return out


def static_cases(shape, dtype, config=None):
    """Return the launches of a shape as `LaunchCase`s, for compilers and counters; needs kopt_kb installed."""
    from kopt_kb.kernels.launch_case import LaunchCase, TensorSpec

    rows, classes = shape
    x, target, loss = TensorSpec((rows, classes), dtype), TensorSpec((rows,), "int64"), TensorSpec((rows,), dtype)
    (kernel, grid, constexprs, options), *last = _plan(shape, dtype, config)
    if not last:
        return (LaunchCase(kernel, grid, (x, target, loss, classes, classes), constexprs, **options),)
    parts = constexprs["PARTS"]
    sums = TensorSpec((rows, parts), "float32")
    first = LaunchCase(kernel, grid, (x, sums, sums, classes, classes), constexprs, **options)
    kernel, blocks, constexprs, options = last[0]
    joined = (x, target, loss, sums, sums, rows, parts, classes)
    return first, LaunchCase(kernel, blocks, joined, constexprs, **options)
