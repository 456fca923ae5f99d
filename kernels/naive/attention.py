"""Attention with small tiles that looks at every key, masked or not: a slow start for a tuning campaign."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
from __future__ import annotations

import math

import torch
import triton
import triton.language as tl

__all__ = ["OP", "OP_OPTIONS", "TUNING_SPACE", "default_config", "launch", "make_inputs", "reference"]

OP = "attention"

OP_OPTIONS = {"causal": True}

TUNING_SPACE = {"BLOCK": [16, 32], "num_warps": [1, 2, 4]}

_DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32}


@triton.jit
def attention_small_tiles(
    q_ptr, k_ptr, v_ptr, o_ptr, length, depth, scale,
    BLOCK: tl.constexpr, BLOCK_D: tl.constexpr, CAUSAL: tl.constexpr, WIDEN: tl.constexpr,
):  # fmt: skip
    """A few queries of one head a program, a few keys at a time from the first to the last."""
    head = tl.program_id(1).to(tl.int64) * length * depth
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    lane = tl.arange(0, BLOCK_D)
    place = head + row[:, None] * depth + lane[None, :]
    inside = (row[:, None] < length) & (lane[None, :] < depth)
    q = tl.load(q_ptr + place, mask=inside, other=0.0)
    if WIDEN:  # Triton's interpreter would multiply the bit patterns of bf16
        q = q.to(tl.float32)
    top = tl.full((BLOCK,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    acc = tl.zeros((BLOCK, BLOCK_D), dtype=tl.float32)
    for start in range(0, length, BLOCK):
        key = start + tl.arange(0, BLOCK)
        kv_place = head + key[:, None] * depth + lane[None, :]
        kv_inside = (key[:, None] < length) & (lane[None, :] < depth)
        k = tl.load(k_ptr + kv_place, mask=kv_inside, other=0.0)
        v = tl.load(v_ptr + kv_place, mask=kv_inside, other=0.0)
        if WIDEN:
            k = k.to(tl.float32)
            v = v.to(tl.float32)
        seen = (key[None, :] < length) & ((key[None, :] <= row[:, None]) | (not CAUSAL))
        product = tl.dot(q, tl.trans(k), input_precision="ieee")  # fp32 operands are not rounded to tf32
        score = tl.where(seen, product * scale, -float("inf"))
        new_top = tl.maximum(top, tl.max(score, axis=1))
        p = tl.exp(score - new_top[:, None])
        keep = tl.exp(top - new_top)
        total = total * keep + tl.sum(p, axis=1)
        acc = tl.dot(p.to(v.dtype), v, acc * keep[:, None], input_precision="ieee")
        top = new_top
    tl.store(o_ptr + place, (acc / total[:, None]).to(o_ptr.dtype.element_ty), mask=inside)


def make_inputs(shape, dtype, device="cuda", seed=0):
    """Return (Q, K, V) of BxHxSxD in that storage type, from a seed."""
    generator = torch.Generator(device=device).manual_seed(seed)
    parts = (torch.randn(*shape, generator=generator, device=device, dtype=torch.float32) for _ in range(3))
    return tuple(one.to(_DTYPES[dtype]) for one in parts)


def reference(q, k, v, *, causal=True, first=0):
    """Return causal (or full) attention in float64; Q's first query is number `first`."""
    if causal:  # no query sees a key behind the last of them
        k, v = (one[:, :, : first + q.shape[2]] for one in (k, v))
    score = q.double() @ k.double().transpose(-1, -2) / math.sqrt(q.shape[-1])
    if causal:
        later = torch.ones(score.shape[-2:], dtype=torch.bool, device=q.device).triu(1 + first)
        score = score.masked_fill_(later, -math.inf)
    return torch.softmax(score, dim=-1) @ v.double()


def default_config(shape, dtype):  # noqa: ARG001 - the same for all shapes
    """Return tiles of 16 queries by 16 keys and one warp a program, whatever the shape."""
    return {"BLOCK": 16, "num_warps": 1}


def _constexprs(depth, knobs, causal):
    wide = max(16, triton.next_power_of_2(depth))
    return {"BLOCK": knobs["BLOCK"], "BLOCK_D": wide, "CAUSAL": causal, "WIDEN": triton.knobs.runtime.interpret}


def _grid(shape, block):
    return (triton.cdiv(shape[2], block), shape[0] * shape[1])


def launch(q, k, v, *, causal=True, config=None, out=None):
    """Return attention of contiguous Q over K and V of the same BxHxSxD, in Q's storage type, in `out` if given."""
    length, depth = q.shape[2:]
    if not all(one.is_contiguous() and one.shape == q.shape for one in (q, k, v)):
        raise ValueError(f"need contiguous Q, K and V of one shape, got {q.shape}, {k.shape}, {v.shape}")
    out = torch.empty_like(q) if out is None else out
    knobs = default_config(tuple(q.shape), None) | (config or {})
    constexprs = _constexprs(depth, knobs, causal)
    attention_small_tiles[_grid(q.shape, knobs["BLOCK"])](
        q, k, v, out, length, depth, 1 / math.sqrt(depth), **constexprs, num_warps=knobs["num_warps"], num_stages=1
    )
    return out


def static_cases(shape, dtype, config=None, *, causal=True):
    """Return the launches of a shape as `LaunchCase`s, for compilers and counters; needs kopt_kb installed."""
    from kopt_kb.kernels.launch_case import LaunchCase, TensorSpec

    knobs = default_config(shape, dtype) | (config or {})
    q = TensorSpec(tuple(shape), dtype)
    arguments = (q, q, q, q, shape[2], shape[3], 1 / math.sqrt(shape[3]))
    constexprs = _constexprs(shape[3], knobs, causal)
    grid = _grid(shape, knobs["BLOCK"])
    return (LaunchCase(attention_small_tiles, grid, arguments, constexprs, knobs["num_warps"], 1),)
