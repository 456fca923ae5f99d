"""Reference of the backward pass of layer norm: inputs from a seed and the float64 result."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
from __future__ import annotations

import torch

OP = "layer_norm_backward"
_DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32}


EPS = 1e-5


def make_inputs(shape, dtype, device="cuda", seed=0):
    """Return (dy, x of MxN, weight of N)."""
    generator = torch.Generator(device=device).manual_seed(seed)
    dy, x = (torch.randn(shape, generator=generator, device=device) for _ in range(2))
    weight = torch.rand(shape[-1], generator=generator, device=device) + 0.5
    return tuple(one.to(_DTYPES[dtype]) for one in (dy, x, weight))


def reference(dy, x, weight, eps=EPS):
    """Return (dx, dw, db) in float64."""
    dy, x, weight = dy.double(), x.double(), weight.double()
    centred = x - x.mean(dim=-1, keepdim=True)
    scale = torch.rsqrt(centred.square().mean(dim=-1, keepdim=True) + eps)
    normed, grad = centred * scale, dy * weight
    mean, along = grad.mean(dim=-1, keepdim=True), (grad * normed).mean(dim=-1, keepdim=True)
    return (grad - mean - normed * along) * scale, (dy * normed).sum(0), dy.sum(0)
