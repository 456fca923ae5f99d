"""The module model: looking up kernels and integer attributes."""

from __future__ import annotations

import pytest

from kopt_kb.analysis.ir.triton import IrError, parse_ttir
from kopt_kb.analysis.ir.triton.model import Op

TWO = "".join(f"tt.func public @{name}() {{\n tt.return\n}}\n" for name in ("a", "b"))


def test_two_public_functions_need_a_choice():
    """Without a name nobody knows which kernel is meant."""
    module = parse_ttir(TWO, file="two.ttir")
    with pytest.raises(IrError, match="2 public functions: a, b"):
        module.kernel()
    assert module.kernel("b").line == 4


def test_integer_attributes_drop_their_type():
    """`axis = 1 : i32` is 1; a missing attribute is the default."""
    op = Op("tt.reduce", 1, (), (), {"axis": "1 : i32"})
    assert op.integer("axis") == 1
    assert op.integer("pack", 7) == 7
