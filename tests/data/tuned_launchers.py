"""Launchers whose kernels choose among configurations: some do not fit, some do not compile, some are left out."""

import torch
import triton
import triton.language as tl


def _keep_two_warps(configs, named_args, **kwargs):
    return [one for one in configs if one.num_warps == 2]


@triton.heuristics({"EVEN": lambda args: args["n"] % 512 == 0})
@triton.autotune(
    [
        triton.Config({"BLOCK": 100}, num_warps=2),  # no power of two
        triton.Config({"BLOCK": 256}, num_warps=1),  # left out by the kernel's own rule
        triton.Config({"BLOCK": 512}, num_warps=2),
    ],
    key=["n"],
    prune_configs_by={"early_config_prune": _keep_two_warps},
)
@triton.jit
def double(x, out, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    """Write twice the input."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = None if EVEN else at < n
    tl.store(out + at, 2 * tl.load(x + at, mask=mask), mask=mask)


@triton.jit
def product(a, b, out, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """One block's product, operands in shared memory."""
    at, to, along = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    left = tl.load(a + at[:, None] * K + along)
    right = tl.load(b + along[:, None] * N + to)
    tl.store(out + at[:, None] * N + to, tl.dot(left, right).to(tl.float16))


def doubled(x):
    """Launch the tuned kernel twice, once on a part."""
    out = torch.empty_like(x)
    double[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, out, x.numel())
    double[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, out, x.numel())
    return out


def multiplied(a, b):
    """Launch a product that takes more shared memory than some targets have."""
    out = torch.empty((a.shape[0], b.shape[1]), device=a.device, dtype=a.dtype)
    product[(1,)](a, b, out, a.shape[0], b.shape[1], a.shape[1], num_warps=8)
    return out
