"""Exact units: every spelling the wiki may print, as a rational factor to a base unit of one dimension."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import inf

from kopt_kb.base.errors import BadInput

__all__ = [
    "DIMENSIONS",
    "UNITS",
    "MeasuredTime",
    "Unit",
    "format_exact",
    "is_positive",
    "parse_duration",
    "parse_number",
    "seconds_of",
    "si_number",
    "si_unit",
    "unit",
    "units_of",
]


@dataclass(frozen=True, slots=True)
class Unit:
    """One unit spelling.

    Attributes:
        symbol: As written in the wiki.
        dimension: Name of the dimension, equal to the symbol of its base unit.
        factor: Exact number of base units in one of this unit.
    """

    symbol: str
    dimension: str
    factor: Fraction


DIMENSIONS: dict[str, str] = {
    "op/s": "operations a second (FLOP/s for float types, OP/s for integer types)",
    "op/clk": "operations a clock; a fused multiply-add counts as two",
    "B/clk": "bytes a clock",
    "B/s": "bytes a second",
    "B": "bytes",
    "op": "operations",
    "op/B": "arithmetic intensity, operations a byte",
    "Hz": "clock frequency",
    "s": "seconds",
    "W": "watts",
    "bit": "bits",
    "bit/s": "bits a second and pin",
    "count": "a number of things",
    "1": "a ratio",
    "token": "a word of a closed list",
}

_DECIMAL = {"k": 3, "M": 6, "G": 9, "T": 12, "P": 15}
_BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4}


def _scaled(symbol: str, dimension: str, prefixes: str, *, base: bool = True) -> dict[str, Unit]:
    found = {symbol: Unit(symbol, dimension, Fraction(1))} if base else {}
    for prefix in prefixes:
        name = prefix + symbol
        found[name] = Unit(name, dimension, Fraction(10 ** _DECIMAL[prefix]))
    return found


UNITS: dict[str, Unit] = {
    **_scaled("FLOPS", "op/s", "GTP", base=False),
    **_scaled("OPS", "op/s", "GTP", base=False),
    **_scaled("FLOP/s", "op/s", "GTP"),
    **_scaled("OP/s", "op/s", "GTP"),
    **_scaled("B/s", "B/s", "kMGT"),
    **_scaled("B", "B", "kMGTP"),
    **{f"{p}B": Unit(f"{p}B", "B", Fraction(1024**n)) for p, n in _BINARY.items()},
    **_scaled("FLOP", "op", "GTP"),
    **_scaled("OP", "op", "GTP"),
    **_scaled("Hz", "Hz", "kMG"),
    **_scaled("bit/s", "bit/s", "MGT"),
    **{name: Unit(name, "s", Fraction(1, 10**n)) for name, n in (("s", 0), ("ms", 3), ("us", 6), ("ns", 9))},
    "op/clk": Unit("op/clk", "op/clk", Fraction(1)),
    "B/clk": Unit("B/clk", "B/clk", Fraction(1)),
    "FLOP/B": Unit("FLOP/B", "op/B", Fraction(1)),
    "OP/B": Unit("OP/B", "op/B", Fraction(1)),
    "W": Unit("W", "W", Fraction(1)),
    "bit": Unit("bit", "bit", Fraction(1)),
    "count": Unit("count", "count", Fraction(1)),
    "1": Unit("1", "1", Fraction(1)),
    "%": Unit("%", "1", Fraction(1, 100)),
    "-": Unit("-", "token", Fraction(1)),
}
# "B" carries decimal prefixes only with a lower-case k: "KB" is ambiguous in print and never a unit here.

_NUMBER = re.compile(r"\d+(\.\d+)?")
_MOST_DIGITS = 100
"""Longer than any printed value; Python reads no number of more than 4,300."""


def unit(symbol: str) -> Unit:
    """Return the unit of that exact spelling; raises `BadInput` with the spellings near it."""
    found = UNITS.get(symbol)
    if found is None:
        near = [name for name in UNITS if name.lower() == symbol.lower()]
        hint = f"write {' or '.join(near)}" if near else f"known units: {', '.join(sorted(UNITS))}"
        raise BadInput(f"unknown unit {symbol!r}", fix=hint, code="KB011")
    return found


def units_of(dimension: str) -> tuple[str, ...]:
    """Return the spellings of a dimension, in the order they are listed."""
    return tuple(name for name, one in UNITS.items() if one.dimension == dimension)


def si_number(value: Fraction) -> int | float:
    """Return an exact integer where the value is one, else the nearest float."""
    return value.numerator if value.denominator == 1 else value.numerator / value.denominator


def si_unit(dimension: str) -> str:
    """Return the symbol of a dimension's base unit as documents write it."""
    return dimension.replace("op", "FLOP", 1) if dimension.split("/", maxsplit=1)[0] == "op" else dimension


def parse_number(text: str) -> Fraction:
    """Return a plain decimal number exactly; no sign, exponent, comma, range or tilde.

    >>> parse_number("67.0")
    Fraction(67, 1)
    """
    if len(text) > _MOST_DIGITS:
        what = f"{text[:20]!r}... of {len(text)} characters is no number of a document"
        raise BadInput(what, fix="write it as the document prints it", code="KB012")
    if not _NUMBER.fullmatch(text) or not text.isascii():
        raise BadInput(f"{text!r} is not a plain decimal number", fix="write digits and one point", code="KB012")
    return Fraction(text)


def parse_duration(text: str, where: str = "--time") -> float:
    """Return the seconds of a time with its unit.

    >>> parse_duration("52us"), parse_duration("1.5 ms")
    (5.2e-05, 0.0015)
    """
    match = re.fullmatch(r"\s*([0-9]{1,30}(?:\.[0-9]{1,30})?)\s*(s|ms|us|µs|ns)\s*", text)
    if match is None or not Fraction(match[1]):
        fix = "a positive number and its unit, such as 52us, 1.5ms"
        raise BadInput(f"{text[:40]!r} is not a time", where=where, fix=fix, code="KB105")
    return float(Fraction(match[1]) * UNITS[match[2].replace("µ", "u")].factor)


def is_positive(value: object) -> bool:
    """Return whether a value is a finite number above 0; True is none.

    >>> is_positive(2), is_positive(0.0), is_positive(float("inf")), is_positive("2")
    (True, False, False, False)
    """
    return isinstance(value, int | float | Fraction) and not isinstance(value, bool) and 0 < value < inf


MeasuredTime = str | float
"""A time: seconds, or text with its unit such as `52us`."""


def seconds_of(time: object) -> float:
    """Return the seconds of a `MeasuredTime`; raises `BadInput` for what is none.

    >>> seconds_of("52us"), seconds_of(52e-6)
    (5.2e-05, 5.2e-05)
    """
    if isinstance(time, str):
        return parse_duration(time, where="time")
    if isinstance(time, int | float | Fraction) and is_positive(time):
        return float(time)
    fix = 'seconds above 0, or text with its unit such as "52us"'
    raise BadInput(f"{time!r} is not a time", where="time", fix=fix, code="KB105")


def format_exact(value: Fraction, digits: int = 6) -> str:
    """Return a decimal text of at most `digits` significant digits, exact when it fits.

    >>> format_exact(Fraction(1332, 10))
    '133.2'
    """
    if value.denominator == 1 and abs(value.numerator) < 10**15:
        return str(value.numerator)

    number = Decimal(value.numerator) / Decimal(value.denominator)
    if number == 0:
        return "0"
    rounded = number.quantize(Decimal(1).scaleb(number.adjusted() - digits + 1))
    return format(rounded.normalize(), "f")
