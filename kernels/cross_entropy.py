"""Cross-entropy loss a row: Triton kernel, launcher, reference and tuning space in one file."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
from __future__ import annotations

import torch
import triton
import triton.language as tl

__all__ = ["OP", "OP_OPTIONS", "TUNING_SPACE", "VARIANTS", "default_config", "launch", "make_inputs", "reference"]

OP = "cross_entropy"

OP_OPTIONS = {"reduction": "none"}

TUNING_SPACE = {"BLOCK": [1024, 2048, 4096, 8192], "num_warps": [2, 4, 8, 16, 32], "num_stages": [1, 2, 3, 4]}

VARIANTS = [
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
]

_DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32}


@triton.jit
def cross_entropy_rows(x_ptr, target_ptr, loss_ptr, classes, x_stride, BLOCK: tl.constexpr, STAGES: tl.constexpr):
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
        total = total * tl.exp(top - new_top) + tl.sum(tl.exp(wide - new_top), axis=0)
        top = new_top
    picked = tl.load(x_ptr + row * x_stride + tl.load(target_ptr + row)).to(tl.float32)
    loss = top + tl.log(total) - picked
    tl.store(loss_ptr + row, loss.to(loss_ptr.dtype.element_ty))


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
    return {"BLOCK": block, "num_warps": max(1, min(block // (512 if dtype != "fp32" else 256), 8)), "num_stages": 2}


def _plan(shape, dtype, config):
    knobs = default_config(shape, dtype) | (config or {})
    constexprs = {"BLOCK": knobs["BLOCK"], "STAGES": knobs["num_stages"]}
    return (shape[0],), constexprs, {"num_warps": knobs["num_warps"], "num_stages": knobs["num_stages"]}


def launch(x, target, *, config=None, out=None):
    """Return one loss a row of x (MxV, unit column stride) in its storage type, in `out` if given."""
    if x.ndim != 2 or x.stride(1) != 1 or target.shape != (x.shape[0],):
        raise ValueError(f"need x of MxV with unit column stride and M targets, got {x.shape}, {target.shape}")
    out = x.new_empty(x.shape[0]) if out is None else out
    dtype = next(name for name, one in _DTYPES.items() if one == x.dtype)
    grid, constexprs, options = _plan(tuple(x.shape), dtype, config)
    cross_entropy_rows[grid](x, target, out, x.shape[1], x.stride(0), **constexprs, **options)
    return out


def static_cases(shape, dtype, config=None):
    """Return the launches of a shape as `LaunchCase`s, for compilers and counters; needs kopt_kb installed."""
    from kopt_kb.kernels.launch_case import LaunchCase, TensorSpec

    rows, classes = shape
    grid, constexprs, options = _plan(shape, dtype, config)
    x, target, loss = TensorSpec((rows, classes), dtype), TensorSpec((rows,), "int64"), TensorSpec((rows,), dtype)
    return (LaunchCase(cross_entropy_rows, grid, (x, target, loss, classes, classes), constexprs, **options),)
