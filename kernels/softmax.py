"""Softmax over rows: Triton kernels, launcher, reference and tuning space in one file."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
from __future__ import annotations

import torch
import triton
import triton.language as tl

__all__ = ["OP", "OP_OPTIONS", "TUNING_SPACE", "VARIANTS", "default_config", "launch", "make_inputs", "reference"]

OP = "softmax"

OP_OPTIONS: dict[str, object] = {}

TUNING_SPACE = {
    "BLOCK_ROWS": [1, 2, 4, 8],
    "BLOCK_COLS": [0, 1024, 2048, 4096, 8192, 16384],
    "PROGRAMS_PER_SM": [1, 2, 4, 8],
    "STREAM": [False, True],
    "STREAM_STORES": [False, True],
    "RECIPROCAL": [False, True],
    "POWERS": [False, True],
    "num_warps": [1, 2, 4, 8, 16, 32],
    "num_stages": [1, 2, 3, 4],
}

VARIANTS = [
    {
        "name": "single_pass",
        "category": "memory_traffic",
        "summary": "hold the whole row in registers, read it once",
        "precondition": "N <= 32768",
        "config": {"VARIANT": "single_pass"},
        "knobs": ["BLOCK_ROWS", "STREAM", "POWERS", "num_warps"],
    },
    {
        "name": "persistent",
        "category": "scheduling",
        "summary": "as many programs as fit, each walking blocks of rows",
        "precondition": "N <= 32768 and M >= 1024",
        "config": {"VARIANT": "persistent"},
        "knobs": ["BLOCK_ROWS", "PROGRAMS_PER_SM", "STREAM", "num_warps", "num_stages"],
    },
    {
        "name": "online",
        "category": "parallelism",
        "summary": "maximum and sum in one pass over chunks, result in a second that finds the row in cache",
        "precondition": "N > 2048",
        "config": {"VARIANT": "online", "BLOCK_COLS": 4096, "BLOCK_ROWS": 1, "num_stages": 1},
        "knobs": ["BLOCK_COLS", "STREAM", "POWERS", "num_warps"],
    },
    {
        "name": "stream",
        "category": "caching",
        "summary": "mark rows as used once, so that they leave the cache first",
        "precondition": "M >= 64",
        "config": {"STREAM": True},
        "knobs": ["STREAM"],
    },
    {
        "name": "reciprocal",
        "category": "compute",
        "summary": "divide once a row and multiply each element, in place of a division an element",
        "precondition": "N >= 64",
        "config": {"RECIPROCAL": True},
        "knobs": ["RECIPROCAL", "num_warps"],
    },
    {
        "name": "powers",
        "category": "compute",
        "summary": "e^x as a power of two, without scalings for the least results: fewer instructions an element",
        "precondition": "N >= 64",
        "config": {"POWERS": True},
        "knobs": ["POWERS", "num_warps"],
    },
    {
        "name": "stream_stores",
        "category": "caching",
        "summary": "mark written rows alone as used once: what is read next keeps the cache",
        "precondition": "M >= 64",
        "config": {"STREAM_STORES": True},
        "knobs": ["STREAM_STORES", "num_warps"],
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
def _exp(x, POWERS: tl.constexpr):
    """Return e^x, as a power of two if `POWERS`: without the comparison and two scalings for the least results."""
    return tl.exp2(x * 1.4426950408889634) if POWERS else tl.exp(x)


@triton.jit
def _rows_softmax(
    x_ptr, y_ptr, row, col, rows, cols, x_stride, y_stride,
    STREAM: tl.constexpr, STREAM_STORES: tl.constexpr, RECIPROCAL: tl.constexpr, POWERS: tl.constexpr,
):  # fmt: skip
    """Softmax of a block of whole rows."""
    mask = (row[:, None] < rows) & (col[None, :] < cols)
    places = x_ptr + row[:, None] * x_stride + col[None, :]
    if STREAM:
        x = tl.load(places, mask=mask, other=-float("inf"), eviction_policy="evict_first").to(tl.float32)
    else:
        x = tl.load(places, mask=mask, other=-float("inf")).to(tl.float32)
    # Rows beyond the last are all -inf: subtracting their maximum would make NaN, which no store keeps.
    e = _exp(x - tl.max(x, axis=1)[:, None], POWERS)
    if RECIPROCAL:
        y = (e * (1.0 / tl.sum(e, axis=1))[:, None]).to(y_ptr.dtype.element_ty)
    else:
        y = (e / tl.sum(e, axis=1)[:, None]).to(y_ptr.dtype.element_ty)
    target = y_ptr + row[:, None] * y_stride + col[None, :]
    if STREAM or STREAM_STORES:
        tl.store(target, y, mask=mask, cache_modifier=".cs")
    else:
        tl.store(target, y, mask=mask)


@triton.jit
def softmax_single_pass(
    x_ptr, y_ptr, rows, cols, x_stride, y_stride,
    BLOCK_ROWS: tl.constexpr, BLOCK_COLS: tl.constexpr, STREAM: tl.constexpr, STREAM_STORES: tl.constexpr,
    RECIPROCAL: tl.constexpr,
    POWERS: tl.constexpr,
):  # fmt: skip
    """One block of rows a program, each row once from memory."""
    row = tl.program_id(0).to(tl.int64) * BLOCK_ROWS + tl.arange(0, BLOCK_ROWS)
    col = tl.arange(0, BLOCK_COLS)
    _rows_softmax(x_ptr, y_ptr, row, col, rows, cols, x_stride, y_stride, STREAM, STREAM_STORES, RECIPROCAL, POWERS)


@triton.jit
def softmax_persistent(
    x_ptr, y_ptr, rows, cols, x_stride, y_stride,
    BLOCK_ROWS: tl.constexpr, BLOCK_COLS: tl.constexpr, STREAM: tl.constexpr, STREAM_STORES: tl.constexpr,
    RECIPROCAL: tl.constexpr,
    POWERS: tl.constexpr, STAGES: tl.constexpr,
):  # fmt: skip
    """A fixed number of programs share the blocks of rows."""
    col = tl.arange(0, BLOCK_COLS)
    for block in tl.range(tl.program_id(0), tl.cdiv(rows, BLOCK_ROWS), tl.num_programs(0), num_stages=STAGES):
        row = (block * BLOCK_ROWS + tl.arange(0, BLOCK_ROWS)).to(tl.int64)
        _rows_softmax(x_ptr, y_ptr, row, col, rows, cols, x_stride, y_stride, STREAM, STREAM_STORES, RECIPROCAL, POWERS)


@triton.jit
def softmax_online(
    x_ptr, y_ptr, x_stride, y_stride,
    COLS: tl.constexpr, BLOCK_COLS: tl.constexpr, STREAM: tl.constexpr, POWERS: tl.constexpr, STAGES: tl.constexpr,
):  # fmt: skip
    """One row a program in chunks: a running maximum and sum for every eight neighbours first, then the result.

    The row's width is known when it is compiled. Lanes meet only once, after the first pass.
    """
    row = tl.program_id(0).to(tl.int64)
    place = tl.arange(0, BLOCK_COLS // 8)[:, None] * 8 + tl.arange(0, 8)[None, :]
    tops = tl.full((BLOCK_COLS // 8,), -3.4e38, dtype=tl.float32)  # finite: lanes without elements must make no NaN
    totals = tl.zeros((BLOCK_COLS // 8,), dtype=tl.float32)
    for start in tl.range(0, COLS, BLOCK_COLS, num_stages=STAGES):
        c = start + place
        x = tl.load(x_ptr + row * x_stride + c, mask=c < COLS, other=-float("inf"), eviction_policy="evict_last")
        wide = x.to(tl.float32)
        new_tops = tl.maximum(tops, tl.max(wide, axis=1))
        totals = totals * _exp(tops - new_tops, POWERS) + tl.sum(_exp(wide - new_tops[:, None], POWERS), axis=1)
        tops = new_tops
    most = tl.max(tops, axis=0)
    scale = 1.0 / tl.sum(totals * _exp(tops - most, POWERS), axis=0)
    for start in tl.range(0, COLS, BLOCK_COLS, num_stages=STAGES):
        c = start + place
        x = tl.load(x_ptr + row * x_stride + c, mask=c < COLS, other=0.0, eviction_policy="evict_first")
        y = (_exp(x.to(tl.float32) - most, POWERS) * scale).to(y_ptr.dtype.element_ty)
        if STREAM:
            tl.store(y_ptr + row * y_stride + c, y, mask=c < COLS, cache_modifier=".cs")
        else:
            tl.store(y_ptr + row * y_stride + c, y, mask=c < COLS)


def make_inputs(shape, dtype, device="cuda", seed=0):
    """Return (x of MxN,) of that storage type, from a seed."""
    generator = torch.Generator(device=device).manual_seed(seed)
    x = torch.randn(*shape, generator=generator, device=device, dtype=torch.float32) * 2
    return (x.to(_DTYPES[dtype]),)


def reference(x):
    """Return the softmax of each row in float64, from plain torch operations."""
    wide = x.double()
    e = torch.exp(wide - wide.amax(dim=-1, keepdim=True))
    return e / e.sum(dim=-1, keepdim=True)


def default_config(shape, dtype):
    """Return a good start for a shape: whole rows in registers, 16 to 32 elements a thread."""
    rows, cols = shape
    wide = triton.next_power_of_2(cols)
    if wide > 32768:
        return {"VARIANT": "online", "BLOCK_ROWS": 1, "BLOCK_COLS": 4096, "num_warps": 8, "num_stages": 3}
    block_rows = max(1, min(2048 // wide, triton.next_power_of_2(rows), 16))
    warps = max(1, min(wide * block_rows // (1024 if dtype != "fp32" else 512), 16))
    return {
        "VARIANT": "single_pass",
        "BLOCK_ROWS": block_rows,
        "BLOCK_COLS": 0,
        "PROGRAMS_PER_SM": 4,
        "STREAM": False,
        "STREAM_STORES": False,
        "RECIPROCAL": False,
        "POWERS": False,
        "num_warps": warps,
        "num_stages": 1,
    }


def _plan(shape, dtype, config, multiprocessors):
    """Return (kernel, grid, constexprs, launch options) of a configuration; missing keys take the default."""
    rows, cols = shape
    knobs = default_config(shape, dtype) | (config or {})
    block_rows = knobs["BLOCK_ROWS"]
    whole = {"BLOCK_ROWS": block_rows, "BLOCK_COLS": triton.next_power_of_2(cols)}
    whole |= {name: knobs.get(name, False) for name in ("STREAM", "STREAM_STORES", "RECIPROCAL", "POWERS")}
    options = {"num_warps": knobs["num_warps"], "num_stages": knobs["num_stages"]}
    blocks = triton.cdiv(rows, block_rows)
    if knobs["VARIANT"] == "online":
        width = max(8, min(knobs["BLOCK_COLS"] or 4096, triton.next_power_of_2(cols)))
        chunked = {"COLS": cols, "BLOCK_COLS": width} | {one: knobs.get(one, False) for one in ("STREAM", "POWERS")}
        return softmax_online, (rows,), chunked | {"STAGES": knobs["num_stages"]}, options
    if knobs["VARIANT"] == "persistent":
        programs = multiprocessors * knobs.get("PROGRAMS_PER_SM", 4) if multiprocessors else blocks
        return softmax_persistent, (min(blocks, programs),), whole | {"STAGES": knobs["num_stages"]}, options
    return softmax_single_pass, (blocks,), whole, options


def _multiprocessors(device):
    return torch.cuda.get_device_properties(device).multi_processor_count if device.type == "cuda" else 0


def launch(x, *, config=None, out=None):
    """Return the softmax of each row of x (MxN, unit column stride) in its storage type, in `out` if given."""
    if x.ndim != 2 or x.stride(1) != 1:
        raise ValueError(f"need x of MxN with unit column stride, got {tuple(x.shape)} with strides {x.stride()}")
    out = torch.empty_like(x) if out is None else out
    dtype = next(name for name, one in _DTYPES.items() if one == x.dtype)
    kernel, grid, constexprs, options = _plan(tuple(x.shape), dtype, config, _multiprocessors(x.device))
    width = () if "COLS" in constexprs else x.shape
    kernel[grid](x, out, *width, x.stride(0), out.stride(0), **constexprs, **options)
    return out


def static_cases(shape, dtype, config=None):
    """Return the launches of a shape as `LaunchCase`s, for compilers and counters; needs kopt_kb installed."""
    from kopt_kb.kernels.launch_case import LaunchCase, TensorSpec

    rows, cols = shape
    kernel, grid, constexprs, options = _plan(shape, dtype, config, None)
    x = TensorSpec((rows, cols), dtype)
    width = () if "COLS" in constexprs else (rows, cols)
    return (LaunchCase(kernel, grid, (x, x, *width, cols, cols), constexprs, **options),)
