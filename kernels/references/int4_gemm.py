"""Reference of a product with 4-bit weights: inputs from a seed and the float64 result."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
from __future__ import annotations

import torch

OP = "int4_gemm"
_DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32}


GROUP = 128


def make_inputs(shape, dtype, device="cuda", seed=0):
    """Return (A of MxK, bytes of K/2xN with two weights each, scales of K/128xN)."""
    rows, cols, depth = shape
    generator = torch.Generator(device=device).manual_seed(seed)
    a = torch.randn(rows, depth, generator=generator, device=device)
    packed = torch.randint(0, 256, (depth // 2, cols), generator=generator, device=device).to(torch.uint8)
    scales = (torch.rand(depth // GROUP, cols, generator=generator, device=device) + 0.5) / (4.0 * depth**0.5)
    return a.to(_DTYPES[dtype]), packed, scales.to(_DTYPES[dtype])


def reference(a, packed, scales):
    """Return the product with the weights as they stand for, in float64."""
    pairs = torch.stack((packed & 15, packed >> 4), dim=1)
    weights = pairs.reshape(2 * packed.shape[0], packed.shape[1]).double() - 8.0
    wide = scales.double()[:, None, :].expand(-1, GROUP, -1).reshape(weights.shape)
    return torch.mm(a.double(), weights * wide)
