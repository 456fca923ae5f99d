"""Student's t against the published tables."""

from __future__ import annotations

import pytest

from kopt_kb.launch.judge.student import student_cdf, student_quantile


@pytest.mark.parametrize(
    ("share", "freedom", "value"),
    [
        # Abramowitz and Stegun, table 26.10, and NIST/SEMATECH e-Handbook 1.3.6.7.2
        (0.975, 1, 12.706), (0.975, 2, 4.303), (0.95, 9, 1.833), (0.99, 9, 2.821), (0.999, 9, 4.297),
        (0.975, 10, 2.228), (0.995, 10, 3.169), (0.999, 30, 3.385), (0.95, 60, 1.671), (0.99, 100, 2.364),
        (0.9995, 120, 3.373), (0.999, 1, 318.309),
    ],
)  # fmt: skip
def test_quantiles_of_the_tables(share: float, freedom: int, value: float) -> None:
    """To the digits that the tables print; odd and even degrees of freedom are two formulas."""
    assert student_quantile(share, freedom) == pytest.approx(value, abs=6e-4)
    assert student_quantile(1 - share, freedom) == pytest.approx(-value, abs=6e-4)


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 9, 19, 38, 77, 153, 500])
def test_quantile_and_distribution_are_inverse(freedom: int) -> None:
    """At the shares that decisions use."""
    for share in (0.002, 0.5001, 0.95, 0.998):
        assert student_cdf(student_quantile(share, freedom), freedom) == pytest.approx(share, abs=1e-12)


@pytest.mark.parametrize(("share", "freedom"), [(0.0, 3), (1.0, 3), (float("nan"), 3), (0.5, 0)])
def test_what_has_no_quantile(share: float, freedom: int) -> None:
    """Certainty, or nothing to estimate a deviation from."""
    with pytest.raises(ValueError, match="no quantile"):
        student_quantile(share, freedom)
