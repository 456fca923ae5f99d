"""Units are exact and agree with an independent library."""

from __future__ import annotations

from fractions import Fraction

import pint
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kopt_kb.base.errors import BadInput
from kopt_kb.quantity.units import DIMENSIONS, UNITS, format_exact, parse_number, si_number, si_unit, unit, units_of

PINT = {
    "B": "byte", "KiB": "kibibyte", "MiB": "mebibyte", "GiB": "gibibyte", "TiB": "tebibyte", "kB": "kilobyte",
    "MB": "megabyte", "GB": "gigabyte", "TB": "terabyte", "B/s": "byte/second", "GB/s": "gigabyte/second",
    "TB/s": "terabyte/second", "MB/s": "megabyte/second", "Hz": "hertz", "MHz": "megahertz", "GHz": "gigahertz",
    "s": "second", "ms": "millisecond", "us": "microsecond", "ns": "nanosecond", "W": "watt", "bit": "bit",
    "Gbit/s": "gigabit/second",
}  # fmt: skip


@pytest.fixture(scope="module")
def registry() -> pint.UnitRegistry:
    """The units of pint, in rational numbers."""
    return pint.UnitRegistry(non_int_type=Fraction)


@pytest.mark.parametrize("symbol", sorted(PINT))
def test_factors_agree_with_pint(symbol: str, registry: pint.UnitRegistry) -> None:
    """Each factor equals pint's, to the last bit of a rational number."""
    base = registry(PINT[symbol]).to(PINT[DIMENSION_BASE[UNITS[symbol].dimension]])
    assert UNITS[symbol].factor == base.magnitude


DIMENSION_BASE = {"B": "B", "B/s": "B/s", "Hz": "Hz", "s": "s", "W": "W", "bit": "bit", "bit/s": "bit/s"}
PINT["bit/s"] = "bit/second"


def test_si_and_iec_are_distinct() -> None:
    """A GB is not a GiB."""
    assert unit("GB").factor == 10**9
    assert unit("GiB").factor == 2**30


def test_ambiguous_spelling_is_refused_with_the_ones_near_it() -> None:
    """KB is no unit here; the error offers kB."""
    with pytest.raises(BadInput, match="kB"):
        unit("KB")


@pytest.mark.parametrize("text", ["", "~4", "4,0", "1e3", "-1", "+2", "4.", ".5", "٤", "4 ", "1-2", "up to 4", "²"])
def test_only_plain_decimals_are_numbers(text: str) -> None:
    """No sign, exponent, comma, range, tilde or foreign digit."""
    with pytest.raises(BadInput):
        parse_number(text)


@given(st.integers(0, 10**12), st.integers(0, 6))
def test_numbers_are_read_exactly(digits: int, decimals: int) -> None:
    """A decimal text becomes the fraction it prints."""
    scale = 10**decimals
    text = str(digits) if decimals == 0 else f"{digits // scale}.{digits % scale:0{decimals}d}"
    assert parse_number(text) == Fraction(digits, scale)


@given(st.integers(-(10**9), 10**9).filter(bool), st.integers(0, 9))
def test_format_exact_reads_back_within_its_digits(numerator: int, power: int) -> None:
    """Six significant digits are kept."""
    value = Fraction(numerator, 10**power)
    assert abs(Fraction(format_exact(value)) - value) <= abs(value) / 10**5


def test_integers_stay_integers_in_documents() -> None:
    """A rational that is none becomes the nearest float."""
    assert si_number(Fraction(4 * 10**12)) == 4_000_000_000_000
    assert isinstance(si_number(Fraction(4 * 10**12)), int)
    assert si_number(Fraction(1, 3)) == 1 / 3


def test_documents_write_operations_as_flop() -> None:
    """The dimension's name is op; every other base unit is its own symbol."""
    assert [si_unit(one) for one in ("op/s", "op", "op/B", "op/clk", "B/s", "s", "1", "bit/s")] == [
        "FLOP/s", "FLOP", "FLOP/B", "FLOP/clk", "B/s", "s", "1", "bit/s",
    ]  # fmt: skip


def test_every_unit_has_a_described_dimension() -> None:
    """The list of dimensions is closed."""
    assert {one.dimension for one in UNITS.values()} <= set(DIMENSIONS)
    assert "TB/s" in units_of("B/s")


def test_a_number_of_thousands_of_digits_is_refused() -> None:
    """In a short line: Python reads none of more than 4,300 digits, and no document prints one of a hundred."""
    with pytest.raises(BadInput, match="of 5000 characters") as caught:
        parse_number("7" * 5000)
    assert caught.value.error_code == "KB012" and len(str(caught.value)) < 200
