"""What is found in a kernel, with numbers that do not change between readings of a loop."""

from __future__ import annotations

from kopt_kb.analysis.ir.source.flow import follow
from kopt_kb.analysis.ir.source.source import Project, parse_module

LOOP = """
import triton
import triton.language as tl

@triton.jit
def k(p, q, n, B: tl.constexpr):
    o = tl.arange(0, B)
    total = tl.zeros([B], tl.float32)
    for i in range(n):
        if i > 3:
            return
        total += tl.load(p + o)
        p += B
    while n > 0:
        n -= 1
    tl.store(q + o, total)
"""


def test_a_loop_is_read_twice_and_found_once() -> None:
    module = parse_module(LOOP)
    findings = follow(Project(lambda _: None), module, module.functions["k"])
    assert [(one.name, one.line) for one in findings.of("loop sum")] == [("total", 12)]
    assert len(findings.of("store")) == 1


def test_recursion_of_helpers_ends() -> None:
    text = "import triton\n@triton.jit\ndef k(x):\n    return k(x)\n"
    module = parse_module(text)
    assert follow(Project(lambda _: None), module, module.functions["k"]).every[0].kind == "unresolved"
