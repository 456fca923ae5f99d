"""Whole-number expressions: exact, bounded, and nothing of Python besides."""

from __future__ import annotations

import pytest

from kopt_kb.launch.kernel.integers import ExpressionError, holds, value_of

NAMES = {"M": 10, "N": 4096, "ONE": 1}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("cdiv(M, 4) * 2", 6), ("N // 3 + M % 3", 1366), ("next_power_of_2(M)", 16), ("next_power_of_2(ONE)", 1),
        ("min(M, N, 3)", 3), ("max(M - 20, 0)", 0), ("7", 7),
    ],
)  # fmt: skip
def test_values(text: str, value: int) -> None:
    """As arithmetic says."""
    assert value_of(text, NAMES) == value


@pytest.mark.parametrize(("text", "truth"), [("N <= 4096 and M > 9", True), ("N != 4096", False), ("M == 10", True)])
def test_conditions(text: str, truth: bool) -> None:
    """Comparisons, all of them."""
    assert holds(text, NAMES) is truth


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("M // (ONE - 1)", "divisors"), ("cdiv(M, 0)", "divisors"), ("M % 0", "divisors"), ("K + 1", "unknown name K"),
        ("__import__('os')", "only whole numbers"), ("M ** N", "only whole numbers"), ("M.real", "only whole numbers"),
        ("1.5 * M", "only whole numbers"), ("True", "only whole numbers"), ("cdiv(M)", "takes other arguments"),
        ("M +", "is no expression"), ("(" * 400, "is no expression"), ("M" * 600, "600 characters"),
        ("*".join(["N"] * 40), "beyond any size"), ("min()", "takes other arguments"),
    ],
)  # fmt: skip
def test_what_is_outside_is_refused(text: str, complaint: str) -> None:
    """In words, at once."""
    with pytest.raises(ExpressionError, match=complaint):
        value_of(text, NAMES)


def test_a_condition_is_no_number() -> None:
    """Nor a number a condition."""
    for text in ("M", "M < N or N < M", "not M < N", "1 < M < N"):
        with pytest.raises(ExpressionError):
            holds(text, NAMES)
