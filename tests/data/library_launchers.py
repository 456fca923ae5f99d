"""Launchers as libraries write them: operations registered with torch, kernels wrapped for its compiler, locks."""

import multiprocessing

import torch
import triton
import triton.language as tl

LOCK = multiprocessing.Lock()


@triton.jit
def negate(x, out, n, BLOCK: tl.constexpr):
    """Write the negative."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, -tl.load(x + at, mask=at < n), mask=at < n)


@torch.library.custom_op("kopt_test::negated", mutates_args=(), device_types="cuda")
def negated(x: torch.Tensor) -> torch.Tensor:
    """Launch through a registered operation."""
    out = torch.empty_like(x)
    with LOCK:
        torch.library.wrap_triton(negate)[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
    return out


@negated.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


def twice(x):
    """Call it as a function and by its name, on a number made of a list."""
    scale = x.new_tensor([2.0, 3.0])
    assert scale.tolist() == [2.0, 3.0]
    return torch.ops.kopt_test.negated(negated(x))
