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
    assert _tera("H100_SXM", "bf16") == pytest.approx(989.4 * 1980 / 1830)
    assert _tera("H200_SXM", "fp8") == pytest.approx(8192 * 132 * 1.98e9 / 1e12)
    assert _tera("H20", "bf16") == 148


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
