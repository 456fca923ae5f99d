"""Matrix product with fp32 accumulation: Triton and Gluon kernels, launcher, reference and tuning space in one file."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
from __future__ import annotations

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

OP = "gemm"
OP_OPTIONS = {"batch": 1}
TUNED_CONFIGS: dict = {}  # kb writes others at the end of a tuned file: they name the variant that they complete
TUNING_SPACE = {
    "BLOCK_M": [16, 64, 128, 256], "BLOCK_N": [32, 64, 128, 256], "BLOCK_K": [32, 64, 128, 256],
    "GROUP_M": [1, 4, 8, 16], "PROGRAMS_PER_SM": [1, 2], "HALVES": [False, True],
    "num_warps": [4, 8], "num_stages": [2, 3, 4, 5, 6],
}  # fmt: skip
VARIANTS = [
    {
        "name": "pointers", "category": "memory_access", "precondition": "M >= 1", "config": {"VARIANT": "pointers"},
        "summary": "one tile a program, tiles walked in groups of rows so that B stays in cache, pointer loads",
        "knobs": ["BLOCK_M", "BLOCK_N", "BLOCK_K", "GROUP_M", "num_warps", "num_stages"],
    },
    {
        "name": "descriptors", "category": "memory_access", "config": {"VARIANT": "descriptors"},
        "summary": "tensor descriptors: whole tiles copied by the bulk copy engine, no address arithmetic",
        "precondition": "N * element_bytes % 16 == 0 and K * element_bytes % 16 == 0",
        "knobs": ["BLOCK_M", "BLOCK_N", "BLOCK_K", "GROUP_M", "num_warps", "num_stages"],
    },
    {
        "name": "persistent", "category": "scheduling", "config": {"VARIANT": "persistent"},
        "summary": "one program a multiprocessor walking tiles, so that a store overlaps the next tile's loads",
        "precondition": "N * element_bytes % 16 == 0 and K * element_bytes % 16 == 0",
        "knobs": ["BLOCK_M", "BLOCK_N", "BLOCK_K", "GROUP_M", "num_warps", "num_stages"],
    },
    {
        "name": "roles", "category": "latency_hiding", "targets": ["sm_90"],
        "summary": "one warp copies tiles, two warpgroups of 64 rows each multiply them and store by the copy engine",
        "precondition": "N % 8 == 0 and K % 8 == 0 and element_bytes == 2 and M >= 512 and N >= 512",
        "config": {"VARIANT": "roles", "BLOCK_N": 256, "BLOCK_K": 64, "num_stages": 4}, "knobs": ["GROUP_M"],
    },
    {
        "name": "halved_store", "category": "latency_hiding",
        "summary": "store a tile in two halves, which leaves shared memory for one more stage of loads",
        "precondition": "N * element_bytes % 16 == 0 and K * element_bytes % 16 == 0 and N >= 1024 and M >= 1024",
        "config": {
            "VARIANT": "persistent", "HALVES": True, "BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 64,
            "num_warps": 8, "num_stages": 4,
        }, "knobs": ["GROUP_M"],
    },
    {
        "name": "tall_groups", "category": "caching", "precondition": "M >= 1024 and N >= 1024",
        "summary": "walk taller or flatter groups of tiles, so that those in flight share more of A and B in L2",
        "config": {}, "knobs": ["GROUP_M"],
    },
    {
        "name": "two_residents", "category": "parallelism",
        "summary": "two smaller programs a multiprocessor, one multiplies while the other stores",
        "precondition": "N * element_bytes % 16 == 0 and K * element_bytes % 16 == 0 and M >= 1024 and N >= 1024",
        "config": {
            "VARIANT": "persistent", "PROGRAMS_PER_SM": 2, "HALVES": False, "BLOCK_M": 128, "BLOCK_N": 128,
            "BLOCK_K": 64, "num_warps": 4, "num_stages": 3,
        }, "knobs": ["GROUP_M"],
    },
    {
        "name": "tall_tiles", "category": "compute", "precondition": "M >= 1024 and N >= 1024",
        "summary": "tiles with more rows than columns: A is read from shared memory less often a product",
        "config": {"VARIANT": "pointers", "BLOCK_M": 256, "BLOCK_N": 128, "BLOCK_K": 64, "num_warps": 8},
        "knobs": ["num_stages", "GROUP_M"],
    },
    {
        "name": "thin_tiles", "category": "parallelism", "precondition": "M <= 64 and N >= 1024",
        "summary": "low tiles of few columns: every multiprocessor streams its part of B with many loads in flight",
        "config": {"VARIANT": "pointers", "BLOCK_M": 16, "BLOCK_N": 64, "BLOCK_K": 128, "num_stages": 5},
        "knobs": ["BLOCK_N", "BLOCK_K", "num_warps", "num_stages"],
    },
]  # fmt: skip
_DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32}


@triton.jit
def _product(a, b, acc, WIDEN: tl.constexpr):
    """Return acc + a b; widened only where Triton's interpreter would multiply the bit patterns of bf16."""
    if WIDEN:
        a, b = a.to(tl.float32), b.to(tl.float32)
    return tl.dot(a, b, acc, input_precision="ieee")  # fp32 operands are not rounded to tf32


