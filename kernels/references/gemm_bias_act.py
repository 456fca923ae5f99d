"""Reference of a product with bias and activation: inputs from a seed and the float64 result."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
from __future__ import annotations

import torch

OP = "gemm_bias_act"
_DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32}


def make_inputs(shape, dtype, device="cuda", seed=0):
    """Return (A of MxK, B of KxN, bias of N)."""
    rows, cols, depth = shape
    generator = torch.Generator(device=device).manual_seed(seed)
    a = torch.randn(rows, depth, generator=generator, device=device)
    b = torch.randn(depth, cols, generator=generator, device=device) / depth**0.5
    bias = torch.randn(cols, generator=generator, device=device)
    return tuple(one.to(_DTYPES[dtype]) for one in (a, b, bias))


def reference(a, b, bias):
    """Return relu(A B + bias) in float64."""
    return torch.relu(torch.mm(a.double(), b.double()) + bias.double())
