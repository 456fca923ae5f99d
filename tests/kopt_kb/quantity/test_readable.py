"""One rounding, SI prefixes, factors."""

from __future__ import annotations

import doctest
from fractions import Fraction

import pytest

from kopt_kb.quantity import readable
from kopt_kb.quantity.readable import duration, factor, gain, percent, rounded, si, spoken


def test_examples() -> None:
    """The examples of the docstrings."""
    assert doctest.testmod(readable).failed == 0


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (1.05449, "1.054"), (1.0545, "1.054"), (1.0546, "1.055"), (31764.6, "31765"), (1e-7, "0.0000001"), (-0.83, "-0.83"),
     (Fraction(1, 3), "0.3333"), (99.996, "100"), (float("nan"), "nan"), (float("inf"), "inf"), (1234567, "1234567")],
)  # fmt: skip
def test_four_digits_and_no_exponent(value: float | Fraction, text: str) -> None:
    """Significant digits, whole digits kept, halves to even."""
    assert rounded(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(999.96, "1 kB"), (999.94, "999.9 B"), (1e-12, "0.001 nB"), (5e22, "50000 EB"), (134225920, "134.2 MB"), (-2000, "-2 kB")],
)  # fmt: skip
def test_prefixes(value: float, text: str) -> None:
    """The borders of a prefix, and what lies beyond the smallest and the largest."""
    assert si(value, "B") == text


def test_words_of_people() -> None:
    """Times, shares, factors; a doubling and more is a factor."""
    assert (duration(5.2e-5), duration(None), percent(0.9473), factor(21.377), factor(None)) == (
        "52 us", "-", "94.73 %", "21.38×", "-",
    )  # fmt: skip
    assert (gain(99.9), gain(100), gain(0), gain(-0.00001), gain(None)) == ("+99.9 %", "2×", "0 %", "-0.00001 %", "-")
    assert (spoken("201310208", "KiB"), spoken("UNKNOWN", "B"), spoken("8", "TB/s")) == ("206.1 GB", "", "")


@pytest.mark.parametrize(
    ("number", "symbol", "text"),
    [("406000", "GOPS", "406 TOPS"), ("343415", "GFLOPS", "343.4 TFLOPS"), ("262144", "KiB", "256 MiB"),
     ("100663296", "B", "96 MiB"), ("132644864", "B", "132.6 MB"), ("97871", "MiB", ""), ("7928064000000", "B/s", "7.928 TB/s")],
    ids=["integers", "floats", "binary unit", "whole MiB", "no whole MiB", "short", "bandwidth"],
)  # fmt: skip
def test_values_are_said_in_the_unit_that_their_field_uses(number: str, symbol: str, text: str) -> None:
    """Integer operations are no FLOP; capacities that are whole in a binary unit are said in it."""
    assert spoken(number, symbol) == text


def test_numbers_of_any_size_are_said() -> None:
    """The largest float has 309 digits before the point."""
    assert rounded(1.5e308) == "15" + "0" * 307
    assert si(1e300, "B/s").endswith("0 EB/s")
    assert rounded(-1e40).startswith("-1000")
