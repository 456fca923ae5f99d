"""Reference of an embedding lookup: inputs from a seed and the float64 result."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
from __future__ import annotations

import torch

OP = "embedding"
_DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32}


def make_inputs(shape, dtype, device="cuda", seed=0):
    """Return (table of VxD, T ids that differ as far as V allows)."""
    tokens, rows, width = shape
    generator = torch.Generator(device=device).manual_seed(seed)
    table = torch.randn(rows, width, generator=generator, device=device)
    order = torch.randperm(rows, generator=generator, device=device)
    return table.to(_DTYPES[dtype]), order.repeat(-(-tokens // rows))[:tokens].contiguous()


def reference(table, ids):
    """Return the rows in float64."""
    return torch.nn.functional.embedding(ids, table.double())
