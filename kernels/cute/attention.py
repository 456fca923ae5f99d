"""Attention forward on Hopper in CuTe DSL: TMA brings keys and values, wgmma multiplies, the softmax runs online.

/* kb
op = "attention"
op_options = { causal = true }
dtypes = ["bf16", "fp16"]
language = "cute"
function = "attention"

config = { BN = 128, STAGES = 2, WORKERS = 2 }

[tuning_space]
BN = [64, 96, 128, 160]
STAGES = [1, 2, 3]
WORKERS = [2, 3]

[inputs]
q = "[B, H, S, D]"
k = "[B, H, S, D]"
v = "[B, H, S, D]"

[outputs]
out = "[B, H, S, D]"

[let]
BM = "64 * WORKERS"

[[steps]]
launch = "attention_kernel"
grid = ["cdiv(S, BM)", "B * H"]
block = ["(WORKERS + 1) * 128"]
# Barriers, the queries, and keys and values of each stage; the result takes the queries' place.
shared = "1024 + (BM + 2 * STAGES * BN) * D * 2"
arguments = [
  "map q [1, BM, 64] of [B * H, S, D] swizzle 128", "map k [1, BN, 64] of [B * H, S, D] swizzle 128",
  "map v [1, BN, 64] of [B * H, S, D] swizzle 128", "map out [1, BM, 64] of [B * H, S, D] swizzle 128",
]

[[variants]]
name = "two_groups"
category = "latency_hiding"
summary = "128 queries a block: two warp groups share keys and values"
precondition = "S >= 128"
config = { WORKERS = 2 }
knobs = ["BN", "STAGES"]

[[variants]]
name = "three_groups"
category = "memory_traffic"
summary = "192 queries a block: three warp groups share keys and values, with fewer registers each"
precondition = "S >= 512"
config = { WORKERS = 3 }
knobs = ["BN", "STAGES"]
*/
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics

import math

import cutlass
from cutlass import cute, memory, pipeline, utils
from cutlass.cute.nvgpu import cpasync, warp, warpgroup
from cutlass.tensor_utils import LayoutEnum

GROUP_THREADS = 128
"""Threads of a warp group."""
ROWS = 64
"""Queries of a warp group: rows of one wgmma."""
LEAST = -3.0e38
"""Below every score, yet finite: rows whose keys are all behind them keep it, and differences of it are no NaN."""
FEW_REGISTERS, REGISTERS = 24, {2: 240, 3: 160}
"""Registers of a thread that copies, and of one that multiplies by their number of groups: all of them have to fit."""
STRIPE = 64
"""Elements of 128 bytes, the widest swizzle."""


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
def _mask(
    scores: cute.Tensor, places: cute.Tensor, row: cutlass.Int32, column: cutlass.Int32, length: cutlass.Constexpr
):
    """Set scores of keys behind their query, and of keys that are not there, to minus infinity."""
    for one in cutlass.range_constexpr(cute.size(scores)):
        query, key = places[one]
        if column + key > row + query or column + key >= length:
            scores[one] = -cutlass.Float32.inf


@cute.jit
def _softmax(scores: cute.Tensor, most: cute.Tensor, sums: cute.Tensor, scale: cutlass.Constexpr) -> cute.Tensor:
    """Turn scores into weights in place; return by how much what was summed before shrinks, by row."""
    by_row = _by_row(scores)
    shrink = cute.make_rmem_tensor(most.shape, cutlass.Float32)
    for row in cutlass.range_constexpr(cute.size(most)):
        values = by_row[row, None].load()
        peak = values.reduce(cute.ReductionOp.MAX, most[row], 0)
        peak = cute.arch.warp_reduction_max(peak, threads_in_group=4)
        shrink[row] = cute.math.exp2((most[row] - peak) * scale, fastmath=True)
        weights = cute.math.exp2(values * scale - peak * scale, fastmath=True)
        by_row[row, None].store(weights)
        # Lanes add up their own columns; the four of a row meet at the end.
        sums[row] = sums[row] * shrink[row] + weights.reduce(cute.ReductionOp.ADD, cutlass.Float32(0.0), 0)
        most[row] = peak
    return shrink


def _by_row(held: cute.Tensor) -> cute.Tensor:
    """Return the two rows of a thread's part of a product, each with its columns."""
    columns = cute.size(held) // 4
    return cute.make_tensor(held.iterator, cute.make_layout((2, (2, columns)), stride=(2, (1, 4))))


@cute.jit
def _scale_rows(held: cute.Tensor, factors: cute.Tensor):
    by_row = _by_row(held)
    for row in cutlass.range_constexpr(cute.size(factors)):
        by_row[row, None].store(by_row[row, None].load() * factors[row])


