"""What single functions of the language do with data."""

from __future__ import annotations

import pytest

from kopt_kb.analysis.ir.source.flow import follow
from kopt_kb.analysis.ir.source.source import Project, parse_module

HEAD = "import triton\nimport triton.language as tl\n@triton.jit\ndef k(p, q, d, n, B: tl.constexpr):\n    o = tl.arange(0, B)\n"


@pytest.mark.parametrize(
    ("line", "kinds"),
    [
        ("x = tl.load(p + o)\n    y = tl.sum(x, axis=0, keep_dims=True)\n    tl.store(q + o, x * y)", {"reduction", "store", "norm"}),
        ("x = tl.load(p + o).max(axis=0)\n    tl.store(q, x)", {"reduction", "store"}),
        ("tl.store(q, tl.sum((o < n).to(tl.int32), 0))", {"store"}),
        ("x = d.load([0, 0])\n    d.store([0, 0], x * tl.sum(x, 1)[:, None])", {"reduction", "store", "norm"}),
        ("tl.atomic_or(p, 1)", {"store"}),
        ("a, b = tl.split(tl.load(p + o[:, None]))\n    tl.store(q + o, a * tl.max(b, 0))", {"reduction", "store", "norm"}),
        ("x = tl.load(p + o)\n    s = tl.full((B,), tl.sum(x, 0), tl.float32)\n    tl.store(q + o, x - s)", {"reduction", "store", "norm"}),
        ("b = tl.make_block_ptr(p, (n, n), (n, 1), (0, 0), (B, B), (1, 0))\n    x = tl.load(b)\n    tl.store(q + o, tl.sum(x, 1) + tl.load(q + o))", {"reduction", "store"}),
        ("x = tl.load(p + o)\n    tl.store(q, tl.reduce((x, o), 0, n)[0])", {"reduction", "store"}),
        ("x = tl.load(p + o)\n    y = tl.where(o == tl.argmax(x, 0), x, 0.0)\n    tl.store(q, tl.sum(y, 0))", {"reduction", "store"}),
    ],
)  # fmt: skip
def test_kinds(line: str, kinds: set[str]) -> None:
    module = parse_module(f"{HEAD}    {line}\n")
    assert {one.kind for one in follow(Project(lambda _: None), module, module.functions["k"]).every} == kinds
