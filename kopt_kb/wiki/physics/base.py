"""What physics rules share: findings, tolerances, and looking rows up by conditions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from kopt_kb.quantity.units import UNITS
from kopt_kb.wiki.row import Row
from kopt_kb.wiki.sheet import Sheet, row_value
from kopt_kb.wiki.vocabulary import asked, fits

__all__ = [
    "CLOCK_ROUNDING",
    "EXACT",
    "PRODUCT_TOLERANCE",
    "RATIO_TOLERANCE",
    "Facts",
    "PhysicsFinding",
    "compare",
    "one",
    "printed_rounding",
    "rounding",
    "rows",
    "value",
    "within",
]

PRODUCT_TOLERANCE = Fraction(2, 100)
RATIO_TOLERANCE = Fraction(1, 100)
EXACT = Fraction(0)
CLOCK_ROUNDING = Fraction(3, 1000)
"""Clocks of the same memory are printed as 5001, 5000 and 4999 MHz, bandwidths of 898 GB/s as 900."""


@dataclass(frozen=True, slots=True)
class PhysicsFinding:
    """One outcome on one row: pass, fail or not-checkable, and the arithmetic in words."""

    row: Row
    outcome: str
    detail: str


def _memory_family(kind: str) -> str:
    """Return HBM for memory of 1024-bit stacks, GDDR for chips of 32 bits, else an empty text."""
    if kind.startswith("HBM") and kind != "HBM4":
        return "HBM"
    return "GDDR" if kind.startswith("GDDR") else ""


class Facts:
    """The loadable value rows of a sheet, by metric, with their conditions: read once, asked many times.

    Attributes:
        by_metric: Rows with their conditions.
        vendor: Who makes the product.
        target: Its compile target, as `sm_90`.
        memory: Family of the memory's interface: HBM, GDDR or empty.
        memory_type: Row that names the memory technology.
        memory_ecc: Row on its error correction.
    """

    def __init__(self, sheet: Sheet) -> None:
        self.by_metric: dict[str, list[tuple[Row, dict[str, str]]]] = {}
        self.vendor = str(sheet.front.get("vendor", ""))
        self.target = str(sheet.front.get("target", ""))
        self.memory = ""
        self.memory_type: Row | None = None
        self.memory_ecc: Row | None = None
        for row in sheet.chosen().values():
            if row.kind == "value":
                self.by_metric.setdefault(row.metric, []).append((row, dict(row.axes)))
            elif row.key == "memory_type" and row.kind == "token":
                self.memory, self.memory_type = _memory_family(row.value), row
            elif row.key == "memory_ecc" and row.kind == "token":
                self.memory_ecc = row


def rows(facts: Facts, metric: str, **axes: str) -> Iterator[Row]:
    """Return the loadable value rows of a metric whose conditions include `axes`.

    Rows with another scope or configuration than the GPU as shipped are only yielded when asked for.
    """
    conditions = asked(axes, unnamed="default")
    return (row for row, have in facts.by_metric.get(metric, ()) if fits(have, conditions))


def one(facts: Facts, metric: str, **axes: str) -> Row | None:
    """Return the only such row, or None if there is none or more than one value."""
    found = list(rows(facts, metric, **axes))
    same = {row_value(row) for row in found}
    return found[0] if len(same) == 1 else None


def value(facts: Facts, metric: str, **axes: str) -> Fraction | None:
    """Return the base-unit value of the only such row, or None."""
    row = one(facts, metric, **axes)
    return None if row is None else row_value(row)


def rounding(row: Row) -> Fraction:
    """Return half a unit of a row's last printed digit: what its rounding may hide, in base units."""
    decimals = len(row.value.partition(".")[2])
    return Fraction(1, 2 * 10**decimals) * UNITS[row.unit].factor


def printed_rounding(row: Row) -> Fraction:
    """Return half a unit of the last digit that says something: zeros at the end of a whole number may be rounding."""
    whole, _, decimals = row.value.partition(".")
    if decimals:
        return rounding(row)
    zeros = len(whole) - len(whole.rstrip("0"))
    return Fraction(10**zeros, 2) * UNITS[row.unit].factor


def within(actual: Fraction, expected: Fraction, tolerance: Fraction) -> bool:
    """Return whether `actual` deviates from `expected` by at most `tolerance` of it, borders included."""
    return abs(actual - expected) <= tolerance * abs(expected)


def compare(row: Row, expected: Fraction, tolerance: Fraction, meaning: str) -> PhysicsFinding:
    """Return pass or fail of a row against an expected base-unit value."""
    actual = row_value(row)
    apart = f"deviates {float((actual - expected) / expected) * 100:+.1f} % from" if expected else "is not 0, as"
    detail = f"{row.key} = {row.value} {row.unit} {apart} {meaning}"
    return PhysicsFinding(row, "pass" if within(actual, expected, tolerance) else "fail", detail)
