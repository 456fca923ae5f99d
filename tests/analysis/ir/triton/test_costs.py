"""The counting rules, one operation at a time."""

from __future__ import annotations

import pytest

from kopt_kb.analysis.ir.triton import parse_ttir
from kopt_kb.analysis.ir.triton.costs import combine_ops, op_cost

HEAD = (
    """tt.func public @k(%x: tensor<8xf32>, %h: tensor<8xf16>, %i: tensor<8xi32>, %a: tensor<16x32xf16>,
""".replace("\n", "")
    + (
        "%b: tensor<32x64xf16>, %c: tensor<16x64xf32>, %fa: tensor<16x32xf32>, %fb: tensor<32x64xf32>, "
        "%ia: tensor<16x32xi8>, %ib: tensor<32x64xi8>, %ic: tensor<16x64xi32>, %fp4: tensor<16x32xi8>, "
        "%b4: tensor<32x64xi8>, %s: tensor<16x2xi8>) {\n"
    )
)


def cost_of(body):
    module = parse_ttir(f"{HEAD}{body}\ntt.return\n}}\n")
    return dict(op_cost(module.kernel().body.entry.ops[0], module))


@pytest.mark.parametrize(
    ("body", "cost"),
    [
        ("%r = arith.addf %x, %x : tensor<8xf32>", {("flops", "fp32", "vector"): 8}),
        ("%r = arith.divf %h, %h : tensor<8xf16>", {("flops", "fp16", "vector"): 8}),
        ("%r = arith.maxnumf %x, %x : tensor<8xf32>", {("flops", "fp32", "vector"): 8}),
        ("%r = math.fma %x, %x, %x : tensor<8xf32>", {("flops", "fp32", "vector"): 16}),
        ("%r = math.exp2 %x : tensor<8xf32>", {("special", "fp32", "exp2"): 8}),
        ("%r = tt.precise_sqrt %x : tensor<8xf32>", {("special", "fp32", "sqrt"): 8}),
        ("%r = arith.negf %x : tensor<8xf32>", {}),
        ("%r = arith.cmpf ogt, %x, %x : tensor<8xf32>", {}),
        ("%r = arith.extf %h : tensor<8xf16> to tensor<8xf32>", {}),
        ("%r = arith.addi %i, %i : tensor<8xi32>", {}),
        ("%r = math.absf %x : tensor<8xf32>", {}),
    ],
)
def test_elementwise_operations(body, cost):
    """FLOPs a lane on the vector engine, special functions apart, nothing for moves and comparisons."""
    assert cost_of(body) == cost


def test_library_calls_are_special_functions_by_their_symbol():
    """One a lane."""
    body = (
        '%r = tt.extern_elementwise %x {libname = "", libpath = "", pure = true, symbol = "__nv_tanf"} : '
        "(tensor<8xf32>) -> tensor<8xf32>"
    )
    assert cost_of(body) == {("special", "fp32", "__nv_tanf"): 8}


@pytest.mark.parametrize(
    ("precision", "dtype", "products"),
    [("tf32", "tf32", 1), ("tf32x3", "tf32", 3), ("ieee", "fp32", 1), ("bf16x3", "bf16", 3), ("bf16x6", "bf16", 6)],
)
def test_an_fp32_dot_counts_by_its_input_precision(precision, dtype, products):
    """16 x 32 by 32 x 64; split precisions issue several products each."""
    body = (
        f"%r = tt.dot %fa, %fb, %c, inputPrecision = {precision} : "
        "tensor<16x32xf32> * tensor<32x64xf32> -> tensor<16x64xf32>"
    )
    assert cost_of(body) == {("flops", dtype, "matrix"): 2 * 16 * 32 * 64 * products}


def test_dots_count_under_their_operand_dtype():
    """fp16 and int8."""
    half = "%r = tt.dot %a, %b, %c : tensor<16x32xf16> * tensor<32x64xf16> -> tensor<16x64xf32>"
    whole = "%r = tt.dot %ia, %ib, %ic : tensor<16x32xi8> * tensor<32x64xi8> -> tensor<16x64xi32>"
    assert cost_of(half) == {("flops", "fp16", "matrix"): 65536}
    assert cost_of(whole) == {("flops", "int8", "matrix"): 65536}


def test_packed_operands_of_a_scaled_dot_hold_two_elements_a_byte():
    """e2m1 by e2m1: 32 bytes along K are 64 elements."""
    body = (
        "%r = tt.dot_scaled %fp4 scale %s, %b4 scale %s, %c lhs = e2m1 rhs = e2m1 {fastMath = false} : "
        "tensor<16x32xi8>, tensor<16x2xi8> * tensor<32x64xi8>, tensor<16x2xi8> -> tensor<16x64xf32>"
    )
    assert cost_of(body) == {("flops", "mxfp4", "matrix"): 2 * 16 * 64 * 64}


def test_a_reduction_costs_one_combine_less_than_its_inputs_for_each_output():
    """16 x 64 along axis 1: 16 outputs, 63 additions each."""
    body = (
        '%r = "tt.reduce"(%c) <{axis = 1 : i32}> ({\n^bb0(%p: f32, %q: f32):\n%t = arith.addf %p, %q : f32\n'
        "tt.reduce.return %t : f32\n}) : (tensor<16x64xf32>) -> tensor<16xf32>"
    )
    assert cost_of(body) == {("flops", "fp32", "vector"): 16 * 63}


def test_combine_functions_are_opened_through_calls(ir_text):
    """Before optimisation a reduction calls its combine function."""
    module = parse_ttir(ir_text("softmax.3.6.0.source"))
    names = set()
    for function in module.functions:
        for op in function.body.entry.ops:
            if op.name == "tt.reduce":
                names.update(inner.name for inner in combine_ops(op, module))
    assert names == {"arith.maxnumf", "arith.addf"}
