"""Quantities keep value, dimension and origin through arithmetic, and refuse to lose them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kopt_kb.base.errors import BadInput, ExitCode
from kopt_kb.quantity import quantity as q
from kopt_kb.quantity.citation import Citation, Location


def cited(value: str, symbol: str, grade: q.Grade = "vendor", line: int = 1) -> q.Quantity:
    """A quantity as the registry would make it."""
    citation = Citation("memory_bandwidth", value, symbol, Location("a.md", line), "0" * 12)
    bare = q.given(Fraction(value), symbol, "x")
    return q.made(bare.si, bare.dimension, symbol, q.Cited("memory_bandwidth", grade, citation), value)


BANDWIDTH = cited("4.0", "TB/s")
PEAK = cited("148", "TFLOPS", "secondary", 2)


def test_printed_form_is_kept_and_converted() -> None:
    """4.0 stays 4.0 in its unit; in another unit it is computed exactly."""
    assert str(BANDWIDTH) == "4.0 TB/s"
    assert str(BANDWIDTH.to("GB/s")) == "4000 GB/s"
    assert BANDWIDTH.to("GB/s").si == BANDWIDTH.si == 4 * 10**12


def test_ridge_is_a_quotient_with_both_parents() -> None:
    """148 TFLOPS / 4 TB/s = 37 FLOP/B, resting on both rows and both grades."""
    ridge = PEAK / BANDWIDTH
    assert isinstance(ridge, q.Quantity)
    assert (ridge.si, ridge.dimension) == (37, "op/B")
    assert [c.location.line for c in ridge.citations()] == [2, 1]
    assert ridge.grades() == {"vendor", "secondary"}


def test_no_float_and_no_array_mixing() -> None:
    """float(), numpy scalars and bare numbers are TypeErrors."""
    for action in (
        lambda: float(BANDWIDTH),  # type: ignore[arg-type]
        lambda: BANDWIDTH * 2,  # type: ignore[operator]
        lambda: 2 * BANDWIDTH,  # type: ignore[operator]
        lambda: np.float64(2) * BANDWIDTH,
        lambda: BANDWIDTH * np.float64(2),  # type: ignore[operator]
        lambda: np.array([1.0]) + BANDWIDTH,
    ):
        with pytest.raises(TypeError):
            action()


def test_dimensions_must_fit() -> None:
    """Adding a peak to a bandwidth, or comparing them, is refused."""
    with pytest.raises(q.DimensionError):
        PEAK + BANDWIDTH
    with pytest.raises(q.DimensionError):
        _ = PEAK < BANDWIDTH
    with pytest.raises(q.DimensionError):
        BANDWIDTH.to("TFLOPS")


def test_ceilings_rest_on_rows_and_policies_only() -> None:
    """0.9 of a cited row is a ceiling; a given bandwidth or a count is not, alone or in a product."""
    factor = q.given(Fraction(9, 10), "1", "target factor", is_policy=True)
    target = factor * BANDWIDTH
    assert isinstance(target, q.Quantity)
    assert str(target.as_ceiling()) == "3.6 TB/s"
    flag = q.given(4, "TB/s", "--bandwidth")
    for bad in (flag, q.counted(4, "B", "bytes"), factor * flag):
        assert isinstance(bad, q.Quantity)
        with pytest.raises(q.NotACeiling):
            bad.as_ceiling()


def test_unknown_propagates_and_names_every_missing_row() -> None:
    """Arithmetic with UNKNOWN stays UNKNOWN on either side and joins what is missing."""
    one, two = q.Unknown(("H20 a",), "nobody says"), q.Unknown(("H20 b",))
    for mixed in (PEAK / one, one * PEAK, one + BANDWIDTH, BANDWIDTH - one):
        assert isinstance(mixed, q.Unknown)
        assert mixed.needs == ("H20 a",)
    joined = one / two
    assert joined.needs == ("H20 a", "H20 b")
    assert joined.error().exit_code == ExitCode.UNKNOWN
    assert "H20 a, H20 b is UNKNOWN" in str(joined.error())


@given(
    st.fractions(min_value=Fraction(1, 1000), max_value=1000), st.fractions(min_value=Fraction(1, 1000), max_value=1000)
)
def test_arithmetic_is_exact(a: Fraction, b: Fraction) -> None:
    """Product, quotient, sum and difference are rational, never rounded."""
    x, y = q.given(a, "TB/s", "a"), q.given(b, "TB/s", "b")
    for result, expected in ((x + y, (a + b) * 10**12), (x - y, (a - b) * 10**12), (x / y, a / b)):
        assert isinstance(result, q.Quantity)
        assert result.si == expected


def test_division_by_zero_is_named() -> None:
    """A zero divisor is bad input, not an exception of the fraction module."""
    with pytest.raises(q.BadInput, match="by zero"):
        BANDWIDTH / q.given(0, "TB/s", "zero")


def test_grades_are_a_set_and_never_collapsed() -> None:
    """The sum of a vendor and a secondary value has both grades."""
    total = BANDWIDTH + cited("1.0", "TB/s", "secondary", 3)
    assert isinstance(total, q.Quantity)
    assert total.grades() == {"vendor", "secondary"}


def test_sums_and_differences_keep_dimension_and_parents() -> None:
    """4.0 TB/s with 500 GB/s more, or less; other dimensions are refused."""
    half = q.given(500, "GB/s", "half")
    more, less = BANDWIDTH + half, BANDWIDTH - half
    assert isinstance(more, q.Quantity) and isinstance(less, q.Quantity)
    assert (str(more), str(less)) == ("4.5 TB/s", "3.5 TB/s")
    assert [str(one) for one in less.leaves()] == ["4.0 TB/s", "500 GB/s"]
    for action in (lambda: BANDWIDTH + PEAK, lambda: BANDWIDTH - PEAK):
        with pytest.raises(q.DimensionError, match="different dimensions"):
            action()


@pytest.mark.parametrize(
    ("left", "right", "words"),
    [(PEAK, PEAK, "no product of op/s and op/s"), (BANDWIDTH, q.given(1, "Hz", "clock"), "no product of B/s and Hz")],
)
def test_products_that_mean_nothing_are_refused(left: q.Quantity, right: q.Quantity, words: str) -> None:
    """A peak times a peak has no unit of the vocabulary."""
    with pytest.raises(q.DimensionError, match=words):
        _ = left * right


def test_quotients_that_mean_nothing_are_refused() -> None:
    """Bytes a second by operations a second; and nothing is divided by zero."""
    with pytest.raises(q.DimensionError, match="no quotient of B/s by op/s"):
        _ = BANDWIDTH / PEAK
    with pytest.raises(BadInput, match="by zero"):
        _ = BANDWIDTH / q.given(0, "TB/s", "nothing")
    share = BANDWIDTH / q.given(8, "TB/s", "twice")
    assert isinstance(share, q.Quantity)
    assert (str(share), share.dimension) == ("0.5", "1")
    shared = BANDWIDTH / q.given(4, "count", "dies")
    assert isinstance(shared, q.Quantity)
    assert str(shared) == "1 TB/s"


def test_order_is_that_of_values_in_any_unit() -> None:
    """4.0 TB/s is 4000 GB/s; the same value is both at most and at least."""
    same, less = q.given(4000, "GB/s", "same"), q.given(3999, "GB/s", "less")
    assert same >= BANDWIDTH and same <= BANDWIDTH and not same > BANDWIDTH and not same < BANDWIDTH
    assert less < BANDWIDTH and less < BANDWIDTH and less <= BANDWIDTH and not less >= BANDWIDTH


def test_a_printed_form_must_be_of_its_dimension() -> None:
    """TFLOPS do not measure bytes a second."""
    with pytest.raises(q.DimensionError, match="unit TFLOPS is not of dimension B/s"):
        q.Quantity(Fraction(1), "B/s", "TFLOPS", q.Given("x"))
    assert BANDWIDTH.to("TB/s") is BANDWIDTH
    assert BANDWIDTH.value_si == 4e12


def test_a_float_has_a_unit_or_is_refused() -> None:
    """In any unit of its dimension; without one it would be read in the wrong one."""
    assert BANDWIDTH.to_float("GB/s") == 4000.0
    assert BANDWIDTH.to_float("B/s") == BANDWIDTH.value_si
    with pytest.raises(q.DimensionError, match="TFLOPS"):
        BANDWIDTH.to_float("TFLOPS")
    with pytest.raises(TypeError):
        float(BANDWIDTH)  # type: ignore[arg-type]


def test_reprs_are_one_line_and_say_the_source() -> None:
    """A notebook prints them after every cell; as HTML the citation stands over the number."""
    given = q.given(90, "GB/s", "<b>a stream</b>")
    assert repr(given) == "Quantity(90 GB/s (given))"
    unknown = q.Unknown(("H20 x",), "<script>nobody says")
    assert repr(unknown) == "Unknown(needs H20 x: <script>nobody says)"
    assert "<script" not in unknown._repr_html_()
    assert unknown._repr_html_().count("<span") == 1
    assert "90 GB/s" in given._repr_html_()
