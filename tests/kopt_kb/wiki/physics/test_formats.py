"""Number formats and engines: multiples hold to 1 %, a matrix engine is not the slower one."""

from __future__ import annotations

import pytest

from kopt_kb.wiki.physics import formats, judge
from kopt_kb.wiki.physics.base import Facts


def outcomes(sheet, rule: str) -> list[str]:
    """Outcomes of one rule."""
    return [check.outcome for check in judge(sheet) if check.rule == rule]


def peak(dtype: str, value: str, engine: str = "matrix", rest: str = "sparsity=dense;acc=unstated;clock=boost") -> str:
    """A peak; integer types count operations."""
    unit = "TOPS" if dtype.startswith("int") else "TFLOPS"
    return f"peak_compute {value} {unit} dtype={dtype};engine={engine};{rest}"


@pytest.mark.parametrize(
    ("value", "outcome"),
    [
        ("1000.0", "pass"),
        ("2000.0", "pass"),
        ("2019.0", "pass"),
        ("1981.0", "pass"),
        ("2021.0", "fail"),
        ("4000.0", "fail"),
        ("500.0", "fail"),
    ],
)
def test_int8_is_once_or_twice_fp16(sheet_of, value: str, outcome: str) -> None:
    """0.95 % off passes, 1.05 % fails; the sparse rate taken as dense is four times."""
    facts = Facts(sheet_of(peak("fp16", "1000.0"), peak("int8", value)))
    assert [found.outcome for found in formats.integer_formats(facts)] == [outcome]


def test_the_fastest_accumulator_counts(sheet_of) -> None:
    """A part that halves fp16 under fp32 accumulation still runs int8 at twice its full fp16 rate."""
    full = peak("fp16", "1000.0", rest="sparsity=dense;acc=fp16;clock=boost")
    half = peak("fp16", "500.0", rest="sparsity=dense;acc=fp32;clock=boost")
    facts = Facts(sheet_of(half, full, peak("int8", "2000.0")))
    assert [found.outcome for found in formats.integer_formats(facts)] == ["pass"]


@pytest.mark.parametrize(
    ("rule", "base", "dtype", "value", "outcome"),
    [
        ("PHY-FOUR-BIT", "fp8", "fp4", "2000.0", "pass"),
        ("PHY-FOUR-BIT", "fp8", "nvfp4", "3000.0", "pass"),
        ("PHY-FOUR-BIT", "fp8", "fp4", "2019.0", "pass"),
        ("PHY-FOUR-BIT", "fp8", "fp4", "2021.0", "fail"),
        ("PHY-FOUR-BIT", "fp8", "mxfp4", "4000.0", "fail"),
        ("PHY-SIX-BIT", "fp8", "fp6", "1000.0", "pass"),
        ("PHY-SIX-BIT", "fp8", "mxfp6", "2000.0", "pass"),
        ("PHY-SIX-BIT", "fp8", "fp6", "1011.0", "fail"),
        ("PHY-SIX-BIT", "fp8", "fp6", "1009.0", "pass"),
        ("PHY-SIX-BIT", "fp8", "fp6", "4000.0", "fail"),
        ("PHY-SCALED", "fp8", "mxfp8", "1009.0", "pass"),
        ("PHY-SCALED", "fp8", "mxfp8", "1011.0", "fail"),
        ("PHY-SCALED", "fp4", "nvfp4", "2000.0", "fail"),
    ],
)  # fmt: skip
def test_narrow_float_formats(sheet_of, rule: str, base: str, dtype: str, value: str, outcome: str) -> None:
    """4 bit is twice or three times, 6 bit once or twice fp8; scaled formats equal their plain one."""
    assert outcomes(sheet_of(peak(base, "1000.0"), peak(dtype, value)), rule) == [outcome]


@pytest.mark.parametrize(
    ("value", "outcome"),
    [("67.0", "pass"), ("33.5", "pass"), ("67.6", "pass"), ("67.8", "fail"), ("134.0", "fail"), ("16.7", "fail")],
)
def test_double_precision_is_once_or_twice(sheet_of, value: str, outcome: str) -> None:
    """0.9 % off passes, 1.2 % fails."""
    sheet = sheet_of(peak("fp64", "33.50", "vector"), peak("fp64", value))
    assert outcomes(sheet, "PHY-DOUBLE") == [outcome]


def test_two_digits_cannot_tell_one_per_cent(sheet_of) -> None:
    """34 may be 33.5: 67 is neither right nor wrong, 100 is wrong."""
    base = peak("fp64", "34", "vector")
    assert outcomes(sheet_of(base, peak("fp64", "67")), "PHY-DOUBLE") == ["not-checkable"]
    assert outcomes(sheet_of(base, peak("fp64", "100")), "PHY-DOUBLE") == ["fail"]


