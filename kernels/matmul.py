"""Matrix product with fp32 accumulation: Triton kernels, launcher, reference and tuning space in one file."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
from __future__ import annotations

import torch
import triton
import triton.language as tl

__all__ = ["OP", "OP_OPTIONS", "TUNING_SPACE", "VARIANTS", "default_config", "launch", "make_inputs", "reference"]

OP = "gemm"

OP_OPTIONS = {"batch": 1}

TUNING_SPACE = {
    "BLOCK_M": [64, 128, 256],
    "BLOCK_N": [64, 128, 256],
    "BLOCK_K": [32, 64, 128],
    "GROUP_M": [1, 4, 8, 16],
    "PROGRAMS_PER_SM": [1, 2],
    "HALVES": [False, True],
    "num_warps": [4, 8],
    "num_stages": [2, 3, 4, 5],
}

VARIANTS = [
    {
        "name": "pointers",
        "category": "memory_access",
        "summary": "one tile a program, tiles walked in groups of rows so that B stays in cache, pointer loads",
        "precondition": "M >= 1",
        "config": {"VARIANT": "pointers"},
        "knobs": ["BLOCK_M", "BLOCK_N", "BLOCK_K", "GROUP_M", "num_warps", "num_stages"],
    },
    {
        "name": "descriptors",
        "category": "memory_access",
        "summary": "tensor descriptors: whole tiles copied by the bulk copy engine, no address arithmetic",
        "precondition": "N * element_bytes % 16 == 0 and K * element_bytes % 16 == 0",
        "config": {"VARIANT": "descriptors"},
        "knobs": ["BLOCK_M", "BLOCK_N", "BLOCK_K", "GROUP_M", "num_warps", "num_stages"],
    },
    {
        "name": "persistent",
        "category": "scheduling",
        "summary": "one program a multiprocessor walking tiles, so that a store overlaps the next tile's loads",
        "precondition": "N * element_bytes % 16 == 0 and K * element_bytes % 16 == 0",
        "config": {"VARIANT": "persistent"},
        "knobs": ["BLOCK_M", "BLOCK_N", "BLOCK_K", "GROUP_M", "num_warps", "num_stages"],
    },
    {
        "name": "deep_pipeline",
        "category": "latency_hiding",
        "summary": "more tiles of A and B in flight",
        "precondition": "K >= 512",
        "config": {"num_stages": 4},
        "knobs": ["num_stages", "BLOCK_K"],
    },
    {
        "name": "halved_store",
        "category": "latency_hiding",
        "summary": "store a tile in two halves, which leaves shared memory for one more stage of loads",
        "precondition": "N * element_bytes % 16 == 0 and K * element_bytes % 16 == 0 and N >= 1024 and M >= 1024",
        "config": {
            "VARIANT": "persistent", "HALVES": True, "BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 64,
            "num_warps": 8, "num_stages": 4,
        },
        "knobs": ["GROUP_M"],
    },
    {
        "name": "tall_groups",
        "category": "caching",
        "summary": "walk taller or flatter groups of tiles, so that the tiles in flight share more of A and B in L2",
        "precondition": "M >= 1024 and N >= 1024",
        "config": {},
        "knobs": ["GROUP_M"],
    },
    {
        "name": "two_residents",
        "category": "parallelism",
        "summary": "two smaller programs a multiprocessor, one multiplies while the other stores",
        "precondition": "N * element_bytes % 16 == 0 and K * element_bytes % 16 == 0 and M >= 1024 and N >= 1024",
        "config": {
            "VARIANT": "persistent", "PROGRAMS_PER_SM": 2, "HALVES": False, "BLOCK_M": 128, "BLOCK_N": 128,
            "BLOCK_K": 64, "num_warps": 4, "num_stages": 3,
        },
        "knobs": ["GROUP_M"],
    },
    {
        "name": "tall_tiles",
        "category": "compute",
        "summary": "tiles with more rows than columns: A is read from shared memory less often a product",
        "precondition": "M >= 1024 and N >= 1024",
        "config": {"BLOCK_M": 256, "BLOCK_N": 128, "BLOCK_K": 64, "num_warps": 8},
        "knobs": ["num_stages", "GROUP_M"],
    },
]  # fmt: skip

_DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32}


@triton.jit
def _product(a, b, acc, WIDEN: tl.constexpr):
    """Return acc + a b; widened only where Triton's interpreter would multiply the bit patterns of bf16."""
    if WIDEN:
        a = a.to(tl.float32)
        b = b.to(tl.float32)
    return tl.dot(a, b, acc, input_precision="ieee")  # fp32 operands are not rounded to tf32


