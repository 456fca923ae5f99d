"""Kernels that are prepared for TileIR in tests, each with a launcher."""

import torch
import triton
import triton.language as tl


@triton.autotune(configs=[triton.Config({"BM": 32, "BN": 32, "BK": 32}, num_warps=4)], key=["M", "N", "K"])
@triton.jit
def matmul(
    a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """The product of the tutorial: rows that wrap around, pointers that advance."""
    pid = tl.program_id(axis=0)
    num_pid_n = tl.cdiv(N, BN)
    pid_m = pid // num_pid_n
    pid_n = pid % num_pid_n
    offs_am = (pid_m * BM + tl.arange(0, BM)) % M
    offs_bn = (pid_n * BN + tl.arange(0, BN)) % N
    offs_k = tl.arange(0, BK)
    a_ptrs = a_ptr + (offs_am[:, None] * stride_am + offs_k[None, :] * stride_ak)
    b_ptrs = b_ptr + (offs_k[:, None] * stride_bk + offs_bn[None, :] * stride_bn)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(tl.cdiv(K, BK)):
        a = tl.load(a_ptrs, mask=offs_k[None, :] < K - k * BK, other=0.0)
        b = tl.load(b_ptrs, mask=offs_k[:, None] < K - k * BK, other=0.0)
        acc = tl.dot(a, b, acc)
        a_ptrs += BK * stride_ak
        b_ptrs += BK * stride_bk
    c = (acc * tl.sigmoid(acc)).to(tl.float16)
    offs_cm = pid_m * BM + tl.arange(0, BM)
    offs_cn = pid_n * BN + tl.arange(0, BN)
    c_ptrs = c_ptr + stride_cm * offs_cm[:, None] + stride_cn * offs_cn[None, :]
    tl.store(c_ptrs, c, mask=(offs_cm[:, None] < M) & (offs_cn[None, :] < N))


@triton.jit
def scores(q, k, o, lens, T, scale, H: tl.constexpr, D: tl.constexpr, BT: tl.constexpr):
    """One chunk's scores of one head: offsets into the tensors, a transposed load, an extent that was loaded."""
    i_t, i_h = tl.program_id(0), tl.program_id(1).to(tl.int64)
    n = tl.load(lens + i_h)
    q += i_h * D
    o_t = i_t * BT + tl.arange(0, BT)
    o_s = tl.arange(0, BT)
    m_t = o_t < n
    b_s = tl.zeros([BT, BT], dtype=tl.float32)
    for i_d in range(tl.cdiv(D, 32)):
        o_d = i_d * 32 + tl.arange(0, 32)
        b_q = tl.load(q + o_t[:, None] * (H * D) + o_d[None, :], mask=m_t[:, None] & (o_d[None, :] < D), other=0.0)
        b_k = tl.load(k + i_h * D + o_d[:, None] + o_t[None, :] * (H * D), mask=(o_d[:, None] < D) & m_t[None, :])
        b_s += tl.dot(b_q, b_k)
    p_o = tl.make_block_ptr(o + i_h * T * BT, (T, BT), (BT, 1), (i_t * BT, 0), (BT, BT), (1, 0))
    tl.store(p_o, (b_s * scale).to(tl.float32), boundary_check=(0, 1))
    tl.store(lens + i_h + H, tl.sum(o_s, 0))


@triton.jit
def scaled(x_ptr, y_ptr, n, B: tl.constexpr):
    """No product, no configurations."""
    o = tl.program_id(0) * B + tl.arange(0, B)
    x = tl.load(x_ptr + o, mask=o < n)
    tl.store(y_ptr + o, x * tl.sigmoid(x), mask=o < n)


def launch_matmul(a, b):
    """Return the gated product."""
    c = torch.empty((a.shape[0], b.shape[1]), dtype=torch.float16, device=a.device)
    matmul[lambda meta: (triton.cdiv(a.shape[0], meta["BM"]) * triton.cdiv(b.shape[1], meta["BN"]),)](
        a, b, c, a.shape[0], b.shape[1], a.shape[1], *a.stride(), *b.stride(), *c.stride()
    )
    return c


def launch_scores(q, k, lens):
    """Return the scores by chunk."""
    t, h, d = q.shape
    out = torch.zeros((h, t, 32), dtype=torch.float32, device=q.device)
    scores[(triton.cdiv(t, 32), h)](q, k, out, lens, t, 0.5, H=h, D=d, BT=32)
    return out


def launch_scaled(x):
    """Return x times its sigmoid."""
    y = torch.empty_like(x)
    scaled[(triton.cdiv(x.numel(), 64),)](x, y, x.numel(), B=64, num_warps=2)
    return y


def run(module):
    """Return what the launchers of a module (this one or one made of it) give, on inputs from a seed."""
    seeded = torch.Generator().manual_seed(0)

    def random(*shape, dtype=torch.float16):
        return torch.randn(shape, generator=seeded).to(dtype)

    cases = [(64, 64, 64), (50, 72, 40), (33, 96, 56), (32, 33, 16)]
    found = [module.launch_matmul(random(m, k), random(k, n)) for m, n, k in cases]
    found.append(module.launch_matmul(random(64, 32), random(48, 32).t()))
    for lens in ([70, 64], [0, 33]):
        given = torch.tensor([*lens, 0, 0], dtype=torch.int32)
        found += [module.launch_scores(random(70, 2, 64), random(70, 2, 64), given), given]
    return [*found, module.launch_scaled(random(100, dtype=torch.float32))]
