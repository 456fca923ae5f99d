"""Layer normalisation over rows: Triton kernels, launcher, reference and tuning space in one file."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
from __future__ import annotations

import torch
import triton
import triton.language as tl

__all__ = ["OP", "OP_OPTIONS", "TUNING_SPACE", "VARIANTS", "default_config", "launch", "make_inputs", "reference"]

OP = "layer_norm"

OP_OPTIONS = {"weight": True, "bias": True}

EPS = 1e-5

TUNING_SPACE = {
    "BLOCK_ROWS": [1, 2, 4, 8],
    "BLOCK_COLS": [0, 1024, 2048, 4096, 8192, 16384],
    "PROGRAMS_PER_SM": [1, 2, 4, 8],
    "STREAM": [False, True],
    "num_warps": [1, 2, 4, 8, 16, 32],
    "num_stages": [1, 2, 3],
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
        "name": "two_pass",
        "category": "parallelism",
        "summary": "walk a long row in wide chunks twice; the second pass finds it in cache, few registers hold it",
        "precondition": "N > 2048",
        "config": {"VARIANT": "two_pass", "BLOCK_COLS": 4096, "BLOCK_ROWS": 1, "num_stages": 1},
        "knobs": ["BLOCK_COLS", "STREAM", "num_warps"],
    },
    {
        "name": "three_pass",
        "category": "latency_hiding",
        "summary": "walk a long row three times, mean and squares apart: fewest registers, more programs fit",
        "precondition": "N > 2048",
        "config": {"VARIANT": "three_pass", "BLOCK_COLS": 4096, "BLOCK_ROWS": 1, "num_stages": 1},
        "knobs": ["BLOCK_COLS", "STREAM", "num_warps"],
    },
    {
        "name": "persistent",
        "category": "scheduling",
        "summary": "as many programs as fit, each walking rows with weight and bias kept in registers",
        "precondition": "N <= 32768 and M >= 1024",
        "config": {"VARIANT": "persistent"},
        "knobs": ["BLOCK_ROWS", "PROGRAMS_PER_SM", "STREAM", "num_warps", "num_stages"],
    },
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
def _rows_normalised(x_ptr, y_ptr, row, col, w, b, rows, cols, x_stride, y_stride, eps, STREAM: tl.constexpr):
    """Normalise a block of whole rows, variance from centred values; `w` and `b` are weight and bias in fp32."""
    mask = (row[:, None] < rows) & (col[None, :] < cols)
    places = x_ptr + row[:, None] * x_stride + col[None, :]
    if STREAM:
        x = tl.load(places, mask=mask, other=0.0, eviction_policy="evict_first").to(tl.float32)
    else:
        x = tl.load(places, mask=mask, other=0.0).to(tl.float32)
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


@triton.jit
def layer_norm_single_pass(
    x_ptr, w_ptr, b_ptr, y_ptr, rows, cols, x_stride, y_stride, eps,
    BLOCK_ROWS: tl.constexpr, BLOCK_COLS: tl.constexpr, STREAM: tl.constexpr,
):  # fmt: skip
    """One block of rows a program, each row once from memory."""
    row = tl.program_id(0).to(tl.int64) * BLOCK_ROWS + tl.arange(0, BLOCK_ROWS)
    col = tl.arange(0, BLOCK_COLS)
    w = tl.load(w_ptr + col, mask=col < cols, other=0.0, eviction_policy="evict_last").to(tl.float32)
    b = tl.load(b_ptr + col, mask=col < cols, other=0.0, eviction_policy="evict_last").to(tl.float32)
    _rows_normalised(x_ptr, y_ptr, row, col, w, b, rows, cols, x_stride, y_stride, eps, STREAM)


@triton.jit
def layer_norm_persistent(
    x_ptr, w_ptr, b_ptr, y_ptr, rows, cols, x_stride, y_stride, eps,
    BLOCK_ROWS: tl.constexpr, BLOCK_COLS: tl.constexpr, STREAM: tl.constexpr, STAGES: tl.constexpr,
):  # fmt: skip
    """A fixed number of programs share the blocks of rows; weight and bias are read once a program."""
    col = tl.arange(0, BLOCK_COLS)
    w = tl.load(w_ptr + col, mask=col < cols, other=0.0, eviction_policy="evict_last").to(tl.float32)
    b = tl.load(b_ptr + col, mask=col < cols, other=0.0, eviction_policy="evict_last").to(tl.float32)
    blocks = tl.cdiv(rows, BLOCK_ROWS)
    for block in tl.range(tl.program_id(0), blocks, tl.num_programs(0), num_stages=STAGES):
        row = (block * BLOCK_ROWS + tl.arange(0, BLOCK_ROWS)).to(tl.int64)
        _rows_normalised(x_ptr, y_ptr, row, col, w, b, rows, cols, x_stride, y_stride, eps, STREAM)


@triton.jit
def layer_norm_two_pass(
    x_ptr, w_ptr, b_ptr, y_ptr, x_stride, y_stride, eps,
    COLS: tl.constexpr, BLOCK_COLS: tl.constexpr, STREAM: tl.constexpr, STAGES: tl.constexpr,
):  # fmt: skip
    """One row a program in chunks: every lane's running mean and squares first (Welford), then the scaled row."""
    row = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, BLOCK_COLS)
    means = tl.zeros((BLOCK_COLS,), dtype=tl.float32)
    squares = tl.zeros((BLOCK_COLS,), dtype=tl.float32)
    for start in tl.range(0, COLS, BLOCK_COLS, num_stages=STAGES):
        c = start + col
        x = tl.load(x_ptr + row * x_stride + c, mask=c < COLS, other=0.0, eviction_policy="evict_last").to(tl.float32)
        step = tl.where(c < COLS, x - means, 0.0)
        means += step * (1.0 / (start // BLOCK_COLS + 1))
        squares += step * (x - means)
    # A lane misses the last chunk or none.
    seen = tl.where(col + (COLS - 1) // BLOCK_COLS * BLOCK_COLS < COLS, 1.0, 0.0) + (COLS - 1) // BLOCK_COLS
    mean = tl.sum(means * seen, axis=0) / COLS
    apart = means - mean
    scale = tl.rsqrt(tl.sum(squares + seen * apart * apart, axis=0) / COLS + eps)
    for start in tl.range(0, COLS, BLOCK_COLS, num_stages=STAGES):
        c = start + col
        x = tl.load(x_ptr + row * x_stride + c, mask=c < COLS, other=0.0, eviction_policy="evict_first")
        w = tl.load(w_ptr + c, mask=c < COLS, other=0.0, eviction_policy="evict_last").to(tl.float32)
        b = tl.load(b_ptr + c, mask=c < COLS, other=0.0, eviction_policy="evict_last").to(tl.float32)
        y = ((x.to(tl.float32) - mean) * scale * w + b).to(y_ptr.dtype.element_ty)
        if STREAM:
            tl.store(y_ptr + row * y_stride + c, y, mask=c < COLS, cache_modifier=".cs")
        else:
            tl.store(y_ptr + row * y_stride + c, y, mask=c < COLS)


@triton.jit
def layer_norm_three_pass(
    x_ptr, w_ptr, b_ptr, y_ptr, x_stride, y_stride, eps,
    COLS: tl.constexpr, BLOCK_COLS: tl.constexpr, STREAM: tl.constexpr, STAGES: tl.constexpr,
):  # fmt: skip
    """One row a program in chunks: mean, then squares of what is centred, then the result; the row stays in L1."""
    row = tl.program_id(0).to(tl.int64)
    place = tl.arange(0, BLOCK_COLS // 8)[:, None] * 8 + tl.arange(0, 8)[None, :]
    sums = tl.zeros((BLOCK_COLS // 8,), dtype=tl.float32)
    for start in tl.range(0, COLS, BLOCK_COLS, num_stages=STAGES):
        c = start + place
        x = tl.load(x_ptr + row * x_stride + c, mask=c < COLS, other=0.0, eviction_policy="evict_last")
        sums += tl.sum(x.to(tl.float32), axis=1)
    mean = tl.sum(sums, axis=0) / COLS
    squares = tl.zeros((BLOCK_COLS // 8,), dtype=tl.float32)
    for start in tl.range(0, COLS, BLOCK_COLS, num_stages=STAGES):
        c = start + place
        x = tl.load(x_ptr + row * x_stride + c, mask=c < COLS, other=0.0, eviction_policy="evict_last")
        centred = tl.where(c < COLS, x.to(tl.float32) - mean, 0.0)
        squares += tl.sum(centred * centred, axis=1)
    scale = tl.rsqrt(tl.sum(squares, axis=0) / COLS + eps)
    for start in tl.range(0, COLS, BLOCK_COLS, num_stages=STAGES):
        c = start + place
        x = tl.load(x_ptr + row * x_stride + c, mask=c < COLS, other=0.0, eviction_policy="evict_first")
        w = tl.load(w_ptr + c, mask=c < COLS, other=0.0, eviction_policy="evict_last").to(tl.float32)
        b = tl.load(b_ptr + c, mask=c < COLS, other=0.0, eviction_policy="evict_last").to(tl.float32)
        y = ((x.to(tl.float32) - mean) * scale * w + b).to(y_ptr.dtype.element_ty)
        if STREAM:
            tl.store(y_ptr + row * y_stride + c, y, mask=c < COLS, cache_modifier=".cs")
        else:
            tl.store(y_ptr + row * y_stride + c, y, mask=c < COLS)


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
    """Return a good start for a shape: rows in registers, 16 to 32 elements a thread; long ones from cache again."""
    rows, cols = shape
    wide = triton.next_power_of_2(cols)
    block_rows = max(1, min(2048 // wide, triton.next_power_of_2(rows), 16))
    warps = max(1, min(wide * block_rows // (1024 if dtype != "fp32" else 512), 16))
    return {
        "VARIANT": "single_pass" if wide <= 8192 else "three_pass",
        "BLOCK_ROWS": block_rows,
        "BLOCK_COLS": 0 if wide <= 8192 else 16384,
        "PROGRAMS_PER_SM": 4,
        "STREAM": False,
        "num_warps": warps,
        "num_stages": 1,
    }


_CHUNKED = {"two_pass": layer_norm_two_pass, "three_pass": layer_norm_three_pass}


def _plan(shape, dtype, config, multiprocessors):
    """Return (kernel, grid, constexprs, launch options) of a configuration; missing keys take the default."""
    rows, cols = shape
    knobs = default_config(shape, dtype) | (config or {})
    wide = triton.next_power_of_2(cols)
    whole = {"BLOCK_ROWS": knobs["BLOCK_ROWS"], "BLOCK_COLS": wide, "STREAM": knobs["STREAM"]}
    stages = {"STAGES": knobs["num_stages"]}
    options = {"num_warps": knobs["num_warps"], "num_stages": knobs["num_stages"]}
    blocks = triton.cdiv(rows, knobs["BLOCK_ROWS"])
    if knobs["VARIANT"] in _CHUNKED:
        width = max(8, min(knobs["BLOCK_COLS"] or 4096, wide))
        chunked = {"COLS": cols, "BLOCK_COLS": width, "STREAM": knobs["STREAM"]}
        return _CHUNKED[knobs["VARIANT"]], (rows,), chunked | stages, options
    if knobs["VARIANT"] == "persistent":
        programs = multiprocessors * knobs["PROGRAMS_PER_SM"] if multiprocessors else blocks
        return layer_norm_persistent, (min(blocks, programs),), whole | stages, options
    return layer_norm_single_pass, (blocks,), whole, options


def _multiprocessors(device):
    return torch.cuda.get_device_properties(device).multi_processor_count if device.type == "cuda" else 0


def launch(x, weight, bias, eps=EPS, *, config=None, out=None):
    """Return the normalised rows of x (MxN, unit column stride) in its storage type, written to `out` if given."""
    if x.ndim != 2 or x.stride(1) != 1 or weight.shape != (x.shape[1],) or bias.shape != weight.shape:
        raise ValueError(f"need x of MxN with unit column stride, weight and bias of N, got {x.shape}, {weight.shape}")
    out = torch.empty_like(x) if out is None else out
    dtype = next(name for name, one in _DTYPES.items() if one == x.dtype)
    kernel, grid, constexprs, options = _plan(tuple(x.shape), dtype, config, _multiprocessors(x.device))
    width = () if "COLS" in constexprs else x.shape
    kernel[grid](x, weight, bias, out, *width, x.stride(0), out.stride(0), eps, **constexprs, **options)
    return out


def static_cases(shape, dtype, config=None):
    """Return the launches of a shape as `LaunchCase`s, for compilers and counters; needs kopt_kb installed."""
    from kopt_kb.kernels.launch_case import LaunchCase, TensorSpec

    rows, cols = shape
    kernel, grid, constexprs, options = _plan(shape, dtype, config, None)
    x, vector = TensorSpec((rows, cols), dtype), TensorSpec((cols,), dtype)
    width = () if "COLS" in constexprs else (rows, cols)
    return (LaunchCase(kernel, grid, (x, vector, vector, x, *width, cols, cols, EPS), constexprs, **options),)
