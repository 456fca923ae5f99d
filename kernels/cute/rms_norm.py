"""RMS normalisation over rows in CuTe DSL: one block a row, 16-byte accesses, the row kept in registers.

/* kb
op = "rms_norm"
op_options = { weight = true }
dtypes = ["bf16", "fp16", "fp32"]
language = "cute"
function = "rms_norm"

config = { THREADS = 256, KEPT = 1 }

[tuning_space]
THREADS = [64, 128, 256, 512, 1024]
KEPT = [0, 1]

[inputs]
x = "[M, N]"
weight = "[N]"

[outputs]
out = "[M, N]"

[let]
# Elements of one 16-byte access; 1 where rows are no multiple of it.
VEC = "max(16 // element_bytes * (1 - min(N * element_bytes % 16, 1)), 1)"

[[steps]]
launch = "rms_norm_kernel"
grid = ["M"]
block = ["THREADS"]
shared = "THREADS // 32 * 4"
arguments = ["x", "weight", "out"]

[[variants]]
name = "kept"
category = "memory_traffic"
summary = "keep the row in registers, so that it is read once"
precondition = "N <= 16384"
config = { KEPT = 1 }
knobs = ["THREADS"]

[[variants]]
name = "two_pass"
category = "caching"
summary = "read the row twice and leave it to the cache; fewer registers"
precondition = "N > 4096"
config = { KEPT = 0 }
knobs = ["THREADS"]
*/
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics

import cutlass
from cutlass import cute, memory

_WARP = 32


@cute.kernel
def rms_norm_kernel(
    x: cute.Tensor, weight: cute.Tensor, out: cute.Tensor,
    THREADS: cutlass.Constexpr, VEC: cutlass.Constexpr, KEPT: cutlass.Constexpr,
):  # fmt: skip
    """Normalise row `blockIdx.x` of `x` (M, N) by its root mean square and scale it by `weight` (N)."""
    thread, _, _ = cute.arch.thread_idx()
    row, _, _ = cute.arch.block_idx()
    columns = cute.size(x, mode=[1])
    packs = columns // VEC
    turns = (packs + THREADS - 1) // THREADS
    whole = packs % THREADS == 0

    source = cute.zipped_divide(x, (1, VEC))  # ((1, VEC), (M, packs))
    target = cute.zipped_divide(out, (1, VEC))
    scales = cute.zipped_divide(weight, (VEC,))  # ((VEC), (packs))

    kept = cute.make_rmem_tensor((VEC, turns if KEPT else 1), x.element_type)
    squares = cutlass.Float32(0.0)
    for turn in cutlass.range_constexpr(turns):
        pack = turn * THREADS + thread
        held = kept[None, turn if KEPT else 0]
        held.fill(0)
        if whole or pack < packs:
            cute.autovec_copy(source[(0, None), (row, pack)], held)
        values = held.load().to(cutlass.Float32)
        squares += (values * values).reduce(cute.ReductionOp.ADD, cutlass.Float32(0.0), 0)

    # Every warp adds up its own part, then each thread all the warps' parts.
    squares = cute.arch.warp_reduction_sum(squares)
    parts = memory.SmemAllocator().allocate_tensor(cutlass.Float32, cute.make_layout(THREADS // _WARP), 16)
    if thread % _WARP == 0:
        parts[thread // _WARP] = squares
    cute.arch.sync_threads()
    total = cutlass.Float32(0.0)
    for warp in cutlass.range_constexpr(THREADS // _WARP):
        total += parts[warp]
    scale = cute.math.rsqrt(total / columns + 1e-6)

    for turn in cutlass.range_constexpr(turns):
        pack = turn * THREADS + thread
        read = kept[None, turn if KEPT else 0]
        if whole or pack < packs:
            if cutlass.const_expr(not KEPT):
                cute.autovec_copy(source[(0, None), (row, pack)], read)
            factors = cute.make_rmem_tensor((VEC,), weight.element_type)
            cute.autovec_copy(scales[None, pack], factors)
            made = cute.make_rmem_tensor((VEC,), out.element_type)
            product = read.load().to(cutlass.Float32) * scale * factors.load().to(cutlass.Float32)
            made.store(product.to(out.element_type))
            cute.autovec_copy(made, target[(0, None), (row, pack)])


@cute.jit
def rms_norm(
    x: cute.Tensor, weight: cute.Tensor, out: cute.Tensor,
    THREADS: cutlass.Constexpr, VEC: cutlass.Constexpr, KEPT: cutlass.Constexpr,
):  # fmt: skip
    """Launch one block for each row."""
    rms_norm_kernel(x, weight, out, THREADS, VEC, KEPT).launch(grid=(x.shape[0], 1, 1), block=(THREADS, 1, 1))
