"""RMS normalisation in plain torch: where the route pytorch begins."""

import torch

OP = "rms_norm"

_DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32}


def make_inputs(shape, dtype, device="cuda", seed=0):
    """Return (x of MxN, weight of N) of that storage type, from a seed."""
    rows, cols = shape
    generator = torch.Generator(device=device).manual_seed(seed)
    x = torch.randn(rows, cols, generator=generator, device=device)
    weight = torch.rand(cols, generator=generator, device=device) + 0.5
    return x.to(_DTYPES[dtype]), weight.to(_DTYPES[dtype])


def reference(x, weight, eps=1e-6):
    """Return the normalised rows in float64."""
    wide = x.double()
    return wide * torch.rsqrt(wide.square().mean(dim=-1, keepdim=True) + eps) * weight.double()