def _product(first: cute.TiledMma, more: cute.TiledMma, sums: cute.Tensor, a: cute.Tensor, b: cute.Tensor):
    """Begin the product of two operands, without waiting for it; `first` says whether it adds to what was summed."""
    warpgroup.fence()
    for step in range(cute.size(a, mode=[2])):
        cute.gemm(more if step else first, sums, a[None, None, step], b[None, None, step], sums)
    warpgroup.commit_group()


def _mma(element: type, columns: int, workers: int, *, values: bool = False, adds: bool = True) -> cute.TiledMma:
    """Return the wgmma of scores, or of values, whose left operand is in registers and whose right one lies by rows."""
    k_major = LayoutEnum.ROW_MAJOR.sm90_mma_major_mode()
    right = LayoutEnum.COL_MAJOR.sm90_mma_major_mode() if values else k_major
    source = warpgroup.OperandSource.RMEM if values else warpgroup.OperandSource.SMEM
    made = utils.sm90_make_trivial_tiled_mma(
        element, element, k_major, right, cutlass.Float32, (workers, 1, 1), tiler_mn=(64, columns), a_source=source
    )
    made.set(warpgroup.Field.ACCUMULATE, adds)
    return made


@cute.jit
def _round(scores: cute.Tensor, weights: cute.Tensor):
    """Put scores into weights' type; both lie in the same order."""
    flat = cute.make_tensor(weights.iterator, cute.make_layout(scores.shape))
    flat.store(scores.load().to(weights.element_type))


@cute.jit
def _bring(
    pipe_q: pipeline.PipelineTmaAsync, pipe_k: pipeline.PipelineTmaAsync, pipe_v: pipeline.PipelineTmaAsync,
    loads: tuple, places: tuple, held: tuple, turns: cutlass.Int32, STAGES: cutlass.Constexpr,
):  # fmt: skip
    """Copy the queries, then keys and values from the last tile to the first, wherever a stage is free."""
    filled_q = pipeline.make_pipeline_state(pipeline.PipelineUserType.Producer, 1)
    filled = pipeline.make_pipeline_state(pipeline.PipelineUserType.Producer, STAGES)
    pipe_q.producer_acquire(filled_q)
    cute.copy(loads[0], places[0], held[0][None, 0], tma_bar_ptr=pipe_q.producer_get_barrier(filled_q))
    for turn in cutlass.range(turns, unroll=1):
        at = turns - 1 - turn
        pipe_k.producer_acquire(filled)
        barrier = pipe_k.producer_get_barrier(filled)
        cute.copy(loads[1], places[1][None, at], held[1][None, filled.index], tma_bar_ptr=barrier)
        pipe_v.producer_acquire(filled)
        barrier = pipe_v.producer_get_barrier(filled)
        cute.copy(loads[2], places[2][None, at], held[2][None, filled.index], tma_bar_ptr=barrier)
        filled.advance()


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


def _filled(shape: tuple[int, ...], value: float) -> cute.Tensor:
    """Return registers with a number in all of them."""
    made = cute.make_rmem_tensor(shape, cutlass.Float32)
    made.fill(value)
    return made


