"""Matrix product with fp32 accumulation in cuTile: kernels, launcher, reference and tuning space in one file."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
from __future__ import annotations

from typing import TypeAlias

import cuda.tile as ct
import torch

__all__ = ["OP", "OP_OPTIONS", "TUNING_SPACE", "VARIANTS", "default_config", "launch", "make_inputs", "reference"]

OP = "gemm"

OP_OPTIONS = {"batch": 1}

TUNING_SPACE = {
    "TILE_M": [64, 128, 256],
    "TILE_N": [64, 128, 256],
    "TILE_K": [32, 64, 128],
    "GROUP_M": [1, 4, 8, 16],
    "BLOCKS_PER_SM": [1, 2],
    "num_ctas": [1, 2, 4],
    "occupancy": [1, 2, 4],
    "latency": [2, 4, 6, 10],
    "store_tma": [True, False],
}

VARIANTS = [
    {
        "name": "tiles",
        "category": "caching",
        "summary": "one tile a block, walked in groups of rows so that B stays in cache",
        "precondition": "M >= 1",
        "config": {"VARIANT": "tiles"},
        "knobs": ["TILE_M", "TILE_N", "TILE_K", "GROUP_M", "occupancy"],
    },
    {
        "name": "persistent",
        "category": "scheduling",
        "summary": "as many blocks as fit walk the tiles, so that a store overlaps the next tile's loads",
        "precondition": "M * N >= 1048576",
        "config": {"VARIANT": "persistent"},
        "knobs": ["TILE_M", "TILE_N", "TILE_K", "GROUP_M", "BLOCKS_PER_SM"],
    },
    {
        "name": "clusters",
        "category": "memory_traffic",
        "summary": "two CTAs share a tile's operands",
        "precondition": "M >= 1024 and N >= 1024",
        "config": {"num_ctas": 2},
        "knobs": ["num_ctas", "TILE_M", "TILE_N"],
    },
    {
        "name": "deep_prefetch",
        "category": "latency_hiding",
        "summary": "more tiles of A and B in flight",
        "precondition": "K >= 512",
        "config": {"latency": 6},
        "knobs": ["latency", "TILE_K"],
    },
]

_DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32}
_ZERO = ct.PaddingMode.ZERO
_Int: TypeAlias = ct.Constant[int]
_Flag: TypeAlias = ct.Constant[bool]


def _place(at, rows, cols, GROUP_M: _Int):
    """Return the tile that a number stands for when groups of rows are walked column by column."""
    group = at // (GROUP_M * cols)
    first = group * GROUP_M
    height = min(rows - first, GROUP_M)
    inside = at - group * GROUP_M * cols
    return first + inside % height, inside // height


def _product(a, b, row, col, TILE_M: _Int, TILE_N: _Int, TILE_K: _Int, LATENCY: _Int):
    """Return a tile of the product in fp32."""
    acc = ct.zeros((TILE_M, TILE_N), ct.float32)
    for step in range(ct.num_tiles(a, axis=1, shape=(TILE_M, TILE_K))):
        left = ct.load(a, (row, step), (TILE_M, TILE_K), padding_mode=_ZERO, latency=LATENCY)
        right = ct.load(b, (step, col), (TILE_K, TILE_N), padding_mode=_ZERO, latency=LATENCY)
        acc = ct.mma(left, right, acc)
    return acc


@ct.kernel
def matmul_tiles(
    a, b, c, TILE_M: _Int, TILE_N: _Int, TILE_K: _Int, GROUP_M: _Int, LATENCY: _Int, STORE_TMA: _Flag
):  # fmt: skip
    """One tile of C a block."""
    rows, cols = ct.cdiv(c.shape[0], TILE_M), ct.cdiv(c.shape[1], TILE_N)
    row, col = _place(ct.bid(0), rows, cols, GROUP_M)
    acc = _product(a, b, row, col, TILE_M, TILE_N, TILE_K, LATENCY)
    ct.store(c, (row, col), ct.astype(acc, c.dtype), allow_tma=STORE_TMA)


@ct.kernel
def matmul_persistent(
    a, b, c, TILE_M: _Int, TILE_N: _Int, TILE_K: _Int, GROUP_M: _Int, LATENCY: _Int, STORE_TMA: _Flag
):  # fmt: skip
    """A fixed number of blocks share the tiles of C."""
    rows, cols = ct.cdiv(c.shape[0], TILE_M), ct.cdiv(c.shape[1], TILE_N)
    for at in range(ct.bid(0), rows * cols, ct.num_blocks(0)):
        row, col = _place(at, rows, cols, GROUP_M)
        acc = _product(a, b, row, col, TILE_M, TILE_N, TILE_K, LATENCY)
        ct.store(c, (row, col), ct.astype(acc, c.dtype), allow_tma=STORE_TMA)


_KERNELS = {"tiles": matmul_tiles, "persistent": matmul_persistent}
_HINTED: dict[tuple[object, ...], object] = {}


def _hinted(variant, occupancy, num_ctas):
    """Return a kernel with these hints; each is made once, since each has a cache of its own."""
    key = (variant, occupancy, num_ctas)
    if key not in _HINTED:
        _HINTED[key] = _KERNELS[variant].replace_hints(occupancy=occupancy, num_ctas=num_ctas)
    return _HINTED[key]


def make_inputs(shape, dtype, device="cuda", seed=0):
    """Return (A of MxK, B of KxN), row-major in that storage type, from a seed."""
    rows, cols, depth = shape
    generator = torch.Generator(device=device).manual_seed(seed)
    a = torch.randn(rows, depth, generator=generator, device=device, dtype=torch.float32)
    b = torch.randn(depth, cols, generator=generator, device=device, dtype=torch.float32)
    return a.to(_DTYPES[dtype]), b.to(_DTYPES[dtype])


def reference(a, b):
    """Return the product in float64."""
    return a.double() @ b.double()


def default_config(shape, dtype):
    """Return a good start for a shape: large tiles once they fill the product, small ones before."""
    rows, cols, _ = shape
    large = min(rows, cols) >= 1024 and dtype != "fp32"
    tiles = (128, 128, 64) if large else (64, 64, 32)
    hints = {"GROUP_M": 8, "BLOCKS_PER_SM": 1, "num_ctas": 1, "occupancy": 1, "latency": 4, "store_tma": True}
    return {"VARIANT": "tiles"} | dict(zip(("TILE_M", "TILE_N", "TILE_K"), tiles, strict=True)) | hints


def _plan(shape, dtype, config, multiprocessors):
    """Return (knobs, grid) of a configuration; missing keys take the default."""
    rows, cols, _ = shape
    knobs = default_config(shape, dtype) | (config or {})
    tiles = -(-rows // knobs["TILE_M"]) * -(-cols // knobs["TILE_N"])
    if knobs["VARIANT"] == "persistent" and multiprocessors:
        tiles = min(tiles, multiprocessors // knobs["num_ctas"] * knobs["BLOCKS_PER_SM"])
    return knobs, (tiles, 1, 1)


def _multiprocessors(device):
    return torch.cuda.get_device_properties(device).multi_processor_count if device.type == "cuda" else 0


def launch(a, b, *, config=None, out=None):
    """Return A B in A's storage type for row-major A of MxK and B of KxN, written to `out` if given."""
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[0] or a.stride(1) != 1 or b.stride(1) != 1:
        raise ValueError(f"need row-major MxK and KxN, got {a.shape}, {b.shape}")
    rows, depth = a.shape
    out = torch.empty((rows, b.shape[1]), dtype=a.dtype, device=a.device) if out is None else out
    dtype = next(name for name, one in _DTYPES.items() if one == a.dtype)
    knobs, grid = _plan((rows, b.shape[1], depth), dtype, config, _multiprocessors(a.device))
    kernel = _hinted(knobs["VARIANT"], knobs["occupancy"], knobs["num_ctas"])
    tiles = tuple(knobs[one] for one in ("TILE_M", "TILE_N", "TILE_K", "GROUP_M", "latency", "store_tma"))
    ct.launch(torch.cuda.current_stream(), grid, kernel, (a, b, out, *tiles))
    return out
