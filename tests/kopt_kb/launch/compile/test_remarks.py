"""A compiler's remark travels as a document."""

from __future__ import annotations

from kopt_kb.base.wire import read
from kopt_kb.launch.compile.remarks import CompilerRemark


def test_a_remark_comes_back_as_it_was() -> None:
    """With its defaults, and with every member."""
    whole = CompilerRemark("Missed", "not vectorised", "LDG", (4, 8), "gemm.py", 7, "Reason stride")
    for remark in (whole, CompilerRemark("Passed", "vectorised")):
        assert read(CompilerRemark, remark.to_json()) == remark
