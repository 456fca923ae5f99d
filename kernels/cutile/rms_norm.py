"""RMS normalisation over rows in cuTile: kernels, launcher, reference and tuning space in one file."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
from __future__ import annotations

from typing import TypeAlias

import cuda.tile as ct
import torch

__all__ = ["OP", "OP_OPTIONS", "TUNING_SPACE", "VARIANTS", "default_config", "launch", "make_inputs", "reference"]

OP = "rms_norm"

OP_OPTIONS = {"weight": True}

EPS = 1e-6

TUNING_SPACE = {
    "TILE_ROWS": [1, 2, 4, 8],
    "TILE_COLS": [1024, 2048, 4096, 8192],
    "BLOCKS_PER_SM": [1, 2, 4, 8, 16],
    "occupancy": [1, 2, 4, 8, 16],
    "latency": [1, 2, 4, 8],
    "store_tma": [True, False],
}

VARIANTS = [
    {
        "name": "whole_rows",
        "category": "memory_traffic",
        "summary": "a tile holds whole rows, so that each is read once",
        "precondition": "N <= 16384",
        "config": {"VARIANT": "whole_rows"},
        "knobs": ["TILE_ROWS", "occupancy", "latency", "store_tma"],
    },
    {
        "name": "persistent",
        "category": "scheduling",
        "summary": "as many blocks as fit walk the rows, with the weight kept in registers",
        "precondition": "N <= 16384 and M >= 1024",
        "config": {"VARIANT": "persistent"},
        "knobs": ["TILE_ROWS", "BLOCKS_PER_SM", "occupancy", "latency"],
    },
    {
        "name": "chunks",
        "category": "parallelism",
        "summary": "one row a block in chunks, twice; the second pass finds it in cache",
        "precondition": "N > 2048",
        "config": {"VARIANT": "chunks"},
        "knobs": ["TILE_COLS", "occupancy", "latency"],
    },
]

_DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32}
_ZERO = ct.PaddingMode.ZERO
_Int: TypeAlias = ct.Constant[int]
_Flag: TypeAlias = ct.Constant[bool]


def _normalised(x, w, cols: _Int, eps: ct.Constant[float]):
    """Return rows of fp32 over the root of their mean square, times the weight; padding counts as 0."""
    mean = ct.sum(x * x, axis=1, keepdims=True) / cols
    return x * ct.rsqrt(mean + eps) * w


@ct.kernel
def rms_norm_whole_rows(
    x, w, y, cols: _Int, eps: ct.Constant[float], TILE_ROWS: _Int, TILE_COLS: _Int, LATENCY: _Int, STORE_TMA: _Flag
):
    """One tile of whole rows a block."""
    at = ct.bid(0)
    weight = ct.astype(ct.load(w, (0,), (TILE_COLS,), padding_mode=_ZERO), ct.float32)
    rows = ct.load(x, (at, 0), (TILE_ROWS, TILE_COLS), padding_mode=_ZERO, latency=LATENCY)
    found = _normalised(ct.astype(rows, ct.float32), ct.reshape(weight, (1, TILE_COLS)), cols, eps)
    ct.store(y, (at, 0), ct.astype(found, y.dtype), allow_tma=STORE_TMA)


@ct.kernel
def rms_norm_persistent(
    x, w, y, cols: _Int, eps: ct.Constant[float], TILE_ROWS: _Int, TILE_COLS: _Int, LATENCY: _Int, STORE_TMA: _Flag
):
    """A fixed number of blocks share the tiles of rows; the weight is read once a block."""
    weight = ct.astype(ct.load(w, (0,), (TILE_COLS,), padding_mode=_ZERO), ct.float32)
    weight = ct.reshape(weight, (1, TILE_COLS))
    for at in range(ct.bid(0), ct.num_tiles(x, axis=0, shape=(TILE_ROWS, TILE_COLS)), ct.num_blocks(0)):
        rows = ct.load(x, (at, 0), (TILE_ROWS, TILE_COLS), padding_mode=_ZERO, latency=LATENCY)
        found = _normalised(ct.astype(rows, ct.float32), weight, cols, eps)
        ct.store(y, (at, 0), ct.astype(found, y.dtype), allow_tma=STORE_TMA)


@ct.kernel
def rms_norm_chunks(
    x, w, y, cols: _Int, eps: ct.Constant[float], TILE_ROWS: _Int, TILE_COLS: _Int, LATENCY: _Int, STORE_TMA: _Flag
):
    """Rows in chunks: squares first, then the scaled rows."""
    at = ct.bid(0)
    chunks = ct.num_tiles(x, axis=1, shape=(TILE_ROWS, TILE_COLS))
    squares = ct.zeros((TILE_ROWS, TILE_COLS), ct.float32)
    for chunk in range(chunks):
        part = ct.load(x, (at, chunk), (TILE_ROWS, TILE_COLS), padding_mode=_ZERO, latency=LATENCY)
        wide = ct.astype(part, ct.float32)
        squares = squares + wide * wide
    scale = ct.rsqrt(ct.sum(squares, axis=1, keepdims=True) / cols + eps)
    for chunk in range(chunks):
        part = ct.load(x, (at, chunk), (TILE_ROWS, TILE_COLS), padding_mode=_ZERO, latency=LATENCY)
        weight = ct.reshape(ct.load(w, (chunk,), (TILE_COLS,), padding_mode=_ZERO), (1, TILE_COLS))
        found = ct.astype(part, ct.float32) * scale * ct.astype(weight, ct.float32)
        ct.store(y, (at, chunk), ct.astype(found, y.dtype), allow_tma=STORE_TMA)


_KERNELS = {"whole_rows": rms_norm_whole_rows, "persistent": rms_norm_persistent, "chunks": rms_norm_chunks}
_HINTED: dict[tuple[object, ...], object] = {}


def _hinted(variant, occupancy):
    """Return a kernel with these hints; each is made once, since each has a cache of its own."""
    key = (variant, occupancy)
    if key not in _HINTED:
        _HINTED[key] = _KERNELS[variant].replace_hints(occupancy=occupancy)
    return _HINTED[key]


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


def _power_of_two(number):
    return 1 << (number - 1).bit_length()


def default_config(shape, dtype):  # noqa: ARG001
    """Return a good start for a shape: whole rows up to a width that registers hold."""
    rows, cols = shape
    wide = _power_of_two(cols)
    if wide > 16384:
        return {"VARIANT": "chunks", "TILE_ROWS": 1, "TILE_COLS": 4096} | _HINTS
    tile_rows = max(1, min(2048 // wide, _power_of_two(rows), 16))
    return {"VARIANT": "whole_rows", "TILE_ROWS": tile_rows, "TILE_COLS": wide} | _HINTS


_HINTS = {"BLOCKS_PER_SM": 4, "occupancy": 4, "latency": 2, "store_tma": True}


def _plan(shape, dtype, config, multiprocessors):
    """Return (knobs, grid) of a configuration; missing keys take the default."""
    rows, cols = shape
    knobs = default_config(shape, dtype) | (config or {})
    wide = _power_of_two(cols)
    knobs["TILE_COLS"] = min(knobs["TILE_COLS"], wide) if knobs["VARIANT"] == "chunks" else wide
    blocks = -(-rows // knobs["TILE_ROWS"])
    if knobs["VARIANT"] == "persistent" and multiprocessors:
        blocks = min(blocks, multiprocessors * knobs["BLOCKS_PER_SM"])
    return knobs, (blocks, 1, 1)


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
    knobs, grid = _plan(tuple(x.shape), dtype, config, _multiprocessors(x.device))
    kernel = _hinted(knobs["VARIANT"], knobs["occupancy"])
    tiles = (knobs["TILE_ROWS"], knobs["TILE_COLS"], knobs["latency"], knobs["store_tma"])
    ct.launch(torch.cuda.current_stream(), grid, kernel, (x, weight, out, x.shape[1], eps, *tiles))
    return out
