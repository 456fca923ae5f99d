"""Means and changes worked by hand, with their signs."""

from __future__ import annotations

import math

import pytest

from kopt_kb.quantity.statistics import change_pct, geometric_mean, speedup_pct

pytestmark = pytest.mark.core


def test_the_geometric_mean_of_2_and_8_is_4():
    """The logarithms' mean; one number is its own; three published rates of a step give 182.692."""
    assert geometric_mean([2.0, 8.0]) == pytest.approx(4, rel=1e-15)
    assert geometric_mean(iter([0.25])) == pytest.approx(0.25, rel=1e-15)
    assert geometric_mean([192.0, 182.5197, 174.0]) == pytest.approx(182.692, abs=5e-4)


@pytest.mark.parametrize("values", [[], [1.0, None], [1.0, 0.0], [1.0, -2.0], [math.nan], [math.inf, 1.0]])
def test_a_mean_over_the_rest_is_refused(values):
    """A shape that is missing or failed is not left out of the mean: there is none."""
    assert geometric_mean(values) is None


def test_the_extremes_neither_overflow_nor_vanish():
    """The product of these leaves the range of a double, the mean does not."""
    assert geometric_mean([1e300, 1e300, 1e-300]) == pytest.approx(1e100, rel=1e-12)


def test_a_change_is_positive_when_the_value_grew():
    """From 8 to 4 is minus 50 %, from 4 to 8 plus 100 %."""
    assert (change_pct(8, 4), change_pct(4, 8), change_pct(3, 3)) == (-50, 100, 0)
    assert change_pct(None, 1.0) is change_pct(1.0, None) is None


def test_a_speedup_is_positive_when_it_became_faster():
    """From 8 s to 4 s the rate doubles; 1.05 s to 1 s is 5 % faster, 0.95 s to 1 s 5 % slower."""
    assert (speedup_pct(8, 4), speedup_pct(4, 8)) == (100, -50)
    assert speedup_pct(1.05, 1.0) == pytest.approx(5)
    assert speedup_pct(0.95, 1.0) == pytest.approx(-5)
    assert speedup_pct(None, 1.0) is speedup_pct(1.0, None) is None
