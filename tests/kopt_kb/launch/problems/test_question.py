"""Question and answer of a child survive being written, without torch."""

from __future__ import annotations

import subprocess
import sys

from kopt_kb.base.wire import read
from kopt_kb.launch.problems.question import Described, OneShape, ReferenceRequest, TensorLayout
from kopt_kb.problem.counts import ByteCount, Count


def test_both_ways() -> None:
    """What was asked and what was answered."""
    asked = ReferenceRequest("reference.py", ((4, 2),), "bf16")
    layout = TensorLayout("x", (4, 2), "bf16", (2, 1))
    shape = OneShape(
        (4, 2), (layout,), (layout,), (), (), (ByteCount("dram", "read", Count(16)),), {"i0": 1}, fake=False
    )
    assert read(ReferenceRequest, asked.to_json()) == asked
    assert read(Described, Described((shape,)).to_json()) == Described((shape,))


def test_it_needs_no_torch() -> None:
    """The side that asks has none."""
    code = "import sys, kopt_kb.launch.problems.question; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-P", "-c", code], check=True)
