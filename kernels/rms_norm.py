"""RMS normalisation over rows: Triton kernels, launcher, reference and tuning space in one file."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
from __future__ import annotations

import torch
import triton
import triton.language as tl

__all__ = ["OP", "OP_OPTIONS", "TUNING_SPACE", "VARIANTS", "default_config", "launch", "make_inputs", "reference"]

OP = "rms_norm"

OP_OPTIONS = {"weight": True}

EPS = 1e-6

TUNING_SPACE = {
    "BLOCK_ROWS": [1, 2, 4, 8],
    "BLOCK_COLS": [0, 1024, 2048, 4096, 8192, 16384],
    "PROGRAMS_PER_SM": [1, 2, 4, 8],
    "STREAM": [False, True],
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
        "knobs": ["BLOCK_ROWS", "STREAM", "num_warps"],
    },
    {
        "name": "persistent",
        "category": "scheduling",
        "summary": "as many programs as fit, each walking rows with the weight kept in registers",
        "precondition": "N <= 32768 and M >= 1024",
        "config": {"VARIANT": "persistent"},
        "knobs": ["BLOCK_ROWS", "PROGRAMS_PER_SM", "STREAM", "num_warps", "num_stages"],
    },
    {
        "name": "two_pass",
        "category": "parallelism",
        "summary": "walk a long row in wide chunks twice; the second pass finds it in cache",
        "precondition": "N > 2048",
        "config": {"VARIANT": "two_pass", "BLOCK_COLS": 4096, "BLOCK_ROWS": 1, "num_stages": 1},
        "knobs": ["BLOCK_ROWS", "BLOCK_COLS", "STREAM", "num_warps"],
    },
    {
        "name": "stream",
        "category": "caching",
        "summary": "mark rows as used once, so that the weight and the next rows keep the cache",
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
def _rows_normalised(x_ptr, y_ptr, row, col, w, rows, cols, x_stride, y_stride, eps, STREAM: tl.constexpr):
    """Normalise a block of whole rows; `w` is the weight in fp32."""
    mask = (row[:, None] < rows) & (col[None, :] < cols)
    places = x_ptr + row[:, None] * x_stride + col[None, :]
    if STREAM:
        x = tl.load(places, mask=mask, other=0.0, eviction_policy="evict_first").to(tl.float32)
    else:
        x = tl.load(places, mask=mask, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(x * x, axis=1) / cols + eps)
    y = (x * scale[:, None] * w[None, :]).to(y_ptr.dtype.element_ty)
    target = y_ptr + row[:, None] * y_stride + col[None, :]
    if STREAM:
        tl.store(target, y, mask=mask, cache_modifier=".cs")
    else:
        tl.store(target, y, mask=mask)


@triton.jit
def rms_norm_single_pass(
    x_ptr, w_ptr, y_ptr, rows, cols, x_stride, y_stride, eps,
    BLOCK_ROWS: tl.constexpr, BLOCK_COLS: tl.constexpr, STREAM: tl.constexpr,
):  # fmt: skip
    """One block of rows a program, each row once from memory."""
    row = tl.program_id(0).to(tl.int64) * BLOCK_ROWS + tl.arange(0, BLOCK_ROWS)
    col = tl.arange(0, BLOCK_COLS)
    w = tl.load(w_ptr + col, mask=col < cols, other=0.0, eviction_policy="evict_last").to(tl.float32)
    _rows_normalised(x_ptr, y_ptr, row, col, w, rows, cols, x_stride, y_stride, eps, STREAM)


@triton.jit
def rms_norm_persistent(
    x_ptr, w_ptr, y_ptr, rows, cols, x_stride, y_stride, eps,
    BLOCK_ROWS: tl.constexpr, BLOCK_COLS: tl.constexpr, STREAM: tl.constexpr, STAGES: tl.constexpr,
):  # fmt: skip
    """A fixed number of programs share the blocks of rows; the weight is read once a program."""
    col = tl.arange(0, BLOCK_COLS)
    w = tl.load(w_ptr + col, mask=col < cols, other=0.0, eviction_policy="evict_last").to(tl.float32)
    blocks = tl.cdiv(rows, BLOCK_ROWS)
    for block in tl.range(tl.program_id(0), blocks, tl.num_programs(0), num_stages=STAGES):
        row = (block * BLOCK_ROWS + tl.arange(0, BLOCK_ROWS)).to(tl.int64)
        _rows_normalised(x_ptr, y_ptr, row, col, w, rows, cols, x_stride, y_stride, eps, STREAM)


@triton.jit
def rms_norm_two_pass(
    x_ptr, w_ptr, y_ptr, rows, x_stride, y_stride, eps,
    COLS: tl.constexpr, BLOCK_ROWS: tl.constexpr, BLOCK_COLS: tl.constexpr, STREAM: tl.constexpr,
    STAGES: tl.constexpr,
):  # fmt: skip
    """A block of rows in chunks: squares first, then the scaled rows; their width is known when it is compiled."""
    row = tl.program_id(0).to(tl.int64) * BLOCK_ROWS + tl.arange(0, BLOCK_ROWS)[:, None]
    col = tl.arange(0, BLOCK_COLS)[None, :]
    there = row < rows
    squares = tl.zeros((BLOCK_ROWS, BLOCK_COLS), dtype=tl.float32)
    for start in tl.range(0, COLS, BLOCK_COLS, num_stages=STAGES):
        c = start + col
        x = tl.load(x_ptr + row * x_stride + c, mask=there & (c < COLS), other=0.0, eviction_policy="evict_last")
        squares += x.to(tl.float32) * x.to(tl.float32)
    scale = tl.rsqrt(tl.sum(squares, axis=1) / COLS + eps)[:, None]
    for start in tl.range(0, COLS, BLOCK_COLS, num_stages=STAGES):
        c = start + col
        x = tl.load(x_ptr + row * x_stride + c, mask=there & (c < COLS), other=0.0, eviction_policy="evict_first")
        w = tl.load(w_ptr + c, mask=c < COLS, other=0.0, eviction_policy="evict_last")
        y = (x.to(tl.float32) * scale * w.to(tl.float32)).to(y_ptr.dtype.element_ty)
        if STREAM:
            tl.store(y_ptr + row * y_stride + c, y, mask=there & (c < COLS), cache_modifier=".cs")
        else:
            tl.store(y_ptr + row * y_stride + c, y, mask=there & (c < COLS))


def make_inputs(shape, dtype, device="cuda", seed=0):
    """Return (x of MxN, weight of N) of that storage type, from a seed."""
    rows, cols = shape
    generator = torch.Generator(device=device).manual_seed(seed)
    x = torch.randn(rows, cols, generator=generator, device=device, dtype=torch.float32)
    weight = torch.rand(cols, generator=generator, device=device, dtype=torch.float32) + 0.5
    return x.to(_DTYPES[dtype]), weight.to(_DTYPES[dtype])


def reference(x, weight, eps=EPS):
    """Return the normalised rows in float64, from plain torch operations."""
    wide = x.double()
    return wide * torch.rsqrt(wide.square().mean(dim=-1, keepdim=True) + eps) * weight.double()


def default_config(shape, dtype):
    """Return a good start for a shape: whole rows in registers, 16 to 32 elements a thread."""
    rows, cols = shape
    wide = triton.next_power_of_2(cols)
    if wide > 32768:
        return {"VARIANT": "two_pass", "BLOCK_ROWS": 1, "BLOCK_COLS": 4096, "num_warps": 8, "num_stages": 3}
    block_rows = max(1, min(2048 // wide, triton.next_power_of_2(rows), 16))
    warps = max(1, min(wide * block_rows // (1024 if dtype != "fp32" else 512), 16))
    return {
        "VARIANT": "single_pass",
        "BLOCK_ROWS": block_rows,
        "BLOCK_COLS": 0,
        "PROGRAMS_PER_SM": 4,
        "STREAM": False,
        "num_warps": warps,
        "num_stages": 1,
    }


def _plan(shape, dtype, config, multiprocessors):
    """Return (kernel, grid, constexprs, launch options) of a configuration; missing keys take the default."""
    rows, cols = shape
    knobs = default_config(shape, dtype) | (config or {})
    block_rows = knobs["BLOCK_ROWS"]
    whole = {"BLOCK_ROWS": block_rows, "BLOCK_COLS": triton.next_power_of_2(cols), "STREAM": knobs.get("STREAM", False)}
    options = {"num_warps": knobs["num_warps"], "num_stages": knobs["num_stages"]}
    blocks = triton.cdiv(rows, block_rows)
    if knobs["VARIANT"] == "two_pass":
        width = min(knobs["BLOCK_COLS"] or 4096, triton.next_power_of_2(cols))
        chunked = {"COLS": cols, "BLOCK_COLS": width, "STREAM": knobs.get("STREAM", False)}
        chunked |= {"BLOCK_ROWS": block_rows, "STAGES": knobs["num_stages"]}
        return rms_norm_two_pass, (blocks,), chunked, options
    if knobs["VARIANT"] == "persistent":
        programs = multiprocessors * knobs.get("PROGRAMS_PER_SM", 4) if multiprocessors else blocks
        return rms_norm_persistent, (min(blocks, programs),), whole | {"STAGES": knobs["num_stages"]}, options
    return rms_norm_single_pass, (blocks,), whole, options


def _multiprocessors(device):
    return torch.cuda.get_device_properties(device).multi_processor_count if device.type == "cuda" else 0


def launch(x, weight, eps=EPS, *, config=None, out=None):
    """Return the normalised rows of x in its storage type, written to `out` if given.

    Args:
        x: MxN with unit stride along N.
        weight: N elements, contiguous.
        eps: Added to the mean square.
        config: Keys of `TUNING_SPACE` and "VARIANT"; what is missing comes from `default_config`.
        out: Where to write, like x; a new tensor if None.
    """
    if x.ndim != 2 or x.stride(1) != 1 or weight.shape != (x.shape[1],) or not weight.is_contiguous():
        raise ValueError(f"need x of MxN with unit column stride and weight of N, got {x.shape}, {weight.shape}")
    out = torch.empty_like(x) if out is None else out
    dtype = next(name for name, one in _DTYPES.items() if one == x.dtype)
    kernel, grid, constexprs, options = _plan(tuple(x.shape), dtype, config, _multiprocessors(x.device))
    width = x.shape[:1] if "COLS" in constexprs else x.shape
    kernel[grid](x, weight, out, *width, x.stride(0), out.stride(0), eps, **constexprs, **options)
    return out


def static_cases(shape, dtype, config=None):
    """Return the launches of a shape as `LaunchCase`s, for compilers and counters; needs kopt_kb installed."""
    from kopt_kb.kernels.launch_case import LaunchCase, TensorSpec

    rows, cols = shape
    kernel, grid, constexprs, options = _plan(shape, dtype, config, None)
    x, weight = TensorSpec((rows, cols), dtype), TensorSpec((cols,), dtype)
    width = (rows,) if "COLS" in constexprs else (rows, cols)
    return (LaunchCase(kernel, grid, (x, weight, x, *width, cols, cols, EPS), constexprs, **options),)