@triton.jit
def _tile_of(tile, m, n, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, GROUP_M: tl.constexpr):
    """Return the (row, column) of a tile when groups of GROUP_M tile rows are walked column by column."""
    tiles_m = tl.cdiv(m, BLOCK_M)
    tiles_n = tl.cdiv(n, BLOCK_N)
    in_group = GROUP_M * tiles_n
    first = (tile // in_group) * GROUP_M
    height = tl.minimum(tiles_m - first, GROUP_M)
    return first + (tile % in_group) % height, (tile % in_group) // height


@triton.jit
def matmul_pointers(
    a_ptr, b_ptr, c_ptr, m, n, k, a_stride, b_stride, c_stride,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
    WIDEN: tl.constexpr,
):  # fmt: skip
    """One tile of C a program, loads through pointers with masks at the edges."""
    tile_m, tile_n = _tile_of(tl.program_id(0), m, n, BLOCK_M, BLOCK_N, GROUP_M)
    row = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    col = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    depth = tl.arange(0, BLOCK_K)
    a_tile = a_ptr + row[:, None].to(tl.int64) * a_stride + depth[None, :]
    b_tile = b_ptr + depth[:, None].to(tl.int64) * b_stride + col[None, :]
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, k, BLOCK_K):
        inside = depth < k - start
        a = tl.load(a_tile, mask=(row[:, None] < m) & inside[None, :], other=0.0)
        b = tl.load(b_tile, mask=inside[:, None] & (col[None, :] < n), other=0.0)
        acc = _product(a, b, acc, WIDEN)
        a_tile += BLOCK_K
        b_tile += BLOCK_K * b_stride
    place = c_ptr + row[:, None].to(tl.int64) * c_stride + col[None, :]
    tl.store(place, acc.to(c_ptr.dtype.element_ty), mask=(row[:, None] < m) & (col[None, :] < n))


@triton.jit
def matmul_descriptors(
    a_desc, b_desc, c_desc, m, n, k,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
    WIDEN: tl.constexpr,
):  # fmt: skip
    """One tile of C a program, tiles of A and B through tensor descriptors, which pad with zeros."""
    tile_m, tile_n = _tile_of(tl.program_id(0), m, n, BLOCK_M, BLOCK_N, GROUP_M)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, k, BLOCK_K):
        a = a_desc.load([tile_m * BLOCK_M, start])
        b = b_desc.load([start, tile_n * BLOCK_N])
        acc = _product(a, b, acc, WIDEN)
    c_desc.store([tile_m * BLOCK_M, tile_n * BLOCK_N], acc.to(c_desc.dtype))


