"""Reference of a product of fp8 blocks: inputs from a seed and the float64 result."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
from __future__ import annotations

import torch

OP = "fp8_gemm"


BLOCK = 128


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
