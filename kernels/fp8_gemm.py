"""Product of fp8 blocks with fp32 scales: Triton and Gluon kernels, launcher, reference and tuning space in one file.

Hopper's matrix engine adds fp8 products in fewer bits than fp32 has. So each kernel takes the sum over one block of K
from it, scales it, and adds it to an accumulator of fp32 in registers.
"""

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

OP = "fp8_gemm"
OP_OPTIONS = {"block": 128}
BLOCK = 128
TUNING_SPACE = {
    "BLOCK_M": [16, 32, 64, 128, 256], "BLOCK_N": [16, 32, 64, 128, 256], "GROUP_M": [1, 2, 4, 8, 16],
    "num_warps": [1, 2, 4, 8], "num_stages": [2, 3, 4, 5, 6, 7, 8],
}  # fmt: skip
VARIANTS = [
    {
        "name": "pointers", "category": "memory_access", "precondition": "M >= 1", "config": {"VARIANT": "pointers"},
        "summary": "one tile a program, tiles walked in groups of rows so that B stays in cache, pointer loads",
        "knobs": ["BLOCK_M", "BLOCK_N", "GROUP_M", "num_warps", "num_stages"],
    },
    {
        "name": "roles", "category": "latency_hiding", "targets": ["sm_90"], "precondition": "M >= 128 and N >= 256",
        "summary": "one warp copies, two warpgroups multiply in turns, one scaling beside the other's products",
        "config": {"VARIANT": "roles", "BLOCK_N": 256, "num_stages": 4}, "knobs": ["GROUP_M"],
    },
    {
        "name": "narrow_roles", "category": "parallelism", "targets": ["sm_90"], "precondition": "M >= 64",
        "summary": "roles with tiles of few columns, so that each multiprocessor has one",
        "config": {"VARIANT": "roles", "BLOCK_N": 64, "num_stages": 8, "GROUP_M": 1}, "knobs": ["num_stages"],
    },
    {
        "name": "thin_tiles", "category": "parallelism", "precondition": "M <= 64 and N >= 1024",
        "summary": "low tiles of few columns: every multiprocessor streams its part of B with many loads in flight",
        "config": {"VARIANT": "pointers", "BLOCK_M": 16, "BLOCK_N": 16, "num_warps": 2, "num_stages": 8, "GROUP_M": 1},
        "knobs": ["BLOCK_N", "num_warps", "num_stages"],
    },
]  # fmt: skip


