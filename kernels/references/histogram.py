"""Reference of a histogram: inputs from a seed and the float64 result."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
from __future__ import annotations

import torch

OP = "histogram"


def make_inputs(shape, dtype, device="cuda", seed=0):
    """Return (N ids, B zeros to count in): 32-bit integers, half of the ids in an eighth of the bins."""
    if dtype != "int32":
        raise ValueError(f"histogram is of int32, not {dtype}")
    values, bins = shape
    generator = torch.Generator(device=device).manual_seed(seed)
    ids = torch.randint(0, bins, (values,), generator=generator, device=device)
    few = torch.rand(values, generator=generator, device=device) < 0.5
    ids = torch.where(few, ids // 8, ids)
    return ids.to(torch.int32), torch.zeros(bins, dtype=torch.int32, device=device)


def reference(ids, zeros):
    """Return the counts in float64."""
    return zeros.double().index_add(0, ids.long(), torch.ones_like(ids, dtype=torch.float64))