@triton.jit
def matmul_persistent(
    a_desc, b_desc, c_desc, m, n, k,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
    WIDEN: tl.constexpr, HALVES: tl.constexpr,
):  # fmt: skip
    """A fixed number of programs share the tiles; loops are flattened so that tiles overlap.

    With HALVES the tile leaves in two stores through half the shared memory; c_desc has half the columns then.
    """
    tiles = tl.cdiv(m, BLOCK_M) * tl.cdiv(n, BLOCK_N)
    for tile in tl.range(tl.program_id(0), tiles, tl.num_programs(0), flatten=True):
        tile_m, tile_n = _tile_of(tile, m, n, BLOCK_M, BLOCK_N, GROUP_M)
        acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for start in range(0, k, BLOCK_K):
            a = a_desc.load([tile_m * BLOCK_M, start])
            b = b_desc.load([start, tile_n * BLOCK_N])
            acc = _product(a, b, acc, WIDEN)
        if HALVES:
            pair = tl.permute(tl.reshape(acc, (BLOCK_M, 2, BLOCK_N // 2)), (0, 2, 1))
            left, right = tl.split(pair)
            c_desc.store([tile_m * BLOCK_M, tile_n * BLOCK_N], left.to(c_desc.dtype))
            c_desc.store([tile_m * BLOCK_M, tile_n * BLOCK_N + BLOCK_N // 2], right.to(c_desc.dtype))
        else:
            c_desc.store([tile_m * BLOCK_M, tile_n * BLOCK_N], acc.to(c_desc.dtype))


_KERNELS = {
    "pointers": matmul_pointers,
    "descriptors": matmul_descriptors,
    "persistent": matmul_persistent,
}


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
    if min(rows, cols) >= 1024 and dtype != "fp32":
        tiles = {"BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 64, "num_warps": 8}
    else:
        tiles = {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32, "num_warps": 4}
    stages = 2 if torch.version.hip else 3  # AMD's pipeline keeps one stage in registers; two in LDS would not fit
    return {"VARIANT": "pointers", "GROUP_M": 8, "PROGRAMS_PER_SM": 1, "HALVES": False, "num_stages": stages} | tiles


def _plan(shape, dtype, config, multiprocessors):
    """Return (knobs, grid, constexprs, launch options) of a configuration; missing keys take the default."""
    rows, cols, _ = shape
    knobs = default_config(shape, dtype) | (config or {})
    tiles = triton.cdiv(rows, knobs["BLOCK_M"]) * triton.cdiv(cols, knobs["BLOCK_N"])
    if knobs["VARIANT"] == "persistent" and multiprocessors:
        tiles = min(tiles, multiprocessors * knobs["PROGRAMS_PER_SM"])
    constexprs = {key: knobs[key] for key in ("BLOCK_M", "BLOCK_N", "BLOCK_K", "GROUP_M")}
    if knobs["VARIANT"] == "persistent":
        constexprs["HALVES"] = knobs["HALVES"]
    constexprs["WIDEN"] = triton.knobs.runtime.interpret
    return knobs, (tiles,), constexprs, {"num_warps": knobs["num_warps"], "num_stages": knobs["num_stages"]}


def _blocks(knobs):
    """Return the tiles of A, B and C that the descriptors copy."""
    stored = knobs["BLOCK_N"] // 2 if knobs["VARIANT"] == "persistent" and knobs["HALVES"] else knobs["BLOCK_N"]
    return (
        [knobs["BLOCK_M"], knobs["BLOCK_K"]],
        [knobs["BLOCK_K"], knobs["BLOCK_N"]],
        [knobs["BLOCK_M"], stored],
    )


def _multiprocessors(device):
    return torch.cuda.get_device_properties(device).multi_processor_count if device.type == "cuda" else 0


def launch(a, b, *, config=None, out=None):
    """Return A B in A's storage type for row-major A of MxK and B of KxN, written to `out` if given.

    Raises:
        ValueError: The operands do not fit, or a descriptor variant meets rows that are not a multiple of
            16 bytes (tensor descriptors need that).
    """
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[0] or a.stride(1) != 1 or b.stride(1) != 1:
        raise ValueError(f"need row-major A of MxK and B of KxN, got {tuple(a.shape)} and {tuple(b.shape)}")
    shape = (a.shape[0], b.shape[1], a.shape[1])
    out = a.new_empty(shape[:2]) if out is None else out
    dtype = next(name for name, one in _DTYPES.items() if one == a.dtype)
    knobs, grid, constexprs, options = _plan(shape, dtype, config, _multiprocessors(a.device))
    kernel = _KERNELS[knobs["VARIANT"]]
    if knobs["VARIANT"] == "pointers":
        kernel[grid](a, b, out, *shape, a.stride(0), b.stride(0), out.stride(0), **constexprs, **options)
        return out
    if any(one.stride(0) * one.element_size() % 16 for one in (a, b, out)):
        raise ValueError(f"tensor descriptors need rows of a multiple of 16 bytes, shape is {shape}")
    from triton.tools.tensor_descriptor import TensorDescriptor

    pairs = zip((a, b, out), _blocks(knobs), strict=True)
    kernel[grid](*(TensorDescriptor.from_tensor(*pair) for pair in pairs), *shape, **constexprs, **options)
    return out


def static_cases(shape, dtype, config=None):
    """Return the launches of a shape as `LaunchCase`s, for compilers and counters; needs kopt_kb installed."""
    from kopt_kb.kernels.launch_case import LaunchCase, TensorSpec

    rows, cols, depth = shape
    knobs, grid, constexprs, options = _plan(shape, dtype, config, None)
    shapes = ((rows, depth), (depth, cols), (rows, cols))
    if knobs["VARIANT"] == "pointers":
        tensors = tuple(TensorSpec(one, dtype) for one in shapes)
        scalars = (*shape, depth, cols, cols)
    else:
        pairs = zip(shapes, _blocks(knobs), strict=True)
        tensors = tuple(TensorSpec(one, dtype, block_shape=tuple(block)) for one, block in pairs)
        scalars = tuple(shape)
    return (LaunchCase(_KERNELS[knobs["VARIANT"]], grid, (*tensors, *scalars), constexprs, **options),)
