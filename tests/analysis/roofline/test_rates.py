"""The rate that no product of a type exceeds on a part, or the row that is missing."""

from __future__ import annotations

import pytest

from kopt_kb.analysis.roofline.rates import HighestRate, highest_rate
from kopt_kb.wiki.registry import Registry

REGISTRY = Registry.open()


def _tera(platform: str, dtype: str) -> float:
    found = highest_rate(REGISTRY.platform(platform), dtype)
    assert isinstance(found, HighestRate)
    return float(found.per_s / 10**12)


@pytest.mark.core
def test_printed_rates_are_taken_to_the_highest_clock() -> None:
    """From 1830 MHz, from the row of operations a clock where no clock is printed, and as printed where none is known."""
    assert _tera("H100_SXM", "bf16") == pytest.approx(989.4 * 1980 / 1830, rel=1e-4)
    assert _tera("H200_SXM", "fp8") == pytest.approx(8192 * 132 * 1.98e9 / 1e12)
    assert _tera("H20", "bf16") == 148


@pytest.mark.parametrize(
    ("platform", "dtype", "units", "clock_hz"),
    [
        ("MI355X", "bf16", 256 * 4096, 2.4e9),
        ("MI210", "int8", 104 * 1024, 1.7e9),
        ("H100_SXM", "fp16", 132 * 4096, 1.98e9),
    ],
    ids=["two digits", "three digits", "taken to another clock"],
)
def test_a_peak_that_is_printed_rounded_down_is_no_bound(
    platform: str, dtype: str, units: int, clock_hz: float
) -> None:
    """AMD prints 2.5 PFLOPS of an MI355X: 256 CUs of 4096 operations at 2,400 MHz are 2.5166."""
    assert _tera(platform, dtype) == pytest.approx(units * clock_hz / 1e12, rel=1e-12)


@pytest.mark.parametrize(
    ("platform", "text"),
    [
        ("B200", "2.25 PFLOPS of bf16 matrix, 2.382 PFLOPS at the highest clock"),
        ("MI300X", "1307.4 TFLOPS of bf16 matrix, at the highest clock"),
        ("H20", "148 TFLOPS of bf16 matrix, as printed"),
        ("MI308X", "no more than 2048 operations a clock and CU of bf16 matrix, 232.7 TFLOPS at the highest clock"),
    ],
    ids=["unstated clock", "highest clock", "no clock", "no rate"],
)
def test_a_reader_can_compute_with_what_is_said(platform: str, text: str) -> None:
    """The rate that a floor divides by stands in its sentence, and a clock only where somebody prints one."""
    found = highest_rate(REGISTRY.platform(platform), "bf16")
    assert isinstance(found, HighestRate)
    assert found.text == text


def test_the_faster_accumulator_and_engine_count() -> None:
    """Halves summed in halves on a GeForce; fp32 on the vector engine where no matrix engine has it."""
    assert _tera("RTX_4090", "fp16") == pytest.approx(330.3)
    assert _tera("A100_SXM_80GB", "fp32") == pytest.approx(19.5)


def test_what_nobody_says_is_bounded_or_named() -> None:
    """By a narrower float, by the target's ceiling; a type that the part lacks has no rate and is no gap."""
    fp16 = highest_rate(REGISTRY.platform("RTX_PRO_6000_BLACKWELL_SERVER"), "fp16")
    assert isinstance(fp16, HighestRate) and fp16.text.startswith("no more than")
    assert highest_rate(REGISTRY.platform("V100_SXM2_32GB"), "bf16") is None
    assert highest_rate(REGISTRY.platform("H100_SXM"), "int4") is None
    assert highest_rate(REGISTRY.platform("GB10"), "int8") == "GB10 peak_compute[dtype=int8;engine=matrix]"
