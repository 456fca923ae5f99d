"""Rules between number formats and engines: which rates are multiples of which, and which is never the larger."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from kopt_kb.wiki.physics.base import RATIO_TOLERANCE, Facts, PhysicsFinding, compare, one, rounding, rows
from kopt_kb.wiki.row import Row
from kopt_kb.wiki.sheet import row_value

__all__ = [
    "double_precision",
    "engines",
    "format_steps",
    "four_bit_formats",
    "half_vectors",
    "integer_formats",
    "operations_a_clock",
    "scaled_formats",
    "six_bit_formats",
]


def _fastest(facts: Facts, row: Row, *, engine: str, dtypes: tuple[str, ...]) -> Row | None:
    """Return the largest peak of those types under the row's sparsity and clock, whatever it accumulates in."""
    axes = dict(row.axes)
    same = {"sparsity": axes["sparsity"], "clock": axes["clock"], "engine": engine}
    found = [peak for dtype in dtypes for peak in rows(facts, "peak_compute", dtype=dtype, **same)]
    return max(found, key=row_value, default=None)


def _multiples(
    facts: Facts, row: Row, engine: str, dtypes: tuple[str, ...], factors: tuple[Fraction | int, ...]
) -> PhysicsFinding:
    """Compare a peak with the nearest allowed multiple of the fastest peak of other types."""
    base = _fastest(facts, row, engine=engine, dtypes=dtypes)
    if base is None:
        return PhysicsFinding(
            row, "not-checkable", f"{row.key}: no {' or '.join(dtypes)} peak under the same conditions"
        )
    expected = min((row_value(base) * factor for factor in factors), key=lambda each: abs(each - row_value(row)))
    found = compare(row, expected, RATIO_TOLERANCE, f"its multiple of the {' or '.join(dtypes)} {engine} peak")
    if found.outcome == "fail" and abs(row_value(row) - expected) <= rounding(row) + rounding(base) * max(factors):
        return PhysicsFinding(row, "not-checkable", f"{found.detail}: as few digits as these can't tell")
    return found


def _fastest_rows(facts: Facts, dtype: str, engine: str) -> Iterator[Row]:
    """Yield, per sparsity and clock, the fastest printed peak of a type: slower accumulators have their own rates."""
    best: dict[tuple[str, str], Row] = {}
    for row in rows(facts, "peak_compute", dtype=dtype, engine=engine):
        if row.grade != "derived":
            axes = dict(row.axes)
            at = axes["sparsity"], axes["clock"]
            if at not in best or row_value(row) > row_value(best[at]):
                best[at] = row
    yield from best.values()


def integer_formats(facts: Facts) -> Iterator[PhysicsFinding]:
    """The int8 matrix peak is one or two times the fastest fp16 one (1 %)."""
    for row in _fastest_rows(facts, "int8", "matrix"):
        yield _multiples(facts, row, "matrix", ("fp16",), (1, 2))


def four_bit_formats(facts: Facts) -> Iterator[PhysicsFinding]:
    """A 4-bit float matrix peak is two or three times the fastest fp8 one (1 %)."""
    for dtype in ("fp4", "mxfp4", "nvfp4"):
        for row in _fastest_rows(facts, dtype, "matrix"):
            yield _multiples(facts, row, "matrix", ("fp8", "mxfp8"), (2, 3))


def six_bit_formats(facts: Facts) -> Iterator[PhysicsFinding]:
    """A 6-bit float matrix peak is one or two times the fastest fp8 one (1 %)."""
    for dtype in ("fp6", "mxfp6"):
        for row in _fastest_rows(facts, dtype, "matrix"):
            yield _multiples(facts, row, "matrix", ("fp8", "mxfp8"), (1, 2))


def scaled_formats(facts: Facts) -> Iterator[PhysicsFinding]:
    """A block-scaled format runs at the rate of its plain format (1 %)."""
    for scaled, plain in (("mxfp8", "fp8"), ("mxfp6", "fp6"), ("mxfp4", "fp4"), ("nvfp4", "fp4")):
        for row in _fastest_rows(facts, scaled, "matrix"):
            if _fastest(facts, row, engine="matrix", dtypes=(plain,)) is not None:
                yield _multiples(facts, row, "matrix", (plain,), (1,))


def double_precision(facts: Facts) -> Iterator[PhysicsFinding]:
    """The fp64 matrix peak is one or two times the fp64 vector peak (1 %)."""
    for row in _fastest_rows(facts, "fp64", "matrix"):
        yield _multiples(facts, row, "vector", ("fp64",), (1, 2))


def half_vectors(facts: Facts) -> Iterator[PhysicsFinding]:
    """The fp16 vector peak is one, two or four times the fp32 vector peak (1 %)."""
    for row in _fastest_rows(facts, "fp16", "vector"):
        yield _multiples(facts, row, "vector", ("fp32",), (1, 2, 4))


def engines(facts: Facts) -> Iterator[PhysicsFinding]:
    """A matrix engine is not slower than the vector lanes at the same type (1 %)."""
    for dtype in ("fp64", "fp32", "fp16", "bf16"):
        for row in _fastest_rows(facts, dtype, "matrix"):
            vector = _fastest(facts, row, engine="vector", dtypes=(dtype,))
            if vector is not None and dict(row.axes)["sparsity"] == "dense":
                slower = row_value(row) < row_value(vector) * (1 - RATIO_TOLERANCE)
                yield PhysicsFinding(row, "fail" if slower else "pass", f"{row.key} against the vector peak of {dtype}")


_STEPS: tuple[tuple[str, str, tuple[Fraction, ...]], ...] = (
    ("bf16", "fp16", (Fraction(1),)),
    ("tf32", "fp16", (Fraction(1, 2),)),
    ("fp8", "fp16", (Fraction(2),)),
    ("int8", "fp16", (Fraction(1), Fraction(2))),
    ("int4", "int8", (Fraction(2),)),
    ("fp6", "fp8", (Fraction(1), Fraction(2))),
    ("fp4", "fp8", (Fraction(2), Fraction(3))),
)
"""Operations a clock of a matrix engine: type, the type that it is a multiple of, and the multiples there are."""


def format_steps(facts: Facts) -> Iterator[PhysicsFinding]:
    """Dense matrix operations a clock of one type are a fixed multiple of those of the next wider one.

    An engine that leaves 8-bit integers out, or does a sixteenth of them, declares it.
    """
    dense = {"engine": "matrix", "sparsity": "dense"}
    for narrow, wide, factors in _STEPS:
        row, base = one(facts, "ops_per_clock_per_sm", dtype=narrow, **dense), None
        if row is not None:
            base = one(facts, "ops_per_clock_per_sm", dtype=wide, **dense)
        if row is not None and base is not None:
            good = row_value(row) / row_value(base) in factors
            detail = f"{row.key} = {row.value} beside {base.value} of {wide}"
            yield PhysicsFinding(row, "pass" if good else "fail", detail)


def operations_a_clock(facts: Facts) -> Iterator[PhysicsFinding]:
    """Operations a clock are 2^n or 3 * 2^n: lanes come in powers of two, and one format in three passes of two."""
    for row in rows(facts, "ops_per_clock_per_sm"):
        number = row_value(row)
        whole = number.numerator
        while whole % 2 == 0 and whole > 3:
            whole //= 2
        regular = number.denominator == 1 and whole in {1, 2, 3}
        yield PhysicsFinding(
            row, "pass" if regular else "fail", f"{row.key} = {row.value} is {'' if regular else 'not '}2^n or 3 * 2^n"
        )