@cute.jit
def _attend(
    pipe_k: pipeline.PipelineTmaAsync, pipe_v: pipeline.PipelineTmaAsync, mmas: tuple, operands: tuple,
    scores: cute.Tensor, result: cute.Tensor, places: cute.Tensor, row: cutlass.Int32, turns: cutlass.Int32,
    length: cutlass.Constexpr, depth: cutlass.Constexpr, BN: cutlass.Constexpr, STAGES: cutlass.Constexpr,
    element: cutlass.Constexpr,
):  # fmt: skip
    """Add up weighted values over all keys, and divide by the weights' sum.

    The next scores and the last weights' product are under way while the softmax of the former runs.
    """
    fresh_mma, score_mma, value_mma = mmas
    operand_q, operand_k, operand_v = operands
    # A thread's weights lie as wgmma wants the left operand: four values of two columns for each 16 keys.
    weights = cute.make_rmem_tensor(((2, 2, 2), 1, BN // 16), element)
    most, sums = _filled((2,), LEAST), _filled((2,), 0.0)
    result.fill(0.0)
    scale = 1.0 / math.sqrt(depth) * math.log2(math.e)
    used_k = pipeline.make_pipeline_state(pipeline.PipelineUserType.Consumer, STAGES)
    used_v = pipeline.make_pipeline_state(pipeline.PipelineUserType.Consumer, STAGES)
    pipe_k.consumer_wait(used_k)
    _product(fresh_mma, score_mma, scores, operand_q, operand_k[None, None, None, used_k.index])
    warpgroup.wait_group(0)
    pipe_k.consumer_release(used_k)
    used_k.advance()
    _mask(scores, places, row, (turns - 1) * BN, length)
    _softmax(scores, most, sums, scale)
    _round(scores, weights)
    for turn in cutlass.range(1, turns, unroll=1):
        at = turns - 1 - turn
        pipe_k.consumer_wait(used_k)
        _product(fresh_mma, score_mma, scores, operand_q, operand_k[None, None, None, used_k.index])
        pipe_v.consumer_wait(used_v)
        _product(value_mma, value_mma, result, weights, operand_v[None, None, None, used_v.index])
        warpgroup.wait_group(1)
        pipe_k.consumer_release(used_k)
        used_k.advance()
        if (at + 1) * BN > row:
            _mask(scores, places, row, at * BN, length)
        shrink = _softmax(scores, most, sums, scale)
        warpgroup.wait_group(0)
        pipe_v.consumer_release(used_v)
        used_v.advance()
        _scale_rows(result, shrink)
        _round(scores, weights)
    pipe_v.consumer_wait(used_v)
    _product(value_mma, value_mma, result, weights, operand_v[None, None, None, used_v.index])
    warpgroup.wait_group(0)
    for one in cutlass.range_constexpr(2):
        sums[one] = 1.0 / cute.arch.warp_reduction_sum(sums[one], threads_in_group=4)
    _scale_rows(result, sums)


@cute.jit
def _work(
    pipes: tuple, tiles: tuple, store: cute.CopyAtom, there: cute.Tensor, worker: cutlass.Int32, number: cutlass.Int32,
    row: cutlass.Int32, turns: cutlass.Int32, length: cutlass.Constexpr, depth: cutlass.Constexpr,
    BN: cutlass.Constexpr, STAGES: cutlass.Constexpr, WORKERS: cutlass.Constexpr, element: cutlass.Constexpr,
):  # fmt: skip
    """Do a warp group's part: its operands and sums, all keys, and the result's way out."""
    BM = ROWS * WORKERS
    group = cute.make_layout(WORKERS, stride=GROUP_THREADS)(number)
    fresh_mma, score_mma = _mma(element, BN, WORKERS, adds=False), _mma(element, BN, WORKERS)
    value_mma = _mma(element, depth, WORKERS, values=True)
    score_share, value_share = score_mma.get_slice(group), value_mma.get_slice(group)
    operands = (
        score_mma.make_fragment_A(score_share.partition_A(tiles[0]))[None, None, None, 0],
        score_mma.make_fragment_B(score_share.partition_B(tiles[1])),
        value_mma.make_fragment_B(value_share.partition_B(tiles[2])),
    )
    scores = cute.make_rmem_tensor(score_share.partition_shape_C((BM, BN)), cutlass.Float32)
    result = cute.make_rmem_tensor(value_share.partition_shape_C((BM, depth)), cutlass.Float32)
    places = score_mma.get_slice(worker).partition_C(cute.make_identity_tensor((BM, BN)))
    pipes[0].consumer_wait(pipeline.make_pipeline_state(pipeline.PipelineUserType.Consumer, 1))
    _attend(
        pipes[1], pipes[2], (fresh_mma, score_mma, value_mma), operands, scores, result, places, row, turns,
        length, depth, BN, STAGES, element,
    )  # fmt: skip
    _write(value_mma, result, tiles[3], store, there, worker, WORKERS, element)


@cute.kernel
def attention_kernel(
    load_q: cute.CopyAtom, q: cute.Tensor, load_k: cute.CopyAtom, k: cute.Tensor, load_v: cute.CopyAtom, v: cute.Tensor,
    store: cute.CopyAtom, out: cute.Tensor,
    layout_q: cute.ComposedLayout, layout_k: cute.ComposedLayout, layout_v: cute.ComposedLayout,
    layout_out: cute.ComposedLayout, BN: cutlass.Constexpr, STAGES: cutlass.Constexpr, WORKERS: cutlass.Constexpr,
    element: cutlass.Constexpr,
):  # fmt: skip
    """Write a tile of ROWS * WORKERS queries of one head: softmax(Q K^T / sqrt(D)) V, keys up to each query's place."""
    thread, _, _ = cute.arch.thread_idx()
    tile, head, _ = cute.arch.block_idx()
    warp_number = cute.arch.make_warp_uniform(cute.arch.warp_idx())
    group_number = cute.arch.make_warp_uniform(thread // GROUP_THREADS)
    length, depth = q.shape[0], q.shape[1]
    BM = ROWS * WORKERS
    # The tiles with most keys begin first.
    tile = cute.ceil_div(length, BM) - 1 - tile
    turns = cute.ceil_div(cutlass.min((tile + 1) * BM, length), BN)

    storage = memory.SmemAllocator()
    barriers = storage.allocate_array(cutlass.Int64, 2 + 4 * STAGES)
    tile_q = storage.allocate_tensor(element, layout_q.outer, 1024, layout_q.inner)
    tiles_k = storage.allocate_tensor(element, layout_k.outer, 1024, layout_k.inner)
    tiles_v = storage.allocate_tensor(element, layout_v.outer, 1024, layout_v.inner)
    place = cute.recast_ptr(tile_q.iterator, layout_out.inner, dtype=element)  # the result takes the queries' place
    tile_out = cute.make_tensor(place, layout_out.outer)

    row_bytes = depth * element.width // 8
    pipe_q = _pipe(barriers, 1, BM * row_bytes, WORKERS)
    pipe_k = _pipe(barriers + 2, STAGES, BN * row_bytes, WORKERS)
    pipe_v = _pipe(barriers + 2 + 2 * STAGES, STAGES, BN * row_bytes, WORKERS)
    part_out = cute.local_tile(out[None, None, head], (BM, depth), (tile, 0))
    to_q, from_q = _parts(load_q, tile_q, cute.local_tile(q[None, None, head], (BM, depth), (tile, 0)))
    to_k, from_k = _parts(load_k, tiles_k, cute.local_tile(k[None, None, head], (BN, depth), (None, 0)))
    to_v, from_v = _parts(load_v, tiles_v, cute.local_tile(v[None, None, head], (depth, BN), (0, None)))

    if group_number == 0:
        cute.arch.setmaxregister_decrease(FEW_REGISTERS)
        if warp_number == 0:
            loads, places, held = (load_q, load_k, load_v), (from_q, from_k, from_v), (to_q, to_k, to_v)
            _bring(pipe_q, pipe_k, pipe_v, loads, places, held, turns, STAGES)
    else:
        cute.arch.setmaxregister_increase(REGISTERS[WORKERS])
        _work(
            (pipe_q, pipe_k, pipe_v), (tile_q, tiles_k, tiles_v, tile_out), store, part_out, thread - GROUP_THREADS,
            group_number - 1, tile * BM, turns, length, depth, BN, STAGES, WORKERS, element,
        )  # fmt: skip


@cute.jit
def attention(
    q: cute.Tensor, k: cute.Tensor, v: cute.Tensor, out: cute.Tensor,
    BN: cutlass.Constexpr, STAGES: cutlass.Constexpr, WORKERS: cutlass.Constexpr,
):  # fmt: skip
    """Launch one block for each tile of queries of each head of Q (B, H, S, D); K and V have as many heads."""
    length, depth, element, tile_m = q.shape[2], q.shape[3], q.element_type, ROWS * WORKERS
    heads = q.shape[0] * q.shape[1]
    rows = cute.make_layout((length, depth, heads), stride=(depth, 1, length * depth))
    columns = cute.make_layout((depth, length, heads), stride=(1, depth, length * depth))
    queries, keys, result = (cute.make_tensor(one.iterator, rows) for one in (q, k, out))
    values = cute.make_tensor(v.iterator, columns)
    layout_q = utils.sm90_make_smem_layout_a(LayoutEnum.ROW_MAJOR, (tile_m, BN, depth), element, 1)
    layout_k = utils.sm90_make_smem_layout_b(LayoutEnum.ROW_MAJOR, (tile_m, BN, depth), element, STAGES)
    layout_v = utils.sm90_make_smem_layout_b(LayoutEnum.COL_MAJOR, (tile_m, depth, BN), element, STAGES)
    layout_out = utils.sm90_make_smem_layout_epi(element, LayoutEnum.ROW_MAJOR, (tile_m, STRIPE), depth // STRIPE)
    load, save, whole = cpasync.CopyBulkTensorTileG2SOp(), cpasync.CopyBulkTensorTileS2GOp(), (None, None, 0)
    load_q, from_q = cpasync.make_tiled_tma_atom(load, queries, cute.slice_(layout_q, whole), (tile_m, depth))
    load_k, from_k = cpasync.make_tiled_tma_atom(load, keys, cute.slice_(layout_k, whole), (BN, depth))
    load_v, from_v = cpasync.make_tiled_tma_atom(load, values, cute.slice_(layout_v, whole), (depth, BN))
    store, to_out = cpasync.make_tiled_tma_atom(save, result, cute.slice_(layout_out, whole), (tile_m, STRIPE))
    attention_kernel(
        load_q, from_q, load_k, from_k, load_v, from_v, store, to_out,
        layout_q, layout_k, layout_v, layout_out, BN, STAGES, WORKERS, element,
    ).launch(
        grid=(cute.ceil_div(length, tile_m), heads, 1), block=((WORKERS + 1) * GROUP_THREADS, 1, 1)
    )  # fmt: skip