@pytest.mark.parametrize(
    ("value", "outcome"),
    [("100.0", "pass"), ("400.0", "pass"), ("403.0", "pass"), ("405.0", "fail"), ("800.0", "fail")],
)
def test_half_vectors(sheet_of, value: str, outcome: str) -> None:
    """A matrix rate in a vector row is a larger multiple than four."""
    sheet = sheet_of(peak("fp32", "100.0", "vector"), peak("fp16", value, "vector"))
    assert outcomes(sheet, "PHY-HALF-VECTOR") == [outcome]


@pytest.mark.parametrize(
    ("value", "outcome"), [("500.0", "pass"), ("100.0", "pass"), ("99.0", "pass"), ("98.9", "fail")]
)
def test_the_matrix_engine_is_not_slower(sheet_of, value: str, outcome: str) -> None:
    """A vector rate in the matrix row is caught when the other row is right."""
    sheet = sheet_of(peak("fp16", "100.0", "vector"), peak("fp16", value))
    assert outcomes(sheet, "PHY-ENGINE") == [outcome]


@pytest.mark.parametrize(
    ("value", "outcome"),
    [("16384", "pass"), ("49152", "pass"), ("4", "pass"), ("16834", "fail"), ("5", "fail"), ("16386", "fail")],
)
def test_operations_a_clock(sheet_of, value: str, outcome: str) -> None:
    """Two swapped digits are no rate."""
    sheet = sheet_of(f"ops_per_clock_per_sm {value} op/clk dtype=fp8;engine=matrix;sparsity=dense;acc=unstated")
    assert outcomes(sheet, "PHY-OPS") == [outcome]


def rate(dtype: str, value: str, sparsity: str = "dense") -> str:
    """Operations a clock of a matrix engine."""
    return f"ops_per_clock_per_sm {value} op/clk dtype={dtype};engine=matrix;sparsity={sparsity};acc=unstated"


@pytest.mark.parametrize(
    ("dtype", "value", "base", "outcome"),
    [
        ("bf16", "1024", ("fp16", "1024"), "pass"),
        ("bf16", "512", ("fp16", "1024"), "fail"),
        ("tf32", "512", ("fp16", "1024"), "pass"),
        ("tf32", "1024", ("fp16", "1024"), "fail"),
        ("fp8", "2048", ("fp16", "1024"), "pass"),
        ("fp8", "1024", ("fp16", "1024"), "fail"),
        ("int8", "1024", ("fp16", "1024"), "pass"),
        ("int8", "2048", ("fp16", "1024"), "pass"),
        ("int8", "4096", ("fp16", "1024"), "fail"),
        ("int8", "64", ("fp16", "1024"), "fail"),
        ("int4", "4096", ("int8", "2048"), "pass"),
        ("int4", "2048", ("int8", "2048"), "fail"),
        ("fp6", "4096", ("fp8", "2048"), "pass"),
        ("fp4", "6144", ("fp8", "2048"), "pass"),
        ("fp4", "8192", ("fp8", "2048"), "fail"),
    ],
)
def test_a_type_has_a_multiple_of_the_rate_of_a_wider_one(
    sheet_of, dtype: str, value: str, base: tuple[str, str], outcome: str
) -> None:
    """Each step at its multiples, and off them."""
    assert outcomes(sheet_of(rate(dtype, value), rate(*base)), "PHY-STEPS") == [outcome]


def test_steps_need_both_rates_and_mean_dense_ones(sheet_of) -> None:
    """One alone is not checked; sparse rates have a rule of their own."""
    assert outcomes(sheet_of(rate("fp8", "2048")), "PHY-STEPS") == []
    sheet = sheet_of(rate("fp8", "2048"), rate("fp16", "1024"), rate("fp8", "9", "2:4"))
    assert outcomes(sheet, "PHY-STEPS") == ["pass"]
    assert outcomes(sheet_of(rate("bf16", "512") + " ! PHY-STEPS", rate("fp16", "1024")), "PHY-STEPS") == ["excepted"]


def test_without_a_partner_nothing_is_checked(sheet_of) -> None:
    """Never a pass."""
    for rule, dtype in (("PHY-FOUR-BIT", "fp4"), ("PHY-SIX-BIT", "fp6"), ("PHY-DOUBLE", "fp64")):
        assert outcomes(sheet_of(peak(dtype, "100.0")), rule) == ["not-checkable"]
