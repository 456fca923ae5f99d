"""Reference of a matrix times a vector: inputs from a seed and the float64 result."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
from __future__ import annotations

import torch

OP = "gemv"
_DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32}


def make_inputs(shape, dtype, device="cuda", seed=0):
    """Return (A of MxK, x of K)."""
    rows, depth = shape
    generator = torch.Generator(device=device).manual_seed(seed)
    a = torch.randn(rows, depth, generator=generator, device=device)
    x = torch.randn(depth, generator=generator, device=device)
    return tuple(one.to(_DTYPES[dtype]) for one in (a, x / depth**0.5))


def reference(a, x):
    """Return the product in float64."""
    return torch.mm(a.double(), x.double()[:, None])[:, 0]
