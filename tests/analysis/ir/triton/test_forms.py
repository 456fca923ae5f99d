"""Printed forms: signatures, result types, details and constants."""

from __future__ import annotations

import math

import pytest

from kopt_kb.analysis.ir.triton.forms import attributes_of, constant_value, details_of, result_types, split_signature
from kopt_kb.analysis.ir.triton.irtypes import parse_type
from kopt_kb.analysis.ir.triton.lines import IrLine

LINE = IrLine(1, "", ("text",))


def test_attributes_keep_their_text():
    """Strings come back, bare keys are units."""
    assert attributes_of('axis = 1 : i32, s = "0", pure', LINE) == {"axis": "1 : i32", "s": "text", "pure": "unit"}


@pytest.mark.parametrize(
    ("text", "head", "signature"),
    [("%a, %b : i32", "%a, %b ", "i32"), (": i32", "", "i32"), ("%a[%b : x] y", "%a[%b : x] y", "")],
)
def test_the_signature_follows_the_first_free_colon(text, head, signature):
    """Colons inside brackets belong to something else."""
    assert split_signature(text) == (head, signature)


@pytest.mark.parametrize(
    ("name", "signature", "operands", "result"),
    [
        ("arith.addi", "tensor<8xi32>", ["tensor<8xi32>"] * 2, "tensor<8xi32>"),
        ("arith.cmpi", "tensor<8xi32>", ["tensor<8xi32>"] * 2, "tensor<8xi1>"),
        ("arith.extsi", "i32 to i64", ["i32"], "i64"),
        ("tt.addptr", "!tt.ptr<f32>, i32", ["!tt.ptr<f32>", "i32"], "!tt.ptr<f32>"),
        ("tt.load", "!tt.ptr<f32>", ["!tt.ptr<f32>"], "f32"),
        ("tt.unsplat", "tensor<1xi32>", ["tensor<1xi32>"], "i32"),
        ("arith.select", "i1, f32", ["i1", "f32", "f32"], "f32"),
        ("tt.trans", "tensor<8x4xf16> → tensor<4x8xf16>", ["tensor<8x4xf16>"], "tensor<4x8xf16>"),
        ("tt.make_tensor_descriptor", "<f16>, <tensor<8x4xf16>>", ["!tt.ptr<f16>"], "!tt.tensordesc<8x4xf16>"),
        ("tt.make_tensor_descriptor", "<f16>, <8x4xf16>", ["!tt.ptr<f16>"], "!tt.tensordesc<8x4xf16>"),
        ("tt.make_tensor_ptr", "<tensor<8x4xf16>>", ["!tt.ptr<f16>"], "!tt.ptr<tensor<8x4xf16>>"),
    ],
)
def test_result_types_follow_from_signature_and_operands(name, signature, operands, result):
    """Each printed shape of a signature once."""
    found = result_types(name, signature, [parse_type(text) for text in operands], 1)
    assert found == [parse_type(result)]


def test_one_printed_type_may_stand_for_two_results():
    """tt.split prints its two equal result types once."""
    assert result_types("tt.split", "tensor<8x2xf32> → tensor<8xf32>", [], 2) == [parse_type("tensor<8xf32>")] * 2


def test_details_outside_the_dictionary_are_read():
    """Predicates, axes, precisions, element kinds and atomic kinds."""
    assert details_of("arith.cmpi", "slt, %a, %b") == {"predicate": "slt"}
    assert details_of("tt.get_program_id", "y ") == {"axis": "y"}
    assert details_of("tt.dot", "%a, %b, %c, inputPrecision = tf32 ") == {"precision": "tf32"}
    assert details_of("tt.dot", "%a, %b, %c ") == {"precision": "ieee"}
    scaled = details_of("tt.dot_scaled", "%a scale %s, %b, %c lhs = e4m3 rhs = bf16 ")
    assert scaled == {"lhs": "e4m3", "rhs": "bf16", "a_scaled": "True", "b_scaled": "False"}
    assert details_of("tt.atomic_rmw", "fadd, acq_rel, gpu, %p, %v, %m") == {"kind": "fadd"}


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("dense<0.000000e+00>", "tensor<4xf32>", 0.0),
        ("dense<-7>", "tensor<4xi32>", -7),
        ("true", "i1", True),
        ("dense<true>", "tensor<4xi1>", True),
        ("0xFF800000", "f32", -math.inf),
        ("dense<0xFC00>", "tensor<4xf16>", -math.inf),
        ("0xFF80", "bf16", -math.inf),
        ("dense<[1, 2, 3]>", "tensor<3xi32>", [1, 2, 3]),
        ('dense<"0">', "tensor<3xi32>", None),
    ],
)
def test_constants_have_values(text, kind, value):
    """Hexadecimal floats are bit patterns of their own width."""
    assert constant_value(text, parse_type(kind)) == value
