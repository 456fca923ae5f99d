"""Formulas are exact on rows, floats on counters, closed and small."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kopt_kb.quantity.formula import FormulaError, parse_formula

VALUES = {"a": Fraction(6), "b[x=1;y=2]": Fraction(4), "zero": Fraction(0)}


def value_of(key: str) -> Fraction:
    """Values of the tests."""
    if key not in VALUES:
        raise FormulaError(f"{key} has no value")
    return VALUES[key]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a", 6), ("a * 2", 12), ("a + b[x=1; y=2] * 2", 14), ("(a + b[x=1;y=2]) * 2", 20), ("a / 4", Fraction(3, 2)), ("a - 1 - 2", 3), ("8 / 4 / 2", 1), ("1.5 * a", 9)],
)  # fmt: skip
def test_values(text: str, expected: Fraction) -> None:
    """Precedence and left association, as in school."""
    assert parse_formula(text).exact(value_of) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a *",
        "* a",
        "a a",
        "(a",
        "(a a)",
        ") + a",
        "a)",
        "a ** 2",
        "c",
        "a / zero",
        "a; b",
        "__import__('os')",
        "1e3",
        "a" + " + a" * 40,
        "-a",
        "'x'",
        "a[0",
        "f(a)",
        "a if b else 0",
        "(" * 70 + "a" + ")" * 70,
        "1" * 1001,
        "٣",
    ],
)
def test_everything_else_is_refused(text: str) -> None:
    """No powers, calls, exponents, missing values, divisions by zero, novels."""
    with pytest.raises(FormulaError):
        parse_formula(text).exact(value_of)


def test_names_are_listed_once() -> None:
    """In order; blanks inside brackets do not matter."""
    assert parse_formula("a * b[x=1; y=2] + a").names == ("a", "b[x=1;y=2]")
    assert parse_formula(" 64 * (A + 2 * B) / num_xcd + A ").names == ("A", "B", "num_xcd")


@given(st.integers(1, 99), st.integers(1, 99), st.integers(1, 99))
def test_agrees_with_fractions(x: int, y: int, z: int) -> None:
    """x + y / z - z * x, exactly."""
    assert parse_formula(f"{x} + {y} / {z} - {z} * {x}").exact(value_of) == Fraction(x) + Fraction(y, z) - z * x


def test_on_counters_operators_bind_as_in_arithmetic() -> None:
    """2 + 3 * 4 - 6 / 3 is 12; lines may break."""
    assert parse_formula("A + B * 4\n- 6 / B").value({"A": 2.0, "B": 3.0}) == 12.0


@pytest.mark.parametrize("values", [{"A": 1.0}, {"A": 1.0, "B": 0.0}, {"A": 1e308, "B": 1e-308}])
def test_a_missing_counter_a_zero_divisor_and_an_overflow_have_no_value(values: dict[str, float]) -> None:
    """None, never 0 or infinity."""
    assert parse_formula("A / B").value(values) is None


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**9), st.integers(0, 10**9), st.integers(1, 10**6))
def test_on_counters_values_equal_pythons(a: int, b: int, c: int) -> None:
    """The expression is the arithmetic it prints."""
    assert parse_formula("(A + 2 * B) / C").value({"A": a, "B": b, "C": c}) == (a + 2 * b) / c
