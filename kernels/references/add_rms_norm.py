"""Reference of an add with RMS norm: inputs from a seed and the float64 result."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
from __future__ import annotations

import torch

OP = "add_rms_norm"
_DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32}


EPS = 1e-6


def make_inputs(shape, dtype, device="cuda", seed=0):
    """Return (x, residual of MxN, weight of N)."""
    generator = torch.Generator(device=device).manual_seed(seed)
    x, residual = (torch.randn(shape, generator=generator, device=device) for _ in range(2))
    weight = torch.rand(shape[-1], generator=generator, device=device) + 0.5
    return tuple(one.to(_DTYPES[dtype]) for one in (x, residual, weight))


def reference(x, residual, weight, eps=EPS):
    """Return (normalised rows, the sum) in float64."""
    total = x.double() + residual.double()
    scale = torch.rsqrt(total.square().mean(dim=-1, keepdim=True) + eps)
    return total * scale * weight.double(), total
