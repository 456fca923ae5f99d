"""Attention forward, full and causal: Triton kernel, launcher, reference and tuning space in one file."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
from __future__ import annotations

import math

import torch
import triton
import triton.language as tl

__all__ = ["OP", "OP_OPTIONS", "TUNING_SPACE", "VARIANTS", "default_config", "launch", "make_inputs", "reference"]

OP = "attention"

OP_OPTIONS = {"causal": True}

TUNING_SPACE = {
    "BLOCK_M": [64, 128],
    "BLOCK_N": [32, 64, 128],
    "num_warps": [4, 8],
    "num_stages": [1, 2, 3, 4],
}

VARIANTS = [
    {
        "name": "tall_tile",
        "category": "memory_traffic",
        "summary": "more queries a program, so that keys and values are read fewer times",
        "precondition": "S >= 512",
        "config": {"BLOCK_M": 128, "num_warps": 8},
        "knobs": ["BLOCK_M", "BLOCK_N", "num_warps"],
    },
    {
        "name": "deep_pipeline",
        "category": "latency_hiding",
        "summary": "more tiles of keys and values in flight",
        "precondition": "S >= 512",
        "config": {"num_stages": 3},
        "knobs": ["num_stages", "BLOCK_N"],
    },
]

_DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32}


@triton.jit
def attention_rows(
    q_ptr, k_ptr, v_ptr, o_ptr, length, depth, heads, group, scale,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr, CAUSAL: tl.constexpr,
    WIDEN: tl.constexpr,
):  # fmt: skip
    """One block of queries of one head a program: running maximum, sum and output over blocks of keys."""
    head = tl.program_id(1).to(tl.int64)
    kv_head = (head // heads) * (heads // group) + (head % heads) // group
    row = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    lane = tl.arange(0, BLOCK_D)
    inside = (row[:, None] < length) & (lane[None, :] < depth)
    q_tile = head * length * depth + row[:, None] * depth + lane[None, :]
    q = tl.load(q_ptr + q_tile, mask=inside, other=0.0)
    if WIDEN:  # Triton's interpreter would multiply the bit patterns of bf16
        q = q.to(tl.float32)
    top = tl.full((BLOCK_M,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((BLOCK_M,), dtype=tl.float32)
    acc = tl.zeros((BLOCK_M, BLOCK_D), dtype=tl.float32)
    stop = tl.minimum(length, (tl.program_id(0) + 1) * BLOCK_M) if CAUSAL else length
    for start in range(0, stop, BLOCK_N):
        key = start + tl.arange(0, BLOCK_N)
        kv_tile = kv_head * length * depth + key[:, None] * depth + lane[None, :]
        kv_inside = (key[:, None] < length) & (lane[None, :] < depth)
        k = tl.load(k_ptr + kv_tile, mask=kv_inside, other=0.0)
        v = tl.load(v_ptr + kv_tile, mask=kv_inside, other=0.0)
        if WIDEN:
            k = k.to(tl.float32)
            v = v.to(tl.float32)
        seen = key[None, :] < length
        if CAUSAL:
            seen = seen & (key[None, :] <= row[:, None])
        product = tl.dot(q, tl.trans(k), input_precision="ieee")  # fp32 operands are not rounded to tf32
        score = tl.where(seen, product * scale, -float("inf"))
        new_top = tl.maximum(top, tl.max(score, axis=1))
        p = tl.exp(score - new_top[:, None])
        keep = tl.exp(top - new_top)
        total = total * keep + tl.sum(p, axis=1)
        acc = tl.dot(p.to(v.dtype), v, acc * keep[:, None], input_precision="ieee")
        top = new_top
    out = (acc / total[:, None]).to(o_ptr.dtype.element_ty)
    tl.store(o_ptr + q_tile, out, mask=inside)


def make_inputs(shape, dtype, device="cuda", seed=0):
    """Return (Q, K, V) of BxHxSxD in that storage type, from a seed."""
    generator = torch.Generator(device=device).manual_seed(seed)
    parts = (torch.randn(*shape, generator=generator, device=device, dtype=torch.float32) for _ in range(3))
    return tuple(one.to(_DTYPES[dtype]) for one in parts)


def reference(q, k, v, *, causal=True, first=0):
    """Return causal (or full) attention in float64; K and V may have fewer heads, Q's first query is number `first`."""
    repeat = q.shape[1] // k.shape[1]
    if causal:  # no query sees a key behind the last of them
        k, v = (one[:, :, : first + q.shape[2]] for one in (k, v))
    k, v = (one.double().repeat_interleave(repeat, dim=1) for one in (k, v))
    score = q.double() @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if causal:
        later = torch.ones(score.shape[-2:], dtype=torch.bool, device=q.device).triu(1 + first)
        score = score.masked_fill_(later, -math.inf)
    return torch.softmax(score, dim=-1) @ v


def default_config(shape, dtype):
    """Return a good start for a shape: 128 queries by 64 keys when there are that many."""
    rows = 128 if shape[2] >= 128 and dtype != "fp32" else 64
    return {"BLOCK_M": rows, "BLOCK_N": 64 if dtype != "fp32" else 32, "num_warps": rows // 16, "num_stages": 2}


def _plan(shape, dtype, config, causal):
    batch, heads, length, depth = shape
    knobs = default_config(shape, dtype) | (config or {})
    grid = (triton.cdiv(length, knobs["BLOCK_M"]), batch * heads)
    constexprs = {"BLOCK_M": knobs["BLOCK_M"], "BLOCK_N": knobs["BLOCK_N"], "CAUSAL": causal}
    constexprs["WIDEN"] = triton.knobs.runtime.interpret
    constexprs["BLOCK_D"] = max(16, triton.next_power_of_2(depth))
    return grid, constexprs, {"num_warps": knobs["num_warps"], "num_stages": knobs["num_stages"]}


def launch(q, k, v, *, causal=True, config=None, out=None):
    """Return attention of contiguous Q of BxHxSxD over K and V of BxH'xSxD, in Q's storage type, in `out` if given."""
    batch, heads, length, depth = q.shape
    whole = all(one.is_contiguous() for one in (q, k, v))
    if not whole or k.shape != v.shape or k.shape != (batch, k.shape[1], length, depth) or heads % k.shape[1]:
        raise ValueError(f"need contiguous BxHxSxD, K and V with a divisor of H heads, got {q.shape}, {k.shape}")
    out = torch.empty_like(q) if out is None else out
    dtype = next(name for name, one in _DTYPES.items() if one == q.dtype)
    grid, constexprs, options = _plan(tuple(q.shape), dtype, config, causal)
    scalars = (length, depth, heads, heads // k.shape[1], 1 / math.sqrt(depth))
    attention_rows[grid](q, k, v, out, *scalars, **constexprs, **options)
    return out


def static_cases(shape, dtype, config=None):
    """Return the launches of a shape as `LaunchCase`s, for compilers and counters; needs kopt_kb installed."""
    from kopt_kb.kernels.launch_case import LaunchCase, TensorSpec

    _, heads, length, depth = shape
    grid, constexprs, options = _plan(shape, dtype, config, True)
    q = TensorSpec(tuple(shape), dtype)
    arguments = (q, q, q, q, length, depth, heads, 1, 1 / math.sqrt(depth))
    return (LaunchCase(attention_rows, grid, arguments, constexprs, **options),)
