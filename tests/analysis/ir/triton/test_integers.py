"""Integer arithmetic at IR widths."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kopt_kb.analysis.ir.triton.integers import evaluate_elementwise, numpy_type
from kopt_kb.analysis.ir.triton.irtypes import parse_type
from kopt_kb.analysis.ir.triton.model import Op

I32 = st.integers(-(2**31), 2**31 - 1)


def run(name, *values, kind="i32", result="i32", width=np.int32, **detail):
    op = Op(name, 1, (), (), detail=detail)
    arrays = [np.array([value]).astype(width) for value in values]
    with np.errstate(all="ignore"):
        found = evaluate_elementwise(op, [parse_type(kind)] * len(values), parse_type(result), arrays)
    assert found is not None
    return found[0].item()


def wrapped(value):
    return (value + 2**31) % 2**32 - 2**31


@given(I32, I32)
def test_addition_and_multiplication_wrap(a, b):
    """As 32-bit registers do."""
    assert run("arith.addi", a, b) == wrapped(a + b)
    assert run("arith.muli", a, b) == wrapped(a * b)
    assert run("arith.subi", a, b) == wrapped(a - b)


@given(st.integers(-(2**31) + 1, 2**31 - 1), I32.filter(bool))
def test_division_truncates_and_the_remainder_takes_the_dividends_sign(a, b):
    """Not as Python and numpy floor."""
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    assert run("arith.divsi", a, b) == quotient
    assert run("arith.remsi", a, b) == a - quotient * b
    assert run("arith.floordivsi", a, b) == a // b
    assert run("arith.ceildivsi", a, b) == -(-a // b)


def test_division_by_zero_does_not_stop_a_count():
    """It is undefined in the IR; inactive programs may do it."""
    assert run("arith.divsi", 7, 0) == 7
    assert run("arith.remui", 7, 0) == 0


@given(I32, I32)
def test_unsigned_forms_read_the_same_bits(a, b):
    """Comparison, minimum, high product."""
    ua, ub = a % 2**32, b % 2**32
    assert run("arith.cmpi", a, b, result="i1", predicate="ult") == (ua < ub)
    assert run("arith.cmpi", a, b, result="i1", predicate="sge") == (a >= b)
    assert run("arith.minui", a, b) == wrapped(min(ua, ub))
    assert run("tt.mulhiui", a, b) == wrapped((ua * ub) >> 32)


def test_casts_extend_by_sign_or_by_zero():
    """-1 as 8 bits is 255 unsigned; a true bit sign-extends to -1."""
    assert run("arith.extsi", -1, kind="i8", result="i32", width=np.int8) == -1
    assert run("arith.extui", -1, kind="i8", result="i32", width=np.int8) == 255
    assert run("arith.extsi", True, kind="i1", width=np.bool_) == -1
    assert run("arith.extui", True, kind="i1", width=np.bool_) == 1
    assert run("arith.trunci", 6, result="i1") is False
    assert run("arith.trunci", 257, result="i8") == 1


def test_shifts_bitwise_and_absolute_value():
    """Logical and arithmetic right shifts differ in the sign."""
    assert run("arith.shli", 3, 4) == 48
    assert run("arith.shrsi", -8, 1) == -4
    assert run("arith.shrui", -8, 1) == 2**31 - 4
    assert run("arith.xori", 6, 3) == 5
    assert run("math.absi", -5) == 5


def test_pointer_steps_scale_by_the_element():
    """Five elements of two bytes."""
    op = Op("tt.addptr", 1, (), ())
    kinds = [parse_type("!tt.ptr<f16>"), parse_type("i32")]
    assert evaluate_elementwise(op, kinds, kinds[0], [np.array([100]), np.array([5], np.int32)])[0] == 110


@pytest.mark.parametrize(
    ("name", "result"), [("arith.addf", "f32"), ("arith.mulsi_extended", "i32"), ("math.ctlz", "i32")]
)
def test_what_is_not_integer_arithmetic_is_left_alone(name, result):
    """None: the caller keeps the value unevaluated instead of guessing."""
    kinds = [parse_type("i32")] * 2
    assert evaluate_elementwise(Op(name, 1, (), ()), kinds, parse_type(result), [np.array([1]), np.array([1])]) is None


def test_pointers_are_64_bit_and_floats_have_no_integer_type():
    """Descriptors have none either."""
    assert numpy_type(parse_type("tensor<4x!tt.ptr<f32>>")) is np.int64
    assert numpy_type(parse_type("f32")) is None
    assert numpy_type(parse_type("!tt.tensordesc<4x4xf16>")) is None
