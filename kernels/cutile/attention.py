"""Attention forward in cuTile, full and causal: kernel, launcher, reference and tuning space in one file."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
from __future__ import annotations

import math
from typing import TypeAlias

import cuda.tile as ct
import torch

__all__ = ["OP", "OP_OPTIONS", "TUNING_SPACE", "VARIANTS", "default_config", "launch", "make_inputs", "reference"]

OP = "attention"

OP_OPTIONS = {"causal": True}

TUNING_SPACE = {
    "TILE_M": [64, 128, 256],
    "TILE_N": [32, 64, 128],
    "num_ctas": [1, 2],
    "occupancy": [1, 2, 4],
    "latency": [2, 4, 6, 10],
    "FLUSH": [False, True],
}

VARIANTS = [
    {
        "name": "tall_tile",
        "category": "memory_traffic",
        "summary": "more queries a block, so that keys and values are read fewer times",
        "precondition": "S >= 512",
        "config": {"TILE_M": 128},
        "knobs": ["TILE_M", "TILE_N", "occupancy"],
    },
    {
        "name": "deep_prefetch",
        "category": "latency_hiding",
        "summary": "more tiles of keys and values in flight",
        "precondition": "S >= 512",
        "config": {"latency": 6},
        "knobs": ["latency", "TILE_N"],
    },
    {
        "name": "flushed_powers",
        "category": "compute",
        "summary": "powers without denormals: fewer instructions on the way to each weight",
        "precondition": "S >= 128",
        "config": {"FLUSH": True},
        "knobs": ["FLUSH"],
    },
]

_DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32}
_ZERO = ct.PaddingMode.ZERO
_Int: TypeAlias = ct.Constant[int]
_Flag: TypeAlias = ct.Constant[bool]


@ct.kernel
def attention_rows(
    q, k, v, o, length: _Int, heads: _Int, group: _Int, scale: ct.Constant[float],
    TILE_M: _Int, TILE_N: _Int, TILE_D: _Int, LATENCY: _Int, CAUSAL: _Flag, FLUSH: _Flag,
):  # fmt: skip
    """One tile of queries of one head a block: maximum, sum and output run over tiles of keys; `scale` is for exp2."""
    tiles = ct.cdiv(length, TILE_M)
    at = tiles - 1 - ct.bid(0) if CAUSAL else ct.bid(0)  # the longest tiles first
    batch, head = ct.bid(1) // heads, ct.bid(1) % heads
    query = ct.reshape(ct.load(q, (batch, head, at, 0), (1, 1, TILE_M, TILE_D), padding_mode=_ZERO), (TILE_M, TILE_D))
    row = ct.reshape(at * TILE_M + ct.arange(TILE_M, dtype=ct.int32), (TILE_M, 1))
    lane = ct.reshape(ct.arange(TILE_N, dtype=ct.int32), (1, TILE_N))
    top = ct.full((TILE_M, 1), -math.inf, ct.float32)
    total = ct.zeros((TILE_M, 1), ct.float32)
    acc = ct.zeros((TILE_M, TILE_D), ct.float32)
    # Tiles before `whole` need no mask: every key is inside and no query is before it.
    stop = min(ct.cdiv((at + 1) * TILE_M, TILE_N), ct.cdiv(length, TILE_N)) if CAUSAL else ct.cdiv(length, TILE_N)
    whole = (at * TILE_M) // TILE_N if CAUSAL else length // TILE_N
    for step in range(stop):
        keys = ct.load(
            k, (batch, head // group, 0, step), (1, 1, TILE_D, TILE_N), order=(0, 1, 3, 2), padding_mode=_ZERO,
            latency=LATENCY,
        )  # fmt: skip
        score = ct.mma(query, ct.reshape(keys, (TILE_D, TILE_N)), ct.zeros((TILE_M, TILE_N), ct.float32)) * scale
        if step >= whole:
            key = step * TILE_N + lane
            seen = key <= row if CAUSAL else key < length
            score = ct.where(seen, score, -math.inf)
        new_top = ct.maximum(top, ct.max(score, axis=1, keepdims=True))
        weights = ct.exp2(score - new_top, flush_to_zero=FLUSH)
        keep = ct.exp2(top - new_top, flush_to_zero=FLUSH)
        total = total * keep + ct.sum(weights, axis=1, keepdims=True)
        values = ct.load(
            v, (batch, head // group, step, 0), (1, 1, TILE_N, TILE_D), padding_mode=_ZERO, latency=LATENCY
        )
        acc = ct.mma(ct.astype(weights, v.dtype), ct.reshape(values, (TILE_N, TILE_D)), acc * keep)
        top = new_top
    found = ct.reshape(ct.astype(acc / total, o.dtype), (1, 1, TILE_M, TILE_D))
    ct.store(o, (batch, head, at, 0), found)


_HINTED: dict[tuple[object, ...], object] = {}


def _hinted(occupancy, num_ctas):
    """Return the kernel with these hints; each is made once, since each has a cache of its own."""
    key = (occupancy, num_ctas)
    if key not in _HINTED:
        _HINTED[key] = attention_rows.replace_hints(occupancy=occupancy, num_ctas=num_ctas)
    return _HINTED[key]


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
    cols = 64 if dtype != "fp32" else 32
    return {"TILE_M": rows, "TILE_N": cols, "num_ctas": 1, "occupancy": 2, "latency": 4, "FLUSH": False}


def _plan(shape, dtype, config):
    """Return (knobs, grid) of a configuration; missing keys take the default."""
    batch, heads, length, _ = shape
    knobs = default_config(shape, dtype) | (config or {})
    return knobs, (-(-length // knobs["TILE_M"]), batch * heads, 1)


def launch(q, k, v, *, causal=True, config=None, out=None):
    """Return attention of contiguous Q of BxHxSxD over K and V of BxH'xSxD, in Q's storage type, in `out` if given."""
    batch, heads, length, depth = q.shape
    whole = all(one.is_contiguous() for one in (q, k, v))
    if not whole or k.shape != v.shape or k.shape != (batch, k.shape[1], length, depth) or heads % k.shape[1]:
        raise ValueError(f"need contiguous BxHxSxD, K and V with a divisor of H heads, got {q.shape}, {k.shape}")
    out = torch.empty_like(q) if out is None else out
    dtype = next(name for name, one in _DTYPES.items() if one == q.dtype)
    knobs, grid = _plan(tuple(q.shape), dtype, config)
    kernel = _hinted(knobs["occupancy"], knobs["num_ctas"])
    depth_tile = max(16, 1 << (depth - 1).bit_length())
    scalars = (length, heads, heads // k.shape[1], 1 / math.sqrt(depth) / math.log(2))
    tiles = (knobs["TILE_M"], knobs["TILE_N"], depth_tile, knobs["latency"], causal, knobs["FLUSH"])
    ct.launch(torch.cuda.current_stream(), grid, kernel, (q, k, v, out, *scalars, *tiles))
    return out
