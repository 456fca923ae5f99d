"""Passes that move the bytes of a memory-bound operation and do nothing else: a copy, a merge of two, reading alone."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import triton
import triton.language as tl

KINDS = {
    "rms_norm": "copy", "layer_norm": "copy", "softmax": "copy", "swiglu": "merge", "cross_entropy": "read",
}  # fmt: skip
"""Memory-bound operation → what moves the same bytes: one read and one written, two and one, or reading alone."""
_SETTINGS = [(512, 4), (1024, 4), (1024, 8), (2048, 4), (2048, 8), (4096, 8)]
_ABSENT = tl.constexpr(-1)
"""Two NaN of bf16, which no input holds: the store that keeps a read alive is never made."""


@triton.jit
def moved(a_ptr, b_ptr, out_ptr, count, KIND: tl.constexpr, BLOCK: tl.constexpr):
    """Move one block of 32-bit words a program."""
    place = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = place < count
    x = tl.load(a_ptr + place, mask=mask, other=0)
    if KIND == "merge":
        x |= tl.load(b_ptr + place, mask=mask, other=0)
    tl.store(out_ptr + place, x, mask=mask & (x == _ABSENT) if KIND == "read" else mask)


def _pass(kind: str, block: int, warps: int) -> Callable[..., Any]:
    def run(inputs: Any, _out: Any) -> Any:
        words = [one.view(torch.int32) for one in inputs if one.ndim == 2]
        out = words[0] if kind == "read" else torch.empty_like(words[0])
        count = words[0].numel()
        moved[(triton.cdiv(count, block),)](words[0], words[-1], out, count, KIND=kind, BLOCK=block, num_warps=warps)
        return None if kind == "read" else out

    return run


def passes(name: str) -> dict[str, Callable[..., Any]]:
    """Return name → function of (inputs, ignored) for the settings that contend; results are new, as a user's are."""
    kind = KINDS[name]
    found = {f"copy {kind},BLOCK={block},num_warps={warps}": _pass(kind, block, warps) for block, warps in _SETTINGS}
    return found | ({"copy torch": lambda inputs, _out: inputs[0].clone()} if kind == "copy" else {})
