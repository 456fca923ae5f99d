"""Matrix product on Hopper in CuTe DSL: one warp brings tiles by TMA, warp groups multiply them by wgmma.

/* kb
op = "gemm"
dtypes = ["bf16", "fp16"]
language = "cute"
function = "matmul"

config = { BM = 128, BN = 256, STAGES = 4, GROUP = 8, WORKERS = 2 }

[tuning_space]
BM = [128, 256]
BN = [128, 192, 256]
STAGES = [3, 4, 5]
GROUP = [4, 8, 16]

[inputs]
a = "[M, K]"
b = "[K, N]"

[outputs]
out = "[M, N]"

[[steps]]
launch = "matmul_kernel"
grid = ["cdiv(M, BM) * cdiv(N, BN)"]
block = ["(WORKERS + 1) * 128"]
# Barriers, then tiles of 64 elements of K; the result takes their place.
shared = "1024 + STAGES * (BM + BN) * 128"
arguments = [
  "map a [BM, 64] swizzle 128", "map b [64, 64] swizzle 128", "map out [BM, 64] swizzle 128",
]

[[variants]]
name = "wide"
category = "memory_traffic"
summary = "tiles of 128 by 256: each warp group multiplies 64 rows, two operands of 48 KiB a stage"
precondition = "M >= 1024"
config = { BM = 128, BN = 256 }
knobs = ["STAGES", "GROUP"]

[[variants]]
name = "tall"
category = "memory_access"
summary = "tiles of 256 by 128: each warp group multiplies 128 rows, B is used twice as often"
precondition = "M >= 1024"
config = { BM = 256, BN = 128 }
knobs = ["STAGES", "GROUP"]

[[variants]]
name = "small"
category = "parallelism"
summary = "tiles of 128 by 128: more blocks where the product is small"
precondition = "M >= 1"
config = { BM = 128, BN = 128 }
knobs = ["STAGES", "GROUP"]
*/
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics

import cutlass
from cutlass import cute, memory, pipeline, utils
from cutlass.cute.nvgpu import cpasync, warp, warpgroup
from cutlass.tensor_utils import LayoutEnum

GROUP_THREADS = 128
"""Threads of a warp group."""
FEW_REGISTERS, REGISTERS = 40, 232
"""Registers of a thread that copies and of one that multiplies: three groups of them are all that there are."""
STRIPE = DEPTH = 64
"""Elements of a swizzled row, and of K in a stage: 128 bytes of a 16-bit type, the widest swizzle."""


def _parts(load: cute.CopyAtom, held: cute.Tensor, there: cute.Tensor):
    """Return tiles in shared memory and in a tensor as a TMA copy addresses them: both lie in their first two modes."""
    return cpasync.tma_partition(
        load, 0, cute.make_layout(1), cute.group_modes(held, 0, 2), cute.group_modes(there, 0, 2)
    )


@cute.jit
def _write(
    mma: cute.TiledMma, sums: cute.Tensor, tile: cute.Tensor, store: cute.CopyAtom, there: cute.Tensor,
    worker: cutlass.Int32, WORKERS: cutlass.Constexpr, element: cutlass.Constexpr,
):  # fmt: skip
    """Round sums, put them into the tile in shared memory, whose former contents nobody needs, and store it by TMA."""
    threads = WORKERS * GROUP_THREADS
    cute.arch.barrier(barrier_id=1, number_of_threads=threads)
    stores = cute.make_tiled_copy_C(cute.make_copy_atom(warp.StMatrix8x8x16bOp(False, 4), element), mma)
    mine = stores.get_slice(worker)
    rounded = cute.make_rmem_tensor(sums.shape, element)
    rounded.store(sums.load().to(element))
    cute.copy(stores, mine.retile(rounded), mine.partition_D(cute.group_modes(tile, 1, 3)))
    cute.arch.fence_view_async_shared()
    cute.arch.barrier(barrier_id=1, number_of_threads=threads)
    if cute.arch.make_warp_uniform(worker // 32) == 0:
        stripes = cute.zipped_divide(there, (cute.size(tile, mode=[0]), STRIPE))
        held, places = cpasync.tma_partition(store, 0, cute.make_layout(1), cute.group_modes(tile, 0, 2), stripes)
        for stripe in cutlass.range_constexpr(cute.size(tile, mode=[2])):
            cute.copy(store, held[None, stripe], places[None, (0, stripe)])
        cute.arch.cp_async_bulk_commit_group()
        cute.arch.cp_async_bulk_wait_group(0, read=True)


@cute.jit
def _bring(
    pipe: pipeline.PipelineTmaAsync, load_a: cute.CopyAtom, from_a: cute.Tensor, to_a: cute.Tensor,
    load_b: cute.CopyAtom, from_b: cute.Tensor, to_b: cute.Tensor, turns: cutlass.Int32, STAGES: cutlass.Constexpr,
):  # fmt: skip
    """Copy tiles of both operands, one after the other along K, wherever a stage is free."""
    filled = pipeline.make_pipeline_state(pipeline.PipelineUserType.Producer, STAGES)
    for turn in cutlass.range(turns, unroll=1):
        pipe.producer_acquire(filled)
        barrier = pipe.producer_get_barrier(filled)
        cute.copy(load_a, from_a[None, turn], to_a[None, filled.index], tma_bar_ptr=barrier)
        cute.copy(load_b, from_b[None, turn], to_b[None, filled.index], tma_bar_ptr=barrier)
        pipe.producer_commit(filled)
        filled.advance()


@cute.jit
def _multiply(
    pipe: pipeline.PipelineTmaAsync, mma: cute.TiledMma, sums: cute.Tensor, a: cute.Tensor, b: cute.Tensor,
    turns: cutlass.Int32, STAGES: cutlass.Constexpr,
):  # fmt: skip
    """Add up the products of all stages; one product stays in flight while the next one is begun."""
    used = pipeline.make_pipeline_state(pipeline.PipelineUserType.Consumer, STAGES)
    freed = pipeline.make_pipeline_state(pipeline.PipelineUserType.Consumer, STAGES)
    mma.set(warpgroup.Field.ACCUMULATE, False)
    pipe.consumer_wait(used)
    warpgroup.fence()
    for step in cutlass.range_constexpr(cute.size(a, mode=[2])):
        at = (None, None, step, used.index)
        cute.gemm(mma, sums, a[at], b[at], sums)
        mma.set(warpgroup.Field.ACCUMULATE, True)
    warpgroup.commit_group()
    used.advance()
    for _ in cutlass.range(1, turns, unroll=1):
        pipe.consumer_wait(used)
        warpgroup.fence()
        for step in cutlass.range_constexpr(cute.size(a, mode=[2])):
            at = (None, None, step, used.index)
            cute.gemm(mma, sums, a[at], b[at], sums)
        warpgroup.commit_group()
        warpgroup.wait_group(1)
        pipe.consumer_release(freed)
        used.advance()
        freed.advance()
    warpgroup.wait_group(0)


def _pipe(barriers: cute.Pointer, stages: int, stage_bytes: int, workers: int) -> pipeline.PipelineTmaAsync:
    """Return a pipeline of stages that one warp fills by TMA and every warp of the workers frees."""
    return pipeline.PipelineTmaAsync.create(
        num_stages=stages,
        producer_group=pipeline.CooperativeGroup(pipeline.Agent.Thread),
        consumer_group=pipeline.CooperativeGroup(pipeline.Agent.Thread, workers * GROUP_THREADS // 32),
        tx_count=stage_bytes,
        barrier_storage=barriers,
        cta_layout_vmnk=cute.make_layout((1, 1, 1, 1)),
    )


@cute.jit
def _tile_of(block: cutlass.Int32, rows: cutlass.Constexpr, columns: cutlass.Constexpr, GROUP: cutlass.Constexpr):
    """Return row and column of a block's tile: those that run together share GROUP rows of tiles, column by column."""
    band = block // (GROUP * columns)
    height = cutlass.min(rows - band * GROUP, GROUP)
    within = block - band * GROUP * columns
    return band * GROUP + within % height, within // height


