"""Rules on ratios between peaks: sparse to dense, half formats, narrow formats."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from kopt_kb.wiki.physics.base import RATIO_TOLERANCE, Facts, PhysicsFinding, compare, one, rounding, rows
from kopt_kb.wiki.row import Row
from kopt_kb.wiki.sheet import row_value

__all__ = ["half_formats", "narrow_formats", "printed_digits", "sparse"]


def _partner(facts: Facts, row: Row, **changed: str) -> Row | None:
    """Return the peak that differs from `row` in the given conditions only."""
    return one(facts, "peak_compute", **{**dict(row.axes), **changed})


def sparse(facts: Facts) -> Iterator[PhysicsFinding]:
    """A 2:4 sparse peak is twice the dense one (1 %)."""
    for row in rows(facts, "peak_compute", sparsity="2:4"):
        dense = _partner(facts, row, sparsity="dense")
        if dense is None:
            yield PhysicsFinding(row, "not-checkable", f"{row.key}: no dense peak under the same conditions")
        else:
            yield compare(row, 2 * row_value(dense), RATIO_TOLERANCE, "twice the dense peak")


def half_formats(facts: Facts) -> Iterator[PhysicsFinding]:
    """The matrix peaks of bf16 and fp16 are equal (1 %)."""
    for row in rows(facts, "peak_compute", dtype="bf16", engine="matrix"):
        other = _partner(facts, row, dtype="fp16")
        if other is None:
            yield PhysicsFinding(row, "not-checkable", f"{row.key}: no fp16 peak under the same conditions")
        else:
            yield compare(row, row_value(other), RATIO_TOLERANCE, "the fp16 peak")


_NARROW = (("fp8", "fp16"), ("tf32", "fp16"))
_FACTORS = {"fp8": (Fraction(2), Fraction(1)), "tf32": (Fraction(1, 2),)}


def narrow_formats(facts: Facts) -> Iterator[PhysicsFinding]:
    """The fp8 matrix peak is one or two times, the tf32 peak half of the fp16 peak (1 %)."""
    for dtype, wide in _NARROW:
        for row in rows(facts, "peak_compute", dtype=dtype, engine="matrix"):
            other = _partner(facts, row, dtype=wide)
            if other is None:
                yield PhysicsFinding(row, "not-checkable", f"{row.key}: no {wide} peak under the same conditions")
                continue
            expected = [factor * row_value(other) for factor in _FACTORS[dtype]]
            nearest = min(expected, key=lambda each: abs(each - row_value(row)))
            yield compare(row, nearest, RATIO_TOLERANCE, f"its multiple of the {wide} peak")


_TWINS = (
    ("bf16", "dtype", "fp16", (Fraction(1),)),
    ("fp8", "dtype", "fp16", (Fraction(2), Fraction(1))),
    ("tf32", "dtype", "fp16", (Fraction(1, 2),)),
    ("int8", "dtype", "fp8", (Fraction(1),)),
)


def _same_document(row: Row, other: Row) -> bool:
    return bool({source.id for source in row.sources} & {source.id for source in other.sources})


def _digits(row: Row, other: Row, factors: tuple[Fraction, ...]) -> PhysicsFinding | None:
    """Compare two printed values of one document as far as their digits go; None if they are no multiple at all."""
    actual = row_value(row)
    factor = min(factors, key=lambda each: abs(each * row_value(other) - actual))
    if abs(actual - factor * row_value(other)) > RATIO_TOLERANCE * actual:
        return None
    apart = abs(actual - factor * row_value(other))
    good = apart <= rounding(row) + factor * rounding(other)
    detail = f"{row.key} = {row.value} {row.unit} beside {other.key} = {other.value} {other.unit} of the same document"
    return PhysicsFinding(row, "pass" if good else "fail", detail)


def printed_digits(facts: Facts) -> Iterator[PhysicsFinding]:
    """Rates of one document that are multiples of each other are so to the last printed digit."""
    for row in rows(facts, "peak_compute", engine="matrix"):
        if row.grade == "derived":
            continue
        axes = dict(row.axes)
        pairs = [(axis, name, factors) for dtype, axis, name, factors in _TWINS if dtype == axes["dtype"]]
        if axes["sparsity"] == "2:4":
            pairs.append(("sparsity", "dense", (Fraction(2),)))
        for axis, name, factors in pairs:
            other = _partner(facts, row, **{axis: name})
            if other is not None and other.grade != "derived" and _same_document(row, other):
                found = _digits(row, other, factors)
                if found is not None:
                    yield found