@triton.jit
def _tile_of(tile, m, n, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, GROUP_M: tl.constexpr):
    """Return the (row, column) of a tile when groups of GROUP_M tile rows are walked column by column."""
    tiles_m = tl.cdiv(m, BLOCK_M)
    in_group = GROUP_M * tl.cdiv(n, BLOCK_N)
    first = (tile // in_group) * GROUP_M
    height = tl.minimum(tiles_m - first, GROUP_M)
    return first + (tile % in_group) % height, (tile % in_group) // height


@triton.jit
def _scaled_product(
    a, b, sa_ptr, sb_ptr, row, col, block, m, n, blocks,
    BLOCK_N: tl.constexpr, BLOCK: tl.constexpr, WIDEN: tl.constexpr,
):  # fmt: skip
    """Return A B^T of one block of K times its scales; widened only in Triton's interpreter."""
    if WIDEN:
        a = a.to(tl.float32)
        b = b.to(tl.float32)
    sa = tl.load(sa_ptr + row.to(tl.int64) * blocks + block, mask=row < m, other=0.0)
    product = tl.dot(a, tl.trans(b), out_dtype=tl.float32)
    if BLOCK_N <= BLOCK:  # all columns of a tile share a scale
        scale = sa * tl.load(sb_ptr + (tl.min(col, 0) // BLOCK) * blocks + block)
        return product * scale[:, None]
    sb = tl.load(sb_ptr + (col // BLOCK) * blocks + block, mask=col < n, other=0.0)
    return product * sa[:, None] * sb[None, :]


@triton.jit
def fp8_gemm_pointers(
    a_ptr, b_ptr, sa_ptr, sb_ptr, c_ptr, m, n, k,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, GROUP_M: tl.constexpr, BLOCK: tl.constexpr, WIDEN: tl.constexpr,
):  # fmt: skip
    """One tile of C a program, loads through pointers with masks at the edges."""
    tile_m, tile_n = _tile_of(tl.program_id(0), m, n, BLOCK_M, BLOCK_N, GROUP_M)
    row = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    col = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    depth = tl.arange(0, BLOCK)
    a_tile = a_ptr + row[:, None].to(tl.int64) * k + depth[None, :]
    b_tile = b_ptr + col[:, None].to(tl.int64) * k + depth[None, :]
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    blocks = k // BLOCK
    for block in range(blocks):
        a = tl.load(a_tile, mask=row[:, None] < m, other=0.0)
        b = tl.load(b_tile, mask=col[:, None] < n, other=0.0)
        acc += _scaled_product(a, b, sa_ptr, sb_ptr, row, col, block, m, n, blocks, BLOCK_N, BLOCK, WIDEN)
        a_tile += BLOCK
        b_tile += BLOCK
    place = c_ptr + row[:, None].to(tl.int64) * n + col[None, :]
    tl.store(place, acc.to(c_ptr.dtype.element_ty), mask=(row[:, None] < m) & (col[None, :] < n))


@gluon.jit
def _gluon_tile_of(tile, tiles_m, tiles_n, GROUP_M: gl.constexpr):
    """Return what `_tile_of` does."""
    in_group = GROUP_M * tiles_n
    first = (tile // in_group) * GROUP_M
    height = gl.minimum(tiles_m - first, GROUP_M)
    return first + (tile % in_group) % height, (tile % in_group) // height


@gluon.jit
def _copy_tiles(
    descs, bufs, bars, tiles_m, tiles_n, blocks, PARTS: gl.constexpr, GROUP_M: gl.constexpr, STAGES: gl.constexpr
):
    """Copy the two halves of A's tile and the parts of B's tile of every step into the next stage that is free."""
    a_desc, b_desc = descs
    a_bufs, b_bufs, _ = bufs
    full, free, _ = bars
    ROWS: gl.constexpr = a_desc.block_shape[0]
    COLS: gl.constexpr = b_desc.block_shape[0]
    BLOCK: gl.constexpr = a_desc.block_shape[1]
    count = 0
    for tile in range(gl.program_id(0), tiles_m * tiles_n, gl.num_programs(0)):
        m, n = _gluon_tile_of(tile, tiles_m, tiles_n, GROUP_M)
        for block in range(blocks):
            stage = count % STAGES
            bar = full.index(stage)
            mbarrier.wait(free.index(stage), ((count // STAGES) & 1) ^ 1)
            mbarrier.expect(bar, 2 * a_desc.block_type.nbytes + PARTS * b_desc.block_type.nbytes)
            for one in gl.static_range(2):
                copy_in(a_desc, [(2 * m + one) * ROWS, block * BLOCK], bar, a_bufs.index(2 * stage + one))
            for part in gl.static_range(PARTS):
                copy_in(b_desc, [(PARTS * n + part) * COLS, block * BLOCK], bar, b_bufs.index(PARTS * stage + part))
            count += 1


@gluon.jit
def _pinned(x):
    """Return x, computed before the waits that follow: sunk behind them it would hold its operands' registers."""
    return gl.inline_asm_elementwise("", "=f,0", [x], dtype=gl.float32, is_pure=False, pack=1)


@gluon.jit
def _started(a, b, none):
    """Start A B^T of one block of K, as the matrix engine adds it up."""
    return hopper.warpgroup_mma(a, b.permute([1, 0]), none, use_acc=False, is_async=True)


@gluon.jit
def _scales(sa_at, sb_ptr, places, block, blocks, inside, COUNT: gl.constexpr):
    """Return the scales of A's rows and of B's parts in one block of K, zeros behind the last."""
    sa = gl.load(sa_at + block, mask=inside & (block < blocks), other=0.0)
    scales = ()
    for part in gl.static_range(COUNT):
        scales += (gl.load(sb_ptr + places[part] * blocks + gl.minimum(block, blocks - 1)),)  # type: ignore[assignment]
    return sa, scales


@gluon.jit
def _step(one: gl.constexpr, a, b_bufs, free, turns, stage, turn, accs, sa, scales, none, PARTS: gl.constexpr):
    """Return the accumulators after one block of K; a part's sums are scaled while the other warpgroup multiplies."""
    TURNS: gl.constexpr = none.shape[1] == 128  # a group scales its sums while the other's products run
    more = ()
    for part in gl.static_range(PARTS):
        if TURNS:  # the first group's very first turn has no other before it
            mbarrier.wait(turns.index(one), (turn + part + 1 - one) & 1)
        sums = _started(a, b_bufs.index(PARTS * stage + part), none)
        if TURNS:
            mbarrier.arrive(turns.index(1 - one), count=1)
        sums = hopper.warpgroup_mma_wait(0, deps=[sums])
        if part == PARTS - 1:
            mbarrier.arrive(free.index(stage), count=1)
        more += (_pinned(accs[part] + sums * gl.expand_dims(sa * scales[part], 1)),)  # type: ignore[assignment]
    return more


@gluon.jit
def _halves(tile):
    """Return the left and the right half of a tile's columns."""
    return gl.split(gl.permute(gl.reshape(tile, (tile.shape[0], 2, tile.shape[1] // 2)), (0, 2, 1)))


@gluon.jit
def _store(one: gl.constexpr, c_desc, c_bufs, accs, top, left, PARTS: gl.constexpr, COLS: gl.constexpr):
    """Store a half of the rows of a tile 64 columns at a time, through two buffers in turn."""
    WIDE: gl.constexpr = c_desc.block_shape[1]
    at: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, WIDE, 32])
    pieces: gl.tuple = ()
    for part in gl.static_range(PARTS):
        if COLS == WIDE:
            pieces += (accs[part],)
        else:
            pieces += _halves(accs[part])
    for piece in gl.static_range(PARTS * COLS // WIDE):
        staged = c_bufs.index(2 * one + piece % 2)
        tma.store_wait(1)  # the piece before the last has left
        staged.store(gl.convert_layout(pieces[piece].to(c_desc.dtype), at))
        hopper.fence_async_shared()
        copy_out(c_desc, [top, left + piece * WIDE], staged)


@gluon.jit
def _multiply(
    one: gl.constexpr, c_desc, bufs, bars, scales, sizes,
    PARTS: gl.constexpr, COLS: gl.constexpr, GROUP_M: gl.constexpr, STAGES: gl.constexpr,
):  # fmt: skip
    """Multiply one half of the rows of every tile with parts of its columns, each of one scale of B."""
    a_bufs, b_bufs, c_bufs = bufs
    full, free, turns = bars
    sa_ptr, sb_ptr = scales
    tiles_m, tiles_n, m, n, blocks = sizes
    ROWS: gl.constexpr = c_desc.block_shape[0]
    BLOCK: gl.constexpr = 128
    at: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, COLS, 32])
    none = gl.zeros([ROWS, COLS], gl.float32, at)
    count = 0
    for tile in range(gl.program_id(0), tiles_m * tiles_n, gl.num_programs(0)):
        tile_m, tile_n = _gluon_tile_of(tile, tiles_m, tiles_n, GROUP_M)
        top = (2 * tile_m + one) * ROWS
        row = top + gl.arange(0, ROWS, gl.SliceLayout(1, at))
        sa_at = sa_ptr + row.to(gl.int64) * blocks
        inside = row < m
        accs: gl.tuple = ()
        places = ()
        for part in gl.static_range(PARTS):
            accs += (none,)
            places += (gl.minimum((PARTS * tile_n + part) * COLS, n - 1) // BLOCK,)  # type: ignore[assignment]
        sa, scales_b = _scales(sa_at, sb_ptr, places, 0, blocks, inside, PARTS)
        for block in range(blocks):
            stage = count % STAGES
            next_a, next_b = _scales(sa_at, sb_ptr, places, block + 1, blocks, inside, PARTS)
            mbarrier.wait(full.index(stage), (count // STAGES) & 1)
            a = a_bufs.index(2 * stage + one)
            accs = _step(one, a, b_bufs, free, turns, stage, count * PARTS, accs, sa, scales_b, none, PARTS)
            sa, scales_b = next_a, next_b
            count += 1
        _store(one, c_desc, c_bufs, accs, top, tile_n * PARTS * COLS, PARTS, COLS)
    tma.store_wait(0)


@gluon.jit
def fp8_gemm_roles(
    a_desc, b_desc, sa_ptr, sb_ptr, c_desc, m, n, k,
    PARTS: gl.constexpr, GROUP_M: gl.constexpr, STAGES: gl.constexpr,
):  # fmt: skip
    """A fixed number of programs share the tiles: one warp copies, two warpgroups multiply and scale."""
    ROWS: gl.constexpr = a_desc.block_shape[0]
    COLS: gl.constexpr = b_desc.block_shape[0]
    BLOCK: gl.constexpr = a_desc.block_shape[1]
    a_bufs = gl.allocate_shared_memory(a_desc.dtype, [2 * STAGES, ROWS, BLOCK], a_desc.layout)
    b_bufs = gl.allocate_shared_memory(b_desc.dtype, [PARTS * STAGES, COLS, BLOCK], b_desc.layout)
    c_bufs = gl.allocate_shared_memory(c_desc.dtype, [4, ROWS, c_desc.block_shape[1]], c_desc.layout)
    full = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    free = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    turns = gl.allocate_shared_memory(gl.int64, [2, 1], mbarrier.MBarrierLayout())
    for stage in gl.static_range(STAGES):
        mbarrier.init(full.index(stage), count=1)
        mbarrier.init(free.index(stage), count=2)
    for one in gl.static_range(2):
        mbarrier.init(turns.index(one), count=1)
    bufs, bars, scales = (a_bufs, b_bufs, c_bufs), (full, free, turns), (sa_ptr, sb_ptr)
    tiles_m, tiles_n, blocks = gl.cdiv(m, 2 * ROWS), gl.cdiv(n, PARTS * COLS), k // BLOCK
    sizes = (tiles_m, tiles_n, m, n, blocks)
    gl.warp_specialize(
        [
            (_multiply, (gl.constexpr(0), c_desc, bufs, bars, scales, sizes, PARTS, COLS, GROUP_M, STAGES)),
            (_multiply, (gl.constexpr(1), c_desc, bufs, bars, scales, sizes, PARTS, COLS, GROUP_M, STAGES)),
            (_copy_tiles, ((a_desc, b_desc), bufs, bars, tiles_m, tiles_n, blocks, PARTS, GROUP_M, STAGES)),
        ],
        [4, 1],
        [240, 24],
    )


_KERNELS = {"pointers": fp8_gemm_pointers, "roles": fp8_gemm_roles}


def make_inputs(shape, dtype, device="cuda", seed=0):
    """Return (A of MxK, B of NxK in fp8, their fp32 scales of Mx(K/128) and (N/128)x(K/128))."""
    if dtype != "fp8":
        raise ValueError(f"fp8_gemm is of fp8, not {dtype}")
    rows, cols, depth = shape
    generator = torch.Generator(device=device).manual_seed(seed)
    a, b = (torch.randn(extent, depth, generator=generator, device=device) for extent in (rows, cols))
    sa = torch.rand(rows, depth // BLOCK, generator=generator, device=device) + 0.5
    sb = (torch.rand(cols // BLOCK, depth // BLOCK, generator=generator, device=device) + 0.5) / depth**0.5
    return a.to(torch.float8_e4m3fn), b.to(torch.float8_e4m3fn), sa, sb


def reference(a, b, sa, sb):
    """Return the product of the scaled operands in float64."""
    left = a.double() * sa.double().repeat_interleave(BLOCK, dim=1)
    right = b.double() * sb.double().repeat_interleave(BLOCK, dim=0).repeat_interleave(BLOCK, dim=1)
    return torch.mm(left, right.t())


def _is_hopper():
    try:
        target = triton.runtime.driver.active.get_current_target()
    except RuntimeError:  # no GPU, and nobody stands in for one
        return False
    return (target.backend, target.arch) == ("cuda", 90) and not triton.knobs.runtime.interpret


def default_config(shape, dtype):  # noqa: ARG001 - called as of every kernel file
    """Return a good start for a shape: roles on Hopper where there are rows enough, tiles as large as fill the GPU."""
    rows, cols, _ = shape
    stages = 2 if torch.version.hip else 3  # AMD's pipeline keeps one stage in registers
    common = {"VARIANT": "pointers", "GROUP_M": 8, "num_stages": stages, "num_warps": 4}
    if rows >= 128 and _is_hopper():
        if rows * cols < 1 << 22:  # 128 tiles of 128x256
            return common | {"VARIANT": "roles", "BLOCK_M": 128, "BLOCK_N": 64, "num_stages": 8}
        return common | {"VARIANT": "roles", "BLOCK_M": 128, "BLOCK_N": 256, "num_stages": 4}
    if min(rows, cols) >= 1024:
        return common | {"BLOCK_M": 128, "BLOCK_N": 128, "num_warps": 8}
    return common | {"BLOCK_M": 64 if rows > 16 else 16, "BLOCK_N": 64 if rows > 16 else 32}


def _plan(shape, dtype, config, multiprocessors):
    """Return (knobs, grid, constexprs, launch options) of a configuration; missing keys take the default."""
    rows, cols, _ = shape
    knobs = default_config(shape, dtype) | (config or {})
    high = 128 if knobs["VARIANT"] == "roles" else knobs["BLOCK_M"]
    tiles = triton.cdiv(rows, high) * triton.cdiv(cols, knobs["BLOCK_N"])
    if knobs["VARIANT"] == "roles":
        constexprs = {"PARTS": -(-knobs["BLOCK_N"] // 128), "GROUP_M": knobs["GROUP_M"], "STAGES": knobs["num_stages"]}
        return knobs, (min(tiles, multiprocessors or tiles),), constexprs, {"num_warps": 4, "num_stages": 1}
    constexprs = {key: knobs[key] for key in ("BLOCK_M", "BLOCK_N", "GROUP_M")} | {"BLOCK": BLOCK}
    constexprs["WIDEN"] = triton.knobs.runtime.interpret
    return knobs, (tiles,), constexprs, {"num_warps": knobs["num_warps"], "num_stages": knobs["num_stages"]}


def _blocks(knobs):
    """Return the tiles of A, B and C that the descriptors of `roles` copy."""
    return [64, BLOCK], [min(knobs["BLOCK_N"], 128), BLOCK], [64, 64]


def _descriptor(tensor, block):
    """Return a descriptor of tiles with the layout of the tile in shared memory."""
    from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

    kind = gl.bfloat16 if tensor.dtype == torch.bfloat16 else gl.float8e4nv
    return TensorDescriptor.from_tensor(tensor, block, gl.NVMMASharedLayout.get_default_for(block, kind))


def launch(a, b, sa, sb, *, config=None, out=None):
    """Return (A sa) (B sb)^T in bf16 for contiguous A of MxK and B of NxK in fp8, written to `out` if given.

    Raises:
        ValueError: The operands do not fit, N or K is no multiple of 128, or `roles` gets tiles of other than 64,
            128 or 256 columns.
    """
    shape = (a.shape[0], b.shape[0], a.shape[-1])
    grids = (shape[0], shape[2] // BLOCK), (shape[1] // BLOCK, shape[2] // BLOCK)
    fits = a.ndim == 2 and b.ndim == 2 and b.shape[1] == shape[2] and not shape[1] % BLOCK and not shape[2] % BLOCK
    if not fits or (sa.shape, sb.shape) != grids or not all(one.is_contiguous() for one in (a, b, sa, sb)):
        raise ValueError(f"need contiguous A of MxK, B of NxK and a scale a block of 128, got {a.shape}, {b.shape}")
    out = a.new_empty(shape[:2], dtype=torch.bfloat16) if out is None else out
    processors = torch.cuda.get_device_properties(a.device).multi_processor_count if a.device.type == "cuda" else 0
    knobs, grid, constexprs, options = _plan(shape, "fp8", config, processors)
    kernel = _KERNELS[knobs["VARIANT"]]
    if knobs["VARIANT"] == "roles" and knobs["BLOCK_N"] not in (64, 128, 256):
        raise ValueError(f"roles multiply tiles of 64, 128 or 256 columns, not {knobs['BLOCK_N']}")
    if knobs["VARIANT"] == "pointers":
        kernel[grid](a, b, sa, sb, out, *shape, **constexprs, **options)
        return out
    left, right, result = map(_descriptor, (a, b, out), _blocks(knobs))
    kernel[grid](left, right, sa, sb, result, *shape, **constexprs, **options)
    return out


def static_cases(shape, dtype, config=None):
    """Return the launches of a shape as `LaunchCase`s, for compilers and counters; needs kopt_kb installed."""
    from kopt_kb.kernels.launch_case import LaunchCase, TensorSpec

    rows, cols, depth = shape
    knobs, grid, constexprs, options = _plan(shape, dtype, config, None)
    shapes, kinds = ((rows, depth), (cols, depth), (rows, cols)), (dtype, dtype, "bf16")
    scales = [TensorSpec((extent, depth // BLOCK), "fp32") for extent in (rows, cols // BLOCK)]
    blocks = _blocks(knobs) if knobs["VARIANT"] != "pointers" else [None] * 3
    each = zip(shapes, kinds, blocks, strict=True)
    left, right, result = (TensorSpec(one, kind, block_shape=block and tuple(block)) for one, kind, block in each)
    arguments = (left, right, *scales, result, *shape)
    return (LaunchCase(_KERNELS[knobs["VARIANT"]], grid, arguments, constexprs, **options),)
