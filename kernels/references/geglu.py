"""Reference of GEGLU: inputs from a seed and the float64 result."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
from __future__ import annotations

import torch

OP = "geglu"
_DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32}


def make_inputs(shape, dtype, device="cuda", seed=0):
    """Return (gate, values) of MxN."""
    generator = torch.Generator(device=device).manual_seed(seed)
    made = (torch.randn(shape, generator=generator, device=device) for _ in range(2))
    return tuple(one.to(_DTYPES[dtype]) for one in made)


def reference(gate, values):
    """Return gelu(gate) values in float64."""
    return torch.nn.functional.gelu(gate.double()) * values.double()
