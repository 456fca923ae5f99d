"""Either form of Triton IR is read as what it is."""

from __future__ import annotations

import pytest

from kopt_kb.analysis.ir.triton.gluon import is_ttgir
from kopt_kb.analysis.ir.triton.model import IrError
from kopt_kb.analysis.ir.triton.read import parse_ttir


def test_a_text_is_read_by_its_form(ir_text):
    """TTIR has no layouts; what both give is a module with functions."""
    text = ir_text("gemm")
    assert not is_ttgir(text)
    assert parse_ttir(text).functions


def test_a_refusal_names_the_file_and_line():
    """As the caller calls the text."""
    with pytest.raises(IrError) as caught:
        parse_ttir("module {\n  what is this\n}\n", file="my.ttir")
    assert caught.value.where.startswith("my.ttir:")
