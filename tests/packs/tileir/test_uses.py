"""Names as numbers, as pointers handed on, as tiles."""

from __future__ import annotations

from kopt_kb.analysis.ir.source.source import parse_module
from kopt_kb.packs.tileir.uses import handed_on, tile_shapes, used_as_numbers

TEXT = """
import triton
import triton.language as tl
@triton.jit
def k(p, q, r, n, B: tl.constexpr):
    o = tl.arange(0, B)
    ptrs = p + o
    helper(ptrs, n)
    tl.atomic_add(q + o, 1)
    x = tl.load(r + o * n)
    other(x)
    acc = tl.zeros((B, 64), tl.float32)
    c = acc.to(tl.float16)
"""


def test_uses() -> None:
    module = parse_module(TEXT)
    function = module.functions["k"]
    assert set(handed_on(function, module.names)) == {"p", "q", "n", "B"} - {"B"}
    assert "n" in used_as_numbers(function, module.names)
    assert tile_shapes(function, module.names) == {"acc": ["B", "64"], "c": ["B", "64"]}
