"""What physics rules share: findings, tolerances, and looking rows up by conditions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from kopt_kb.registry.row import Row
from kopt_kb.registry.sheet import Sheet, row_value

__all__ = ["PRODUCT_TOLERANCE", "RATIO_TOLERANCE", "Finding", "compare", "one", "rows", "value", "within"]

PRODUCT_TOLERANCE = Fraction(2, 100)
RATIO_TOLERANCE = Fraction(1, 100)


@dataclass(frozen=True, slots=True)
class Finding:
    """One outcome on one row: pass, fail or not-checkable, and the arithmetic in words."""

    row: Row
    outcome: str
    detail: str


def rows(sheet: Sheet, metric: str, **axes: str) -> Iterator[Row]:
    """Yield the loadable value rows of a metric whose conditions include `axes`.

    Rows with another scope or configuration than the GPU as shipped are only yielded when asked for.
    """
    for row in sheet.chosen().values():
        have = dict(row.axes)
        default = all(axes.get(name) == have.get(name) for name in ("scope", "config"))
        stated = all(have.get(name) == wanted for name, wanted in axes.items())
        if row.metric == metric and row.kind == "value" and default and stated:
            yield row


def one(sheet: Sheet, metric: str, **axes: str) -> Row | None:
    """Return the only such row, or None if there is none or more than one value."""
    found = list(rows(sheet, metric, **axes))
    same = {row_value(row) for row in found}
    return found[0] if len(same) == 1 else None


def value(sheet: Sheet, metric: str, **axes: str) -> Fraction | None:
    """Return the base-unit value of the only such row, or None."""
    row = one(sheet, metric, **axes)
    return None if row is None else row_value(row)


def within(actual: Fraction, expected: Fraction, tolerance: Fraction) -> bool:
    """Return whether `actual` deviates from `expected` by at most `tolerance` of it, borders included."""
    return abs(actual - expected) <= tolerance * abs(expected)


def compare(row: Row, expected: Fraction, tolerance: Fraction, meaning: str) -> Finding:
    """Return pass or fail of a row against an expected base-unit value."""
    actual = row_value(row)
    deviation = float((actual - expected) / expected) * 100
    detail = f"{row.key} = {row.value} {row.unit} deviates {deviation:+.1f} % from {meaning}"
    return Finding(row, "pass" if within(actual, expected, tolerance) else "fail", detail)
