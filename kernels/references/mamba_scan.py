"""Reference of a selective scan: inputs from a seed and the float64 result."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
from __future__ import annotations

import torch

OP = "mamba_scan"
_DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32}


def make_inputs(shape, dtype, device="cuda", seed=0):
    """Return (u, dt of BxLxD, A of DxN, B, C of BxLxN, D of D)."""
    batch, length, width, states = shape
    generator = torch.Generator(device=device).manual_seed(seed)
    u = torch.randn(batch, length, width, generator=generator, device=device)
    dt = 0.1 * torch.rand(batch, length, width, generator=generator, device=device)
    a = -torch.rand(width, states, generator=generator, device=device) - 0.1
    b, c = (torch.randn(batch, length, states, generator=generator, device=device) for _ in range(2))
    d = torch.randn(width, generator=generator, device=device)
    return tuple(one.to(_DTYPES[dtype]) for one in (u, dt, a, b, c, d))


def reference(u, dt, a, b, c, d):
    """Return the outputs in float64, step by step."""
    u, dt, a, b, c, d = (one.double() for one in (u, dt, a, b, c, d))
    state, found = u.new_zeros(u.shape[0], u.shape[2], a.shape[1]), []
    for step in range(u.shape[1]):
        decay = torch.exp(dt[:, step, :, None] * a)
        state = decay * state + (dt[:, step] * u[:, step])[:, :, None] * b[:, step, None, :]
        found.append((state * c[:, step, None, :]).sum(-1) + d * u[:, step])
    return torch.stack(found, dim=1)