@triton.jit
def _tile_of(tile, m, n, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, GROUP_M: tl.constexpr):
    """Return the (row, column) of a tile when groups of GROUP_M tile rows are walked column by column."""
    tiles_m = tl.cdiv(m, BLOCK_M)
    in_group = GROUP_M * tl.cdiv(n, BLOCK_N)
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
    """A fixed number of programs share the tiles, loops flattened; with HALVES c_desc has half a tile's columns."""
    tiles = tl.cdiv(m, BLOCK_M) * tl.cdiv(n, BLOCK_N)
    for tile in tl.range(tl.program_id(0), tiles, tl.num_programs(0), flatten=True):
        tile_m, tile_n = _tile_of(tile, m, n, BLOCK_M, BLOCK_N, GROUP_M)
        acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for start in range(0, k, BLOCK_K):
            a = a_desc.load([tile_m * BLOCK_M, start])
            b = b_desc.load([start, tile_n * BLOCK_N])
            acc = _product(a, b, acc, WIDEN)
        if HALVES:
            left, right = tl.split(tl.permute(tl.reshape(acc, (BLOCK_M, 2, BLOCK_N // 2)), (0, 2, 1)))
            c_desc.store([tile_m * BLOCK_M, tile_n * BLOCK_N], left.to(c_desc.dtype))
            c_desc.store([tile_m * BLOCK_M, tile_n * BLOCK_N + BLOCK_N // 2], right.to(c_desc.dtype))
        else:
            c_desc.store([tile_m * BLOCK_M, tile_n * BLOCK_N], acc.to(c_desc.dtype))


@gluon.jit
def _gluon_tile_of(tile, tiles_m, tiles_n, GROUP_M: gl.constexpr):
    """Return what `_tile_of` does."""
    in_group = GROUP_M * tiles_n
    first = (tile // in_group) * GROUP_M
    height = gl.minimum(tiles_m - first, GROUP_M)
    return first + (tile % in_group) % height, (tile % in_group) // height


@gluon.jit
def _copy_tiles(descs, bufs, bars, sizes, GROUP_M: gl.constexpr, STAGES: gl.constexpr):
    """Copy the two halves of A's tile and B's tile of every step into the next stage that is free."""
    a_desc, b_desc = descs
    a_bufs, b_bufs, _ = bufs
    full, free = bars
    tiles_m, tiles_n, k = sizes
    count = 0
    for tile in range(gl.program_id(0), tiles_m * tiles_n, gl.num_programs(0)):
        m, n = _gluon_tile_of(tile, tiles_m, tiles_n, GROUP_M)
        for start in range(0, k, a_desc.block_shape[1]):
            stage = count % STAGES
            bar = full.index(stage)
            mbarrier.wait(free.index(stage), ((count // STAGES) & 1) ^ 1)
            mbarrier.expect(bar, 2 * a_desc.block_type.nbytes + b_desc.block_type.nbytes)
            for one in gl.static_range(2):
                copy_in(a_desc, [(2 * m + one) * a_desc.block_shape[0], start], bar, a_bufs.index(2 * stage + one))
            copy_in(b_desc, [start, n * b_desc.block_shape[1]], bar, b_bufs.index(stage))
            count += 1


@gluon.jit
def _halves(tile):  # of its columns
    return gl.split(gl.permute(gl.reshape(tile, (tile.shape[0], 2, tile.shape[1] // 2)), (0, 2, 1)))


@gluon.jit
def _store(one: gl.constexpr, c_desc, c_bufs, acc, top, left):
    """Store half of the rows of a tile, a quarter of its columns at a time through two buffers in turn."""
    COLS: gl.constexpr = c_desc.block_shape[1]
    at: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, COLS, 16])
    first, last = _halves(acc)
    pieces = _halves(first) + _halves(last)
    for piece in gl.static_range(4):
        staged = c_bufs.index(2 * one + piece % 2)
        tma.store_wait(1)  # the piece before the last has left
        staged.store(gl.convert_layout(pieces[piece].to(c_desc.dtype), at))
        hopper.fence_async_shared()
        copy_out(c_desc, [top, left + piece * COLS], staged)


@gluon.jit
def _multiply(one: gl.constexpr, c_desc, bufs, bars, sizes, GROUP_M: gl.constexpr, STAGES: gl.constexpr):
    """Multiply one half of the rows of every tile."""
    a_bufs, b_bufs, c_bufs = bufs
    full, free = bars
    tiles_m, tiles_n, k = sizes
    ROWS: gl.constexpr = c_desc.block_shape[0]
    COLS: gl.constexpr = 4 * c_desc.block_shape[1]
    at: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, COLS, 16])
    count = 0
    for tile in range(gl.program_id(0), tiles_m * tiles_n, gl.num_programs(0)):
        m, n = _gluon_tile_of(tile, tiles_m, tiles_n, GROUP_M)
        acc = gl.zeros([ROWS, COLS], gl.float32, at)
        for start in range(0, k, a_bufs.shape[2]):
            stage = count % STAGES
            mbarrier.wait(full.index(stage), (count // STAGES) & 1)
            step = hopper.warpgroup_mma(a_bufs.index(2 * stage + one), b_bufs.index(stage), acc, is_async=True)
            acc = hopper.warpgroup_mma_wait(1, deps=[step])
            mbarrier.arrive(free.index((count + STAGES - 1) % STAGES), count=1, pred=start > 0)  # the step before
            count += 1
        acc = hopper.warpgroup_mma_wait(0, deps=[acc])
        mbarrier.arrive(free.index((count - 1) % STAGES), count=1)
        _store(one, c_desc, c_bufs, acc, (2 * m + one) * ROWS, n * COLS)
    tma.store_wait(0)


@gluon.jit
def matmul_roles(a_desc, b_desc, c_desc, m, n, k, GROUP_M: gl.constexpr, STAGES: gl.constexpr):
    """A fixed number of programs share the tiles: one warp copies, two warpgroups multiply."""
    a_bufs = gl.allocate_shared_memory(a_desc.dtype, [2 * STAGES] + a_desc.block_shape, a_desc.layout)  # noqa: RUF005
    b_bufs = gl.allocate_shared_memory(b_desc.dtype, [STAGES] + b_desc.block_shape, b_desc.layout)  # noqa: RUF005
    c_bufs = gl.allocate_shared_memory(c_desc.dtype, [4] + c_desc.block_shape, c_desc.layout)  # noqa: RUF005
    full = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    free = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    for stage in gl.static_range(STAGES):
        mbarrier.init(full.index(stage), count=1)
        mbarrier.init(free.index(stage), count=2)
    bufs, bars = (a_bufs, b_bufs, c_bufs), (full, free)
    sizes = (gl.cdiv(m, 2 * a_desc.block_shape[0]), gl.cdiv(n, b_desc.block_shape[1]), k)
    gl.warp_specialize(
        [
            (_multiply, (gl.constexpr(0), c_desc, bufs, bars, sizes, GROUP_M, STAGES)),
            (_multiply, (gl.constexpr(1), c_desc, bufs, bars, sizes, GROUP_M, STAGES)),
            (_copy_tiles, ((a_desc, b_desc), bufs, bars, sizes, GROUP_M, STAGES)),
        ],
        [4, 1],
        [240, 24],
    )


_KERNELS = {
    "pointers": matmul_pointers, "descriptors": matmul_descriptors, "persistent": matmul_persistent,
    "roles": matmul_roles,
}  # fmt: skip


def make_inputs(shape, dtype, device="cuda", seed=0):
    """Return (A of MxK, B of KxN), row-major in that storage type, from a seed."""
    generator = torch.Generator(device=device).manual_seed(seed)
    sizes = (shape[0], shape[2]), (shape[2], shape[1])
    return tuple(torch.randn(one, generator=generator, device=device).to(_DTYPES[dtype]) for one in sizes)


def reference(a, b):
    """Return the product in float64."""
    return a.double() @ b.double()


def _is_hopper():
    try:
        target = triton.runtime.driver.active.get_current_target()
    except RuntimeError:  # no GPU, and nobody stands in for one
        return False
    return (target.backend, target.arch) == ("cuda", 90) and not triton.knobs.runtime.interpret


def _start(shape, dtype, variant=None):
    """Return a good start of a variant: large tiles once they fill the product, small ones before."""
    rows, cols, depth = shape
    large = min(rows, cols) >= 1024 and dtype != "fp32"
    common = {"VARIANT": variant or "pointers", "GROUP_M": 8, "PROGRAMS_PER_SM": 1, "HALVES": False}
    tiles = {"BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 64, "num_warps": 8}
    if variant == "roles" or (variant is None and large and not cols % 8 and not depth % 8 and _is_hopper()):
        return common | tiles | {"VARIANT": "roles", "num_stages": 4}
    if not large:
        tiles = {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32, "num_warps": 4}
    # AMD's pipeline keeps one stage in registers; two in LDS would not fit
    return common | tiles | {"num_stages": 2 if torch.version.hip else 3}


def default_config(shape, dtype):
    """Return a good start for a shape: roles on Hopper where it takes the tensors, else pointers."""
    return _start(shape, dtype)


def _knobs(shape, dtype, config):
    """Return a configuration with what it leaves out; one with rows a tile and no variant is not of `roles`."""
    given = {**TUNED_CONFIGS.get("x".join(map(str, shape)), {}), **(config or {})}
    return _start(shape, dtype, given.get("VARIANT", "pointers" if "BLOCK_M" in given else None)) | given


def _plan(shape, dtype, config, multiprocessors):
    """Return (knobs, grid, constexprs, launch options) of a configuration; missing keys take the default."""
    rows, cols, _ = shape
    knobs = _knobs(shape, dtype, config)
    high, residents = (128, 1) if knobs["VARIANT"] == "roles" else (knobs["BLOCK_M"], knobs["PROGRAMS_PER_SM"])
    tiles = triton.cdiv(rows, high) * triton.cdiv(cols, knobs["BLOCK_N"])
    if knobs["VARIANT"] in ("persistent", "roles") and multiprocessors:
        tiles = min(tiles, multiprocessors * residents)
    if knobs["VARIANT"] == "roles":
        constexprs = {"GROUP_M": knobs["GROUP_M"], "STAGES": knobs["num_stages"]}
        return knobs, (tiles,), constexprs, {"num_warps": 4, "num_stages": 1}
    constexprs = {key: knobs[key] for key in ("BLOCK_M", "BLOCK_N", "BLOCK_K", "GROUP_M")}
    if knobs["VARIANT"] == "persistent":
        constexprs["HALVES"] = knobs["HALVES"]
    constexprs["WIDEN"] = triton.knobs.runtime.interpret
    return knobs, (tiles,), constexprs, {"num_warps": knobs["num_warps"], "num_stages": knobs["num_stages"]}


def _blocks(knobs):
    """Return the tiles of A, B and C that the descriptors copy."""
    rows, cols, depth = (knobs[f"BLOCK_{one}"] for one in "MNK")
    stored = cols // 2 if knobs["VARIANT"] == "persistent" and knobs["HALVES"] else cols
    if knobs["VARIANT"] == "roles":
        rows, stored = 64, cols // 4
    return [rows, depth], [depth, cols], [rows, stored]


def _descriptor(tensor, block, variant):
    """Return a descriptor of tiles; Gluon's has the layout of the tile in shared memory too."""
    from triton.experimental.gluon.nvidia.hopper import TensorDescriptor as GluonDescriptor
    from triton.tools.tensor_descriptor import TensorDescriptor

    if variant != "roles":
        return TensorDescriptor.from_tensor(tensor, block)
    layout = gl.NVMMASharedLayout.get_default_for(block, gl.bfloat16 if tensor.dtype == torch.bfloat16 else gl.float16)
    return GluonDescriptor.from_tensor(tensor, block, layout)


def launch(a, b, *, config=None, out=None):
    """Return A B in A's storage type for row-major A of MxK and B of KxN, written to `out` if given.

    Raises:
        ValueError: The operands do not fit, or a descriptor variant meets rows that are not a multiple of
            16 bytes (tensor descriptors need that), or `roles` elements of other than two bytes.
    """
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[0] or a.stride(1) != 1 or b.stride(1) != 1:
        raise ValueError(f"need row-major A of MxK and B of KxN, got {tuple(a.shape)} and {tuple(b.shape)}")
    shape = (a.shape[0], b.shape[1], a.shape[1])
    out = a.new_empty(shape[:2]) if out is None else out
    dtype = next(name for name, one in _DTYPES.items() if one == a.dtype)
    aligned = not any(one.stride(0) * one.element_size() % 16 for one in (a, b, out))
    config = config if aligned else {"VARIANT": "pointers"} | (config or {})
    processors = torch.cuda.get_device_properties(a.device).multi_processor_count if a.device.type == "cuda" else 0
    knobs, grid, constexprs, options = _plan(shape, dtype, config, processors)
    kernel = _KERNELS[knobs["VARIANT"]]
    if knobs["VARIANT"] == "pointers":
        kernel[grid](a, b, out, *shape, a.stride(0), b.stride(0), out.stride(0), **constexprs, **options)
        return out
    if not aligned or (knobs["VARIANT"] == "roles" and a.element_size() != 2):
        raise ValueError(f"tensor descriptors need rows of 16 bytes, roles elements of two; got {shape} of {dtype}")
    pairs = zip((a, b, out), _blocks(knobs), strict=True)
    kernel[grid](*(_descriptor(*pair, knobs["VARIANT"]) for pair in pairs), *shape, **constexprs, **options)
    return out


def static_cases(shape, dtype, config=None):
    """Return the launches of a shape as `LaunchCase`s, for compilers and counters; needs kopt_kb installed."""
    from kopt_kb.kernels.launch_case import LaunchCase, TensorSpec

    rows, cols, depth = shape
    knobs, grid, constexprs, options = _plan(shape, dtype, config, None)
    shapes = ((rows, depth), (depth, cols), (rows, cols))
    plain = knobs["VARIANT"] == "pointers"
    pairs = zip(shapes, _blocks(knobs), strict=True)
    tensors = [TensorSpec(one, dtype, block_shape=None if plain else tuple(block)) for one, block in pairs]
    arguments = (*tensors, *shape, *((depth, cols, cols) if plain else ()))
    return (LaunchCase(_KERNELS[knobs["VARIANT"]], grid, arguments, constexprs, **options),)
