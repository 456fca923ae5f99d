"""RMS normalisation over rows in FlyDSL: one block a row, 16-byte accesses, the row kept in registers.

/* kb
op = "rms_norm"
op_options = { weight = true }
dtypes = ["bf16", "fp16"]
language = "flydsl"
function = "rms_norm"

config = { THREADS = 256 }

[tuning_space]
THREADS = [128, 256, 512]

[inputs]
x = "[M, N]"
weight = "[N]"

[outputs]
out = "[M, N]"

[[steps]]
launch = "rms_norm_kernel"
grid = ["M"]
block = ["THREADS"]
# A tensor is its address, and extents and strides that the compiler does not know.
arguments = ["x", ["i32 M", "i32 N", "i64 N"], "weight", ["i32 N"], "out", ["i32 M", "i32 N", "i64 N"]]
when = "N % (THREADS * 8) == 0"
*/
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
import math

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.expr import gpu, range_constexpr
from flydsl.expr import math as fmath
from flydsl.expr.typing import ReductionOp

WAVE, VEC = 64, 8


@flyc.kernel
def rms_norm_kernel(x: fx.Tensor, weight: fx.Tensor, out: fx.Tensor, N: fx.Constexpr[int], THREADS: fx.Constexpr[int]):
    """Normalise row `blockIdx.x` of `x` (M, N) by its root mean square and scale it by `weight` (N)."""
    thread, row = fx.thread_idx.x, fx.block_idx.x
    waves = THREADS // WAVE

    @fx.struct
    class Shared:
        parts: fx.Array[fx.Float32, waves, 16]

    parts = fx.SharedAllocator().allocate(Shared).peek().parts.view(fx.make_layout(waves, 1))
    source = fx.logical_divide(fx.slice(fx.rocdl.make_buffer_tensor(x), (row, None)), fx.make_layout(VEC, 1))
    target = fx.logical_divide(fx.slice(fx.rocdl.make_buffer_tensor(out), (row, None)), fx.make_layout(VEC, 1))
    scales = fx.logical_divide(fx.rocdl.make_buffer_tensor(weight), fx.make_layout(VEC, 1))
    element = x.element_type
    atom = fx.make_copy_atom(fx.rocdl.BufferCopy128b(), 16)

    def read(tensor, pack):
        held = fx.make_rmem_tensor(VEC, element)
        fx.copy(atom, fx.slice(tensor, (None, pack)), held)
        return fx.memref_load_vec(held)

    kept = []
    squares = fx.Float32(0.0)
    for turn in range_constexpr(N // (THREADS * VEC)):
        kept.append(read(source, thread + turn * THREADS))
        values = kept[turn].to(fx.Float32)
        squares = squares + (values * values).reduce(ReductionOp.ADD)
    for step in range_constexpr(int(math.log2(WAVE))):
        squares = squares + squares.shuffle_xor(WAVE // (2 << step), WAVE)
    if thread % WAVE == 0:
        fx.memref_store(squares, parts, thread // WAVE)
    gpu.barrier()
    total = fx.Float32(0.0)
    for wave in range_constexpr(waves):
        total = total + fx.memref_load(parts, wave)
    scale = fmath.rsqrt(total / float(N) + 1e-6)
    for turn in range_constexpr(N // (THREADS * VEC)):
        pack = thread + turn * THREADS
        made = kept[turn].to(fx.Float32) * scale * read(scales, pack).to(fx.Float32)
        held = fx.make_rmem_tensor(VEC, element)
        fx.memref_store_vec(made.to(element), held)
        fx.copy(atom, held, fx.slice(target, (None, pack)))


@flyc.jit
def rms_norm(
    x: fx.Tensor, weight: fx.Tensor, out: fx.Tensor, M: fx.Constexpr[int], N: fx.Constexpr[int],
    THREADS: fx.Constexpr[int], stream: fx.Stream = fx.Stream(None),  # noqa: B008 - FlyDSL reads the default
):  # fmt: skip
    """Launch one block for each row; rows are whole turns of all threads."""
    rms_norm_kernel(x, weight, out, N, THREADS).launch(grid=(M, 1, 1), block=(THREADS, 1, 1), stream=stream)
