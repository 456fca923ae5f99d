"""Small Triton kernels for the compile tests: vector addition, GEMM by pointers and descriptors, attention."""

# ruff: noqa: N803 - Triton's constants are upper case
import triton
import triton.language as tl

OP = "elementwise"
TUNING_SPACE = {"BLOCK": (256, 1024), "num_warps": (4, 8)}


@triton.jit
def vadd(x, y, o, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    tl.store(o + i, tl.load(x + i, m) + tl.load(y + i, m), m)


@triton.jit
def helper(x):
    return x * 2


@triton.autotune(configs=[triton.Config({"BLOCK": 512}, num_warps=2), triton.Config({"BLOCK": 2048})], key=["n"])
@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit
def tuned(x, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if EVEN:
        tl.store(x + i, helper(tl.load(x + i)))
    else:
        tl.store(x + i, helper(tl.load(x + i, i < n)), i < n)


@triton.jit
def gemm(a, b, c, K, sa, sb, sc, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    ap = a + rm[:, None] * sa + rk[None, :]
    bp = b + rk[:, None] * sb + rn[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, K, BK):
        acc = tl.dot(tl.load(ap), tl.load(bp), acc)
        ap += BK
        bp += BK * sb
    tl.store(c + rm[:, None] * sc + rn[None, :], acc.to(c.dtype.element_ty))


@triton.jit
def gemm_tma(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(a.load([m, k]), b.load([k, n]), acc)
    c.store([m, n], acc.to(tl.float16))


def static_cases(shape, dtype, config=None):
    from kopt_kb.kernels.launch_case import LaunchCase, TensorSpec

    knobs = {"BLOCK": 1024, "num_warps": 4} | (config or {})
    one = TensorSpec(tuple(shape), dtype)
    grid = (triton.cdiv(shape[0], knobs["BLOCK"]),)
    constexprs = {"BLOCK": knobs["BLOCK"]}
    return (LaunchCase(vadd, grid, (one, one, one, shape[0]), constexprs, num_warps=knobs["num_warps"]),)
