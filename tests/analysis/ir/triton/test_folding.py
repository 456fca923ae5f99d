"""Reductions and scans of known integers."""

from __future__ import annotations

import numpy as np
import pytest

from kopt_kb.analysis.ir.triton import parse_ttir
from kopt_kb.analysis.ir.triton.folding import fold_reduce, fold_scan
from kopt_kb.analysis.ir.triton.irtypes import parse_type

KIND = parse_type("tensor<4xi32>")
VALUE = np.array([[3, 1, 4, 1]], np.int32)


def operation(body, form="reduce", attributes="axis = 0 : i32"):
    text = (
        f'tt.func public @k(%x: tensor<4xi32>) {{\n%r = "tt.{form}"(%x) <{{{attributes}}}> ({{\n'
        f"^bb0(%a: i32, %b: i32):\n{body}\ntt.{form}.return %t : i32\n}}) : (tensor<4xi32>) -> i32\ntt.return\n}}\n"
    )
    module = parse_ttir(text)
    return module.kernel().body.entry.ops[0], module


@pytest.mark.parametrize(("name", "total"), [("addi", 9), ("maxsi", 4), ("minsi", 1), ("muli", 12), ("xori", 7)])
def test_reductions_of_one_operation(name, total):
    """The combine functions numpy has."""
    op, module = operation(f"%t = arith.{name} %a, %b : i32")
    assert fold_reduce(op, module, KIND, VALUE)[0].tolist() == [total]


def test_other_combine_functions_are_left_alone():
    """Two operations are no plain reduction."""
    op, module = operation("%s = arith.addi %a, %b : i32\n%t = arith.muli %s, %s : i32")
    assert fold_reduce(op, module, KIND, VALUE) is None
    assert fold_scan(op, module, KIND, VALUE) is None


def test_scans_run_in_either_direction():
    """Running sums from the front and from the back."""
    op, module = operation("%t = arith.addi %a, %b : i32", "scan", "axis = 0 : i32, reverse = false")
    assert fold_scan(op, module, KIND, VALUE)[0].tolist() == [[3, 4, 8, 9]]
    op, module = operation("%t = arith.addi %a, %b : i32", "scan", "axis = 0 : i32, reverse = true")
    assert fold_scan(op, module, KIND, VALUE)[0].tolist() == [[9, 6, 5, 1]]
