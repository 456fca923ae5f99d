"""Ratios between peaks hold to 1 %."""

from __future__ import annotations

import pytest

from kopt_kb.wiki.physics import judge


def outcomes(sheet, rule: str) -> list[str]:
    """Outcomes of one rule."""
    return [check.outcome for check in judge(sheet) if check.rule == rule]


def peak(dtype: str, value: str, sparsity: str = "dense", rest: str = "acc=fp32;clock=boost") -> str:
    """A matrix peak."""
    return f"peak_compute {value} TFLOPS dtype={dtype};engine=matrix;sparsity={sparsity};{rest}"


@pytest.mark.parametrize(
    ("value", "outcome"),
    [("200", "pass"), ("201.8", "pass"), ("198.2", "pass"), ("202.2", "fail"), ("100", "fail"), ("400", "fail")],
)
def test_sparse_is_twice_dense(sheet_of, value: str, outcome: str) -> None:
    """0.9 % off passes, 1.1 % fails; sparse taken as dense fails."""
    assert outcomes(sheet_of(peak("fp16", "100"), peak("fp16", value, "2:4")), "PHY-SPARSE") == [outcome]


def test_sparse_without_dense_under_the_same_conditions_is_not_checkable(sheet_of) -> None:
    """Another clock is another condition."""
    other = peak("fp16", "100", rest="acc=fp32;clock=max")
    assert outcomes(sheet_of(other, peak("fp16", "200", "2:4")), "PHY-SPARSE") == ["not-checkable"]


@pytest.mark.parametrize(("value", "outcome"), [("100", "pass"), ("100.9", "pass"), ("101.1", "fail"), ("200", "fail")])
def test_half_formats_are_equal(sheet_of, value: str, outcome: str) -> None:
    """bf16 and fp16 run at one rate unless excepted."""
    assert outcomes(sheet_of(peak("fp16", "100"), peak("bf16", value)), "PHY-HALF") == [outcome]


@pytest.mark.parametrize(
    ("dtype", "value", "outcome"),
    [
        ("fp8", "200", "pass"),
        ("fp8", "100", "pass"),
        ("fp8", "400", "fail"),
        ("tf32", "50", "pass"),
        ("tf32", "100", "fail"),
    ],
)
def test_narrow_formats(sheet_of, dtype: str, value: str, outcome: str) -> None:
    """fp8 is once or twice, tf32 half of fp16."""
    assert outcomes(sheet_of(peak("fp16", "100"), peak(dtype, value)), "PHY-NARROW") == [outcome]


def test_unknown_partner_is_not_checkable(sheet_of) -> None:
    """Never a pass."""
    assert outcomes(sheet_of(peak("fp8", "200")), "PHY-NARROW") == ["not-checkable"]
    assert outcomes(sheet_of(peak("bf16", "200")), "PHY-HALF") == ["not-checkable"]


PEAK = "peak_compute {} TFLOPS dtype={};engine=matrix;sparsity={};acc=fp32;clock=boost @ {}"


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ((PEAK.format("989.4", "fp16", "dense", "a"), PEAK.format("989.4", "bf16", "dense", "a")), ["pass"]),
        ((PEAK.format("989.4", "fp16", "dense", "a"), PEAK.format("989.5", "bf16", "dense", "a")), ["pass"]),
        ((PEAK.format("989.4", "fp16", "dense", "a"), PEAK.format("984.9", "bf16", "dense", "a")), ["fail"]),
        ((PEAK.format("71", "fp16", "dense", "a"), PEAK.format("71.2", "bf16", "dense", "b")), []),
        ((PEAK.format("989.4", "fp16", "dense", "a"), PEAK.format("1978.9", "fp8", "dense", "a")), ["pass"]),
        ((PEAK.format("989.4", "fp16", "dense", "a"), PEAK.format("1987.9", "fp8", "dense", "a")), ["fail"]),
        ((PEAK.format("989.4", "fp16", "dense", "a"), PEAK.format("1978.9", "fp16", "2:4", "a")), ["pass"]),
        ((PEAK.format("989.4", "fp16", "dense", "a"), PEAK.format("1987.9", "fp16", "2:4", "a")), ["fail"]),
        ((PEAK.format("165.2", "fp16", "dense", "a"), PEAK.format("82.6", "tf32", "dense", "a")), ["pass"]),
        ((PEAK.format("100", "fp16", "dense", "a"), PEAK.format("130", "fp8", "dense", "a")), []),
    ],
)
def test_one_document_agrees_to_its_digits(sheet_of, rows: tuple[str, ...], expected: list[str]) -> None:
    """Two documents may round apart, and no multiple at all is another rule's business."""
    assert [check.outcome for check in judge(sheet_of(*rows)) if check.rule == "PHY-DIGITS"] == expected
