"""Reference of attention of a new token over a paged cache: inputs from a seed and the float64 result."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
from __future__ import annotations

import torch

OP = "attention_decode"
_DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32}


PAGE = 16


def make_inputs(shape, dtype, device="cuda", seed=0):
    """Return (q of BxHxD, keys and values of pages x 16 x H x D, table of Bx(S/16)); each page is used once."""
    batch, heads, length, depth = shape
    generator = torch.Generator(device=device).manual_seed(seed)
    pages = batch * (length // PAGE)
    q = torch.randn(batch, heads, depth, generator=generator, device=device)
    k, v = (torch.randn(pages, PAGE, heads, depth, generator=generator, device=device) for _ in range(2))
    table = torch.randperm(pages, generator=generator, device=device).reshape(batch, length // PAGE)
    return *(one.to(_DTYPES[dtype]) for one in (q, k, v)), table.to(torch.int32)


def reference(q, k, v, table):
    """Return the attention in float64; the cache's heads are as many as its last but one extent says."""
    batch, heads, depth = q.shape
    shared = k.shape[-2]
    lines = [one.double()[table.long()].reshape(batch, -1, shared, depth).transpose(1, 2) for one in (k, v)]
    wide = q.double().reshape(batch, heads, 1, depth)
    found = torch.nn.functional.scaled_dot_product_attention(wide, *lines, enable_gqa=shared != heads)
    return found.reshape(batch, heads, depth)
