"""Reference of a batch of products: inputs from a seed and the float64 result."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
from __future__ import annotations

import torch

OP = "batched_gemm"
_DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32}


def make_inputs(shape, dtype, device="cuda", seed=0):
    """Return (A of BxMxK, B of BxKxN)."""
    batch, rows, cols, depth = shape
    generator = torch.Generator(device=device).manual_seed(seed)
    a = torch.randn(batch, rows, depth, generator=generator, device=device)
    b = torch.randn(batch, depth, cols, generator=generator, device=device) / depth**0.5
    return tuple(one.to(_DTYPES[dtype]) for one in (a, b))


def reference(a, b):
    """Return the products in float64."""
    return torch.bmm(a.double(), b.double())
