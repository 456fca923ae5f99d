"""Counter expressions."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kopt_kb.analysis.profile.expression import ExpressionError, parse_expression


def test_operators_bind_as_in_arithmetic():
    """2 + 3 * 4 - 6 / 3 is 12."""
    assert parse_expression("A + B * 4 - 6 / B").value({"A": 2.0, "B": 3.0}) == 12.0


def test_names_are_what_has_to_be_collected():
    """Every name of the text is listed once."""
    assert parse_expression("64 * (A + 2 * B) / num_xcd + A").names == {"A", "B", "num_xcd"}


@pytest.mark.parametrize("values", [{"A": 1.0}, {"A": 1.0, "B": 0.0}, {"A": 1e308, "B": 1e-308}])
def test_a_missing_name_a_zero_divisor_and_an_overflow_have_no_value(values):
    """None, never 0 or infinity."""
    assert parse_expression("A / B").value(values) is None


@pytest.mark.parametrize(
    "text", ["", "A +", "A ** 2", "A if B else 0", "f(A)", "A[0]", "-A", "'x'", "True", "A\nB", "1" * 1001]
)
def test_anything_else_is_refused(text):
    """Only names, numbers, + - * / and parentheses."""
    with pytest.raises(ExpressionError):
        parse_expression(text)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**9), st.integers(0, 10**9), st.integers(1, 10**6))
def test_values_equal_pythons(a, b, c):
    """The compiled expression is the arithmetic it prints."""
    assert parse_expression("(A + 2 * B) / C").value({"A": a, "B": b, "C": c}) == (a + 2 * b) / c