@cute.kernel
def matmul_kernel(
    load_a: cute.CopyAtom, a: cute.Tensor, load_b: cute.CopyAtom, b: cute.Tensor,
    store: cute.CopyAtom, out: cute.Tensor,
    layout_a: cute.ComposedLayout, layout_b: cute.ComposedLayout, layout_out: cute.ComposedLayout,
    BM: cutlass.Constexpr, BN: cutlass.Constexpr, STAGES: cutlass.Constexpr, GROUP: cutlass.Constexpr,
    WORKERS: cutlass.Constexpr, element: cutlass.Constexpr,
):  # fmt: skip
    """Write the tile (BM, BN) of A (M, K) B (N, K)^T that belongs to this block; TMA cuts tiles at the edges."""
    thread, _, _ = cute.arch.thread_idx()
    block, _, _ = cute.arch.block_idx()
    warp_number = cute.arch.make_warp_uniform(cute.arch.warp_idx())
    group_number = cute.arch.make_warp_uniform(thread // GROUP_THREADS)

    row, column = _tile_of(block, cute.ceil_div(out.shape[0], BM), cute.ceil_div(out.shape[1], BN), GROUP)

    storage = memory.SmemAllocator()
    barriers = storage.allocate_array(cutlass.Int64, 2 * STAGES)
    tiles_a = storage.allocate_tensor(element, layout_a.outer, 1024, layout_a.inner)
    tiles_b = storage.allocate_tensor(element, layout_b.outer, 1024, layout_b.inner)
    # The result takes the place of the operands once all of them are used.
    place = cute.recast_ptr(tiles_a.iterator, layout_out.inner, dtype=element)
    tile_out = cute.make_tensor(place, layout_out.outer)

    pipe = _pipe(barriers, STAGES, (BM + BN) * DEPTH * element.width // 8, WORKERS)
    part_a = cute.local_tile(a, (BM, DEPTH), (row, None))  # (BM, DEPTH, K tiles)
    part_b = cute.local_tile(b, (BN, DEPTH), (column, None))
    part_out = cute.local_tile(out, (BM, BN), (row, column))
    to_a, from_a = _parts(load_a, tiles_a, part_a)
    to_b, from_b = _parts(load_b, tiles_b, part_b)
    turns = cute.size(part_a, mode=[2])

    if group_number == 0:
        cute.arch.setmaxregister_decrease(FEW_REGISTERS)
        if warp_number == 0:
            _bring(pipe, load_a, from_a, to_a, load_b, from_b, to_b, turns, STAGES)
    else:
        cute.arch.setmaxregister_increase(REGISTERS)
        mma = utils.sm90_make_trivial_tiled_mma(
            element, element, LayoutEnum.ROW_MAJOR.sm90_mma_major_mode(), LayoutEnum.COL_MAJOR.sm90_mma_major_mode(),
            cutlass.Float32, (WORKERS, 1, 1), tiler_mn=(64, BN),
        )  # fmt: skip
        share = mma.get_slice(cute.make_layout(WORKERS, stride=GROUP_THREADS)(group_number - 1))
        sums = cute.make_rmem_tensor(share.partition_shape_C((BM, BN)), cutlass.Float32)
        operand_a = mma.make_fragment_A(share.partition_A(tiles_a))
        operand_b = mma.make_fragment_B(share.partition_B(tiles_b))
        _multiply(pipe, mma, sums, operand_a, operand_b, turns, STAGES)
        _write(mma, sums, tile_out, store, part_out, thread - GROUP_THREADS, WORKERS, element)


@cute.jit
def matmul(
    a: cute.Tensor, b: cute.Tensor, out: cute.Tensor,
    BM: cutlass.Constexpr, BN: cutlass.Constexpr, STAGES: cutlass.Constexpr, GROUP: cutlass.Constexpr,
    WORKERS: cutlass.Constexpr,
):  # fmt: skip
    """Launch one block for each tile of A (M, K) B (K, N); rows are multiples of 16 bytes."""
    columns = cute.make_tensor(b.iterator, cute.select(b.layout, mode=[1, 0]))  # (N, K), N dense
    element = a.element_type
    tile = (BM, BN, DEPTH)
    layout_a = utils.sm90_make_smem_layout_a(LayoutEnum.ROW_MAJOR, tile, element, STAGES)
    layout_b = utils.sm90_make_smem_layout_b(LayoutEnum.COL_MAJOR, tile, element, STAGES)
    layout_out = utils.sm90_make_smem_layout_epi(element, LayoutEnum.ROW_MAJOR, (BM, DEPTH), BN // DEPTH)
    load, whole = cpasync.CopyBulkTensorTileG2SOp(), (None, None, 0)
    load_a, coordinates_a = cpasync.make_tiled_tma_atom(load, a, cute.slice_(layout_a, whole), (BM, DEPTH))
    load_b, coordinates_b = cpasync.make_tiled_tma_atom(load, columns, cute.slice_(layout_b, whole), (BN, DEPTH))
    store, coordinates_out = cpasync.make_tiled_tma_atom(
        cpasync.CopyBulkTensorTileS2GOp(), out, cute.slice_(layout_out, whole), (BM, DEPTH)
    )
    tiles = cute.ceil_div(a.shape[0], BM) * cute.ceil_div(b.shape[1], BN)
    matmul_kernel(
        load_a, coordinates_a, load_b, coordinates_b, store, coordinates_out, layout_a, layout_b, layout_out,
        BM, BN, STAGES, GROUP, WORKERS, element,
    ).launch(grid=(tiles, 1, 1), block=((WORKERS + 1) * GROUP_THREADS, 1, 1))  # fmt: skip
