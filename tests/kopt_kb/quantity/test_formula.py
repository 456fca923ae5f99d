"""Formulas are exact, closed and small."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kopt_kb.quantity.formula import FormulaError, evaluate, references

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
    assert evaluate(text, value_of) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a *",
        "* a",
        "a a",
        "(a",
        "a)",
        "a ** 2",
        "c",
        "a / zero",
        "a; b",
        "__import__('os')",
        "1e3",
        "a" + " + a" * 40,
    ],
)
def test_everything_else_is_refused(text: str) -> None:
    """No powers, calls, exponents, missing values, divisions by zero, novels."""
    with pytest.raises(FormulaError):
        evaluate(text, value_of)


def test_references_are_listed_once() -> None:
    """Blanks inside brackets do not matter."""
    assert references("a * b[x=1; y=2] + a") == ("a", "b[x=1;y=2]")


@given(st.integers(1, 99), st.integers(1, 99), st.integers(1, 99))
def test_agrees_with_fractions(x: int, y: int, z: int) -> None:
    """x + y / z - z * x, exactly."""
    assert evaluate(f"{x} + {y} / {z} - {z} * {x}", value_of) == Fraction(x) + Fraction(y, z) - z * x
