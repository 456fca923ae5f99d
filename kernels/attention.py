"""Attention forward, full and causal: Triton and Gluon kernels, launcher, reference and tuning space in one file."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
from __future__ import annotations

import math

import torch
import triton
import triton.language as tl
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia import hopper
from triton.experimental.gluon.language.nvidia.hopper import mbarrier, tma

__all__ = ["OP", "OP_OPTIONS", "TUNING_SPACE", "VARIANTS", "default_config", "launch", "make_inputs", "reference"]

# Triton 3.6 has other names for these than later ones.
copy_in = tma.async_load if hasattr(tma, "async_load") else tma.async_copy_global_to_shared
copy_out = tma.async_store if hasattr(tma, "async_store") else tma.async_copy_shared_to_global

OP = "attention"
OP_OPTIONS = {"causal": True}
TUNING_SPACE = {
    "BLOCK_M": [64, 128],
    "BLOCK_N": [32, 64, 128],
    "TOGETHER": [1, 2, 4, 8, 16],
    "TURNS": [False, True],
    "num_warps": [4, 8],
    "num_stages": [1, 2, 3, 4],
}
VARIANTS = [
    {
        "name": "roles", "category": "latency_hiding", "targets": ["sm_90"],
        "summary": "a warp copies tiles, two warpgroups multiply in turns: a softmax hides behind the other's products",
        "precondition": "S % 128 == 0 and D % 64 == 0 and D <= 128 and element_bytes == 2",
        "config": {"VARIANT": "roles", "TOGETHER": 4, "TURNS": False, "num_warps": 4, "num_stages": 2},
        "knobs": ["TOGETHER", "TURNS", "num_stages"],
    },
    {
        "name": "tall_tile", "category": "memory_traffic", "precondition": "S >= 512",
        "summary": "more queries a program, so that keys and values are read fewer times",
        "config": {"VARIANT": "rows", "BLOCK_M": 128, "num_warps": 8}, "knobs": ["BLOCK_M", "BLOCK_N", "num_warps"],
    },
    {
        "name": "deep_pipeline", "category": "latency_hiding", "precondition": "S >= 512",
        "summary": "more tiles of keys and values in flight",
        "config": {"VARIANT": "rows", "num_stages": 3}, "knobs": ["num_stages", "BLOCK_N"],
    },
]  # fmt: skip
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


# Two warpgroups of 64 queries each against 128 keys at a time: as much as their registers hold.
_QUERIES = gl.constexpr(64)
_KEYS = gl.constexpr(128)


@gluon.jit
def _tile(place, work, TOGETHER: gl.constexpr):
    """Return (head, block of queries) of a place: so many heads share the L2, the longest of their blocks first."""
    _, tiles, heads, _, _ = work
    group = place // (TOGETHER * tiles)
    inside = place % (TOGETHER * tiles)
    height = gl.minimum(heads - group * TOGETHER, TOGETHER)
    return group * TOGETHER + inside % height, tiles - 1 - inside // height


@gluon.jit
def _fetch(desc, row, count, full, free, bufs, STAGES: gl.constexpr):
    """Copy the next block of keys or values into its stage once that is free."""
    stage = count % STAGES
    mbarrier.wait(free.index(stage), ((count // STAGES) & 1) ^ 1)
    mbarrier.expect(full.index(stage), desc.block_type.nbytes)
    copy_in(desc, [row, 0], full.index(stage), bufs.index(stage))


@gluon.jit
def _copy_tiles(
    counter, told, descs, bufs, bars, work, STAGES: gl.constexpr, TOGETHER: gl.constexpr, CAUSAL: gl.constexpr
):
    """Take places from the counter and copy their tiles; a place behind the last one ends all roles."""
    q_desc, k_desc, v_desc = descs
    q_bufs, k_bufs, v_bufs = bufs
    q_full, q_free, k_full, k_free, v_full, v_free, _ = bars
    total, _, _, share, length = work
    sole: gl.constexpr = gl.BlockedLayout([1], [32], [1], [0])
    count = 0
    turn = 0
    place = gl.atomic_add(counter, 1)
    while place < total:
        head, block = _tile(place, work, TOGETHER)
        first = (head // share) * length
        blocks = block + 1 if CAUSAL else length // _KEYS
        for one in gl.static_range(2):
            mbarrier.wait(q_free.index(one), (turn & 1) ^ 1)
            told.index(one).store(gl.full([1], place, gl.int32, sole))
            mbarrier.expect(q_full.index(one), q_desc.block_type.nbytes)
            row = head * length + (block * 2 + one) * _QUERIES
            copy_in(q_desc, [row, 0], q_full.index(one), q_bufs.index(one))
        turn += 1
        _fetch(k_desc, first + (blocks - 1) * _KEYS, count, k_full, k_free, k_bufs, STAGES)
        for back in range(1, blocks):
            _fetch(k_desc, first + (blocks - 1 - back) * _KEYS, count + 1, k_full, k_free, k_bufs, STAGES)
            _fetch(v_desc, first + (blocks - back) * _KEYS, count, v_full, v_free, v_bufs, STAGES)
            count += 1
        _fetch(v_desc, first, count, v_full, v_free, v_bufs, STAGES)
        count += 1
        place = gl.atomic_add(counter, 1)
    for one in gl.static_range(2):
        mbarrier.wait(q_free.index(one), (turn & 1) ^ 1)
        told.index(one).store(gl.full([1], place, gl.int32, sole))
        mbarrier.arrive(q_full.index(one), count=1)


@gluon.jit
def _softened(s, top, total, scale):
    """Return weights of a block of scores, the running maximum and sum, and what keeps earlier sums comparable."""
    new_top = gl.maximum(top, gl.max(s, 1) * scale)
    p = gl.exp2(s * scale - gl.expand_dims(new_top, 1))
    keep = gl.exp2(top - new_top)
    return p, new_top, total * keep + gl.sum(p, 1), keep


@gluon.jit
def _last_scores(q, bufs, bars, blocks, first, count, STAGES: gl.constexpr, CAUSAL: gl.constexpr):
    """Return the scores of the last block of keys, the only one that has keys behind a query."""
    at: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, _KEYS, 16])
    k_full, k_free = bars[2], bars[3]
    stage = count % STAGES
    none = gl.zeros([_QUERIES, _KEYS], gl.float32, at)
    mbarrier.wait(k_full.index(stage), (count // STAGES) & 1)
    s = hopper.warpgroup_mma(q, bufs[1].index(stage).permute([1, 0]), none, use_acc=False, is_async=True)
    s = hopper.warpgroup_mma_wait(0, deps=[s])
    mbarrier.arrive(k_free.index(stage), count=1)
    if CAUSAL:
        row = first + gl.arange(0, _QUERIES, gl.SliceLayout(1, at))
        key = (blocks - 1) * _KEYS + gl.arange(0, _KEYS, gl.SliceLayout(0, at))
        s = gl.where(gl.expand_dims(row, 1) >= gl.expand_dims(key, 0), s, -float("inf"))
    return s


@gluon.jit
def _attend_tile(
    one: gl.constexpr, q, o_desc, bufs, bars, blocks, first, count, spoken, scale,
    STAGES: gl.constexpr, CAUSAL: gl.constexpr, TURNS: gl.constexpr,
):  # fmt: skip
    """Return 64 queries' attention, last block of keys first; each softmax runs beside the products of the next."""
    _, k_bufs, v_bufs = bufs
    _, _, k_full, k_free, v_full, v_free, turns = bars
    DEPTH: gl.constexpr = o_desc.block_shape[1]
    scores_at: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, _KEYS, 16])
    out_at: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, DEPTH, 16])
    left_at: gl.constexpr = gl.DotOperandLayout(0, out_at, 2)
    s = _last_scores(q, bufs, bars, blocks, first, count, STAGES, CAUSAL)
    none = gl.zeros([_QUERIES, _KEYS], gl.float32, scores_at)
    top = gl.full([_QUERIES], -float("inf"), gl.float32, gl.SliceLayout(1, scores_at))
    total = gl.zeros([_QUERIES], gl.float32, gl.SliceLayout(1, scores_at))
    w, top, total, keep = _softened(s, top, total, scale)
    p = gl.convert_layout(w.to(o_desc.dtype), left_at)
    acc = gl.zeros([_QUERIES, DEPTH], gl.float32, out_at)
    for _ in range(1, blocks):
        behind = (count + 1) % STAGES
        mbarrier.wait(k_full.index(behind), ((count + 1) // STAGES) & 1)
        if TURNS:  # the first group's very first turn has no other before it
            mbarrier.wait(turns.index(one), (spoken & 1) ^ (1 - one))
        scores = hopper.warpgroup_mma(q, k_bufs.index(behind).permute([1, 0]), none, use_acc=False, is_async=True)
        mbarrier.wait(v_full.index(count % STAGES), (count // STAGES) & 1)
        sums = hopper.warpgroup_mma(p, v_bufs.index(count % STAGES), acc, is_async=True)
        if TURNS:
            mbarrier.arrive(turns.index(1 - one), count=1)
            spoken += 1
        s = hopper.warpgroup_mma_wait(1, deps=[scores])
        mbarrier.arrive(k_free.index(behind), count=1)
        w, top, total, keep = _softened(s, top, total, scale)
        acc = hopper.warpgroup_mma_wait(0, deps=[sums])
        mbarrier.arrive(v_free.index(count % STAGES), count=1)
        p = gl.convert_layout(w.to(o_desc.dtype), left_at)
        acc = acc * gl.expand_dims(gl.convert_layout(keep, gl.SliceLayout(1, out_at)), 1)
        count += 1
    mbarrier.wait(v_full.index(count % STAGES), (count // STAGES) & 1)
    sums = hopper.warpgroup_mma(p, v_bufs.index(count % STAGES), acc, is_async=True)
    acc = hopper.warpgroup_mma_wait(0, deps=[sums])
    mbarrier.arrive(v_free.index(count % STAGES), count=1)
    share = gl.convert_layout(1.0 / total, gl.SliceLayout(1, out_at))
    return (acc * gl.expand_dims(share, 1)).to(o_desc.dtype)


@gluon.jit
def _attend(
    one: gl.constexpr, told, o_desc, bufs, bars, work, scale,
    STAGES: gl.constexpr, TOGETHER: gl.constexpr, CAUSAL: gl.constexpr, TURNS: gl.constexpr,
):  # fmt: skip
    """Compute 64 queries of every tile that is told, and store them by way of the queries' own memory."""
    q_full, q_free, _, _, _, _, _ = bars
    total, _, _, _, length = work
    sole: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    q = bufs[0].index(one)
    count = 0
    turn = 0
    mbarrier.wait(q_full.index(one), 0)
    place = gl.max(told.index(one).load(sole), 0)
    while place < total:
        head, block = _tile(place, work, TOGETHER)
        blocks = block + 1 if CAUSAL else length // _KEYS
        first = (block * 2 + one) * _QUERIES
        out = _attend_tile(one, q, o_desc, bufs, bars, blocks, first, count, count - turn, scale, STAGES, CAUSAL, TURNS)
        q.store(out)
        hopper.fence_async_shared()
        copy_out(o_desc, [head * length + first, 0], q)
        tma.store_wait(0)
        mbarrier.arrive(q_free.index(one), count=1)
        count += blocks
        turn += 1
        mbarrier.wait(q_full.index(one), turn & 1)
        place = gl.max(told.index(one).load(sole), 0)


@gluon.jit
def _barriers(COUNT: gl.constexpr, ARRIVALS: gl.constexpr):
    bars = gl.allocate_shared_memory(gl.int64, [COUNT, 1], mbarrier.MBarrierLayout())
    for place in gl.static_range(COUNT):
        mbarrier.init(bars.index(place), count=ARRIVALS)
    return bars


@gluon.jit
def attention_roles(
    counter, q_desc, k_desc, v_desc, o_desc, total, tiles, heads, share, length, scale,
    STAGES: gl.constexpr, TOGETHER: gl.constexpr, CAUSAL: gl.constexpr, TURNS: gl.constexpr,
):  # fmt: skip
    """As many programs as multiprocessors take tiles from a counter: one warp copies, two warpgroups compute."""
    DEPTH: gl.constexpr = q_desc.block_shape[1]
    q_bufs = gl.allocate_shared_memory(q_desc.dtype, [2, q_desc.block_shape[0], DEPTH], q_desc.layout)
    k_bufs = gl.allocate_shared_memory(k_desc.dtype, [STAGES, k_desc.block_shape[0], DEPTH], k_desc.layout)
    v_bufs = gl.allocate_shared_memory(v_desc.dtype, [STAGES, v_desc.block_shape[0], DEPTH], v_desc.layout)
    told = gl.allocate_shared_memory(gl.int32, [2, 1], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    keys, values = (_barriers(STAGES, 1), _barriers(STAGES, 2)), (_barriers(STAGES, 1), _barriers(STAGES, 2))
    bars = (_barriers(2, 1), _barriers(2, 1), keys[0], keys[1], values[0], values[1], _barriers(2, 1))
    bufs = (q_bufs, k_bufs, v_bufs)
    work = (total, tiles, heads, share, length)
    gl.warp_specialize(
        [
            (_attend, (gl.constexpr(0), told, o_desc, bufs, bars, work, scale, STAGES, TOGETHER, CAUSAL, TURNS)),
            (_attend, (gl.constexpr(1), told, o_desc, bufs, bars, work, scale, STAGES, TOGETHER, CAUSAL, TURNS)),
            (_copy_tiles, (counter, told, (q_desc, k_desc, v_desc), bufs, bars, work, STAGES, TOGETHER, CAUSAL)),
        ],
        [4, 1],
        [240, 24],
    )


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


def _is_hopper():
    try:
        target = triton.runtime.driver.active.get_current_target()
    except RuntimeError:  # no GPU, and nobody stands in for one
        return False
    return (target.backend, target.arch) == ("cuda", 90) and not triton.knobs.runtime.interpret


def default_config(shape, dtype):
    """Return a good start for a shape: roles on Hopper; else 128 queries by 64 keys when there are that many."""
    rows = 128 if shape[2] >= 128 and dtype != "fp32" else 64
    tiles = {"BLOCK_M": rows, "BLOCK_N": 64 if dtype != "fp32" else 32, "num_warps": rows // 16}
    fits = not shape[2] % 128 and shape[3] in (64, 128) and dtype != "fp32"
    kind = "roles" if fits and _is_hopper() else "rows"
    return {"VARIANT": kind, **tiles, "TOGETHER": 4, "TURNS": False, "num_stages": 2}


def _plan(shape, dtype, config, causal, multiprocessors):
    """Return (variant, grid, constexprs, launch options) of a configuration; missing keys take the default."""
    batch, heads, length, depth = shape
    knobs = default_config(shape, dtype) | (config or {})
    if knobs["VARIANT"] == "roles":
        tiles = length // 128 * batch * heads
        constexprs = {key: knobs[key] for key in ("TOGETHER", "TURNS")} | {
            "STAGES": knobs["num_stages"],
            "CAUSAL": causal,
        }
        return "roles", (min(tiles, multiprocessors or tiles),), constexprs, {"num_warps": 4, "num_stages": 1}
    grid = (triton.cdiv(length, knobs["BLOCK_M"]), batch * heads)
    constexprs = {"BLOCK_M": knobs["BLOCK_M"], "BLOCK_N": knobs["BLOCK_N"], "CAUSAL": causal}
    constexprs |= {"WIDEN": triton.knobs.runtime.interpret, "BLOCK_D": max(16, triton.next_power_of_2(depth))}
    return "rows", grid, constexprs, {"num_warps": knobs["num_warps"], "num_stages": knobs["num_stages"]}


def _descriptor(tensor, rows):
    """Return a descriptor of blocks of so many whole rows of a contiguous tensor."""
    from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

    block = [rows, tensor.shape[-1]]
    layout = gl.NVMMASharedLayout.get_default_for(block, gl.bfloat16 if tensor.dtype == torch.bfloat16 else gl.float16)
    return TensorDescriptor.from_tensor(tensor.view(-1, block[1]), block, layout)


def launch(q, k, v, *, causal=True, config=None, out=None):
    """Return attention of contiguous Q of BxHxSxD over K and V of BxH'xSxD, in Q's storage type, in `out` if given.

    Raises:
        ValueError: The operands do not fit together, or not the blocks of `roles`.
    """
    batch, heads, length, depth = q.shape
    whole = all(one.is_contiguous() for one in (q, k, v))
    if not whole or k.shape != v.shape or k.shape != (batch, k.shape[1], length, depth) or heads % k.shape[1]:
        raise ValueError(f"need contiguous BxHxSxD, K and V with a divisor of H heads, got {q.shape}, {k.shape}")
    out = torch.empty_like(q) if out is None else out
    dtype = next(name for name, one in _DTYPES.items() if one == q.dtype)
    share, scale = heads // k.shape[1], 1 / math.sqrt(depth)
    processors = torch.cuda.get_device_properties(q.device).multi_processor_count if q.device.type == "cuda" else 0
    kind, grid, constexprs, options = _plan(tuple(q.shape), dtype, config, causal, processors)
    if kind == "rows":
        attention_rows[grid](q, k, v, out, length, depth, heads, share, scale, **constexprs, **options)
        return out
    if length % 128 or depth not in (64, 128) or q.element_size() != 2:
        raise ValueError(f"roles need blocks of 128 queries of 64 or 128 elements of two bytes, got {q.shape}, {dtype}")
    tensors = [_descriptor(one, rows) for one, rows in ((q, 64), (k, 128), (v, 128), (out, 64))]
    counter = torch.zeros(1, dtype=torch.int32, device=q.device)
    sizes = (batch * heads * (length // 128), length // 128, batch * heads, share, length)
    attention_roles[grid](counter, *tensors, *sizes, scale / math.log(2), **constexprs, **options)
    return out


def static_cases(shape, dtype, config=None, *, causal=True):
    """Return the launches of a shape as `LaunchCase`s, for compilers and counters; needs kopt_kb installed."""
    from kopt_kb.kernels.launch_case import LaunchCase, TensorSpec

    batch, heads, length, depth = shape
    kind, grid, constexprs, options = _plan(shape, dtype, config, causal, None)
    scale = 1 / math.sqrt(depth)
    if kind == "rows":
        q = TensorSpec(tuple(shape), dtype)
        return (LaunchCase(attention_rows, grid, (q, q, q, q, length, depth, heads, 1, scale), constexprs, **options),)
    q, k = (TensorSpec((batch * heads * length, depth), dtype, block_shape=(rows, depth)) for rows in (64, 128))
    sizes = (batch * heads * (length // 128), length // 128, batch * heads, 1, length)
    arguments = (TensorSpec((1,), "int32"), q, k, k, q, *sizes, scale / math.log(2))
    return (LaunchCase(attention_roles, grid, arguments, constexprs, **options),)
