"""Reference of the gradient of the cross-entropy loss: inputs from a seed and the float64 result."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
from __future__ import annotations

import torch

OP = "cross_entropy_backward"
_DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32}


def make_inputs(shape, dtype, device="cuda", seed=0):
    """Return (logits of MxV, targets)."""
    rows, classes = shape
    generator = torch.Generator(device=device).manual_seed(seed)
    logits = 2.0 * torch.randn(rows, classes, generator=generator, device=device)
    return logits.to(_DTYPES[dtype]), torch.randint(0, classes, (rows,), generator=generator, device=device)


def reference(logits, targets):
    """Return the gradient of the mean loss in float64."""
    rows = torch.arange(logits.shape[0], device=logits.device)
    found = torch.softmax(logits.double(), dim=-1)
    found[rows, targets] -= 1.0
    return found / logits.shape[0]
