"""Reference of the choice of experts: inputs from a seed and the float64 result."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
from __future__ import annotations

import torch

OP = "moe_gate"
_DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32}


K = 8


def make_inputs(shape, dtype, device="cuda", seed=0):
    """Return logits of TxE; those of a token differ by a 32nd or more: the choice is no matter of rounding."""
    tokens, experts = shape
    generator = torch.Generator(device=device).manual_seed(seed)
    order = torch.rand(tokens, experts, generator=generator, device=device).argsort(-1)
    return (((order - experts // 2) / 32.0).to(_DTYPES[dtype]),)


def reference(logits):
    """Return (weights, ids) of the largest, the weights in float64 and divided by their sum."""
    chosen, ids = torch.softmax(logits.double(), dim=-1).topk(min(K, logits.shape[-1]), dim=-1)
    return chosen / chosen.sum(-1, keepdim=True), ids
