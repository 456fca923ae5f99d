"""Reference of a rotary embedding: inputs from a seed and the float64 result."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
from __future__ import annotations

import torch

OP = "rope"
_DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32}


def make_inputs(shape, dtype, device="cuda", seed=0):
    """Return (x of BxSxHxD, cosines and sines of SxD/2) of that storage type."""
    _, length, _, width = shape
    generator = torch.Generator(device=device).manual_seed(seed)
    x = torch.randn(shape, generator=generator, device=device)
    angles = 6.0 * torch.rand(length, width // 2, generator=generator, device=device)
    return tuple(one.to(_DTYPES[dtype]) for one in (x, angles.cos(), angles.sin()))


def reference(x, cos, sin):
    """Return the rotated halves in float64."""
    a, b = x.double().chunk(2, dim=-1)
    c, s = cos.double()[None, :, None, :], sin.double()[None, :, None, :]
    return torch.cat((a * c - b * s, a * s + b * c), dim=-1)
