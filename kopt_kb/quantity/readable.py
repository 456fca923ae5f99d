"""Numbers as people read them: one rounding for all of them, SI prefixes, speed-ups as a factor.

Documents carry exact numbers; this is for text and tables. Everything is rounded to four significant digits, halves to
even, and never written with an exponent.
"""

from __future__ import annotations

from decimal import ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kopt_kb.quantity.quantity import Quantity

__all__ = ["DIGITS", "duration", "factor", "gain", "percent", "reached", "rounded", "said", "si", "spoken"]

DIGITS = 4
"""Significant digits of every number that is not exact."""

_PREFIXES = {-9: "n", -6: "u", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T", 15: "P", 18: "E"}
_FACTOR_FROM_PCT = 100
"""Gains from here on are said as a factor: `+2037.7 %` is no number that anybody pictures."""

_LONG = 100_000
"""Printed numbers from here on are hard to read."""

_TERA = 10**12
"""Bandwidths from here on are said in TB/s, whatever their source prints."""

_WIDE = Context(prec=700)
"""Room for every float that is not rounded to an exponent."""

Real = int | float | Fraction | Decimal


def _decimal(value: Real) -> Decimal:
    if isinstance(value, Fraction):
        return Decimal(value.numerator) / Decimal(value.denominator)
    return Decimal(str(value)) if isinstance(value, float) else Decimal(value)


def rounded(value: Real, digits: int = DIGITS) -> str:
    """Return a number with that many significant digits; whole digits are never rounded away.

    >>> rounded(31764.6), rounded(0.30000000000000004), rounded(2)
    ('31765', '0.3', '2')
    """
    number = _decimal(value)
    if not number.is_finite():
        return str(value)
    if number == 0:
        return "0"
    places = max(0, digits - 1 - number.adjusted())
    text = format(number.quantize(Decimal(1).scaleb(-places), ROUND_HALF_EVEN, _WIDE), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def si(value: Real, unit: str) -> str:
    """Return a number in a base unit with the prefix that leaves one to three digits before the point.

    >>> si(134225920, "FLOP"), si(67117056, "B"), si(0.000052, "s"), si(0, "B")
    ('134.2 MFLOP', '67.12 MB', '52 us', '0 B')
    """
    number = _decimal(value)
    if not number.is_finite() or number == 0:
        return f"{rounded(value)} {unit}"
    shown = Decimal(rounded(number.scaleb(-3 * (number.adjusted() // 3)))).adjusted() // 3  # 999.96 is 1 of the next
    power = min(max(3 * (number.adjusted() // 3 + shown), min(_PREFIXES)), max(_PREFIXES))
    return f"{rounded(number.scaleb(-power))} {_PREFIXES[power]}{unit}"


def duration(seconds: Real | None) -> str:
    """Return a time, such as `52 us`; `-` for none."""
    return "-" if seconds is None else si(seconds, "s")


def percent(share: Real | None) -> str:
    """Return a share as a percentage, such as `94.73 %`; `-` for none."""
    return "-" if share is None else f"{rounded(100 * _decimal(share))} %"


def factor(ratio: Real | None) -> str:
    """Return a ratio of two durations or rates, such as `21.38×`; `-` for none."""
    return "-" if ratio is None else f"{rounded(ratio)}×"


def reached(ratio: Real | None) -> str:
    """Return what was reached over its target, cut off after three decimals and not rounded: 1 is met.

    >>> reached(0.99996), reached(1.0545)
    ('0.999', '1.054')
    """
    return "-" if ratio is None else format(_decimal(ratio).quantize(Decimal("0.001"), ROUND_FLOOR), "f")


def gain(pct: Real | None) -> str:
    """Return a change of a rate in percent: signed below a doubling, a factor from there on; `-` for none.

    >>> gain(8.0234), gain(2037.73), gain(-0.83)
    ('+8.023 %', '21.38×', '-0.83 %')
    """
    if pct is None:
        return "-"
    text = rounded(pct)
    if _decimal(pct).is_finite() and Decimal(text) >= _FACTOR_FROM_PCT:
        return factor(1 + _decimal(pct) / 100)
    return f"{'' if text.startswith('-') or text == '0' else '+'}{text} %"


def spoken(number: str, symbol: str) -> str:
    """Return a printed value of many digits as people say it, nothing where the printed form is short.

    >>> spoken("7928064000000", "B/s"), spoken("262144", "KiB"), spoken("406000", "GOPS"), spoken("65536", "count")
    ('7.928 TB/s', '256 MiB', '406 TOPS', '')
    """
    from kopt_kb.quantity.units import UNITS, si_unit

    unit = UNITS.get(symbol)
    if unit is None or unit.dimension not in {"B", "B/s", "op/s", "Hz"} or not number.replace(".", "", 1).isdigit():
        return ""
    if Decimal(number) < _LONG:
        return ""
    value = Fraction(number) * unit.factor
    if unit.dimension == "op/s":
        return si(value, "FLOPS" if "FLOP" in symbol else "OPS")
    if symbol == "B" or symbol.endswith("iB"):
        whole = [one for one in ("GiB", "MiB") if (value / UNITS[one].factor).denominator == 1]
        if whole and value < _LONG * UNITS[whole[0]].factor:
            return f"{value / UNITS[whole[0]].factor} {whole[0]}"
    return si(value, si_unit(unit.dimension))


def said(quantity: Quantity) -> str:
    """Return a quantity as it is printed, or with a prefix where it is printed with many digits; terabytes in TB/s."""
    if quantity.unit in {"MB/s", "GB/s"} and quantity.si >= _TERA:
        return str(quantity.to("TB/s"))
    return spoken(quantity.number, quantity.unit) or str(quantity)
