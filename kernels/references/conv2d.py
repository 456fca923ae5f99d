"""Reference of a 2-D convolution: inputs from a seed and the float64 result."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
from __future__ import annotations

import torch

OP = "conv2d"
_DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32}


CHANNELS, KERNEL = 64, 3


def make_inputs(shape, dtype, device="cuda", seed=0):
    """Return (images of NxCxHxW, 64 filters of Cx3x3)."""
    generator = torch.Generator(device=device).manual_seed(seed)
    x = torch.randn(shape, generator=generator, device=device)
    size = shape[1] * KERNEL * KERNEL
    w = torch.randn(CHANNELS, shape[1], KERNEL, KERNEL, generator=generator, device=device) / size**0.5
    return tuple(one.to(_DTYPES[dtype]) for one in (x, w))


def reference(x, w):
    """Return the convolution with one zero around, in float64."""
    return torch.nn.functional.conv2d(x.double(), w.double(), padding=1)
