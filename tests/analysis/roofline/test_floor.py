"""Floors of products: the fastest arithmetic that a check could accept, at the highest clock, less what Strassen saves."""

from __future__ import annotations

from fractions import Fraction

import pytest

from kopt_kb.analysis.roofline.floor import compute_floor, multiplied
from kopt_kb.problem.work import Work, work
from kopt_kb.wiki.registry import Registry

REGISTRY = Registry.open()
CUBE = 4096


def _per_s(dtype: str, platform: str = "H100_SXM") -> Fraction:
    """Rate that a floor of a product of 4096 cubed rests on, in operations a second."""
    found = compute_floor(work("gemm", (CUBE, CUBE, CUBE), dtype), REGISTRY.platform(platform))
    assert found is not None
    return 2 * CUBE**3 * Fraction(49, 64) / found.seconds


@pytest.mark.core
def test_an_fp32_product_may_run_on_the_matrix_engine() -> None:
    """989.4 TFLOPS of fp16 at 1830 MHz are 1070.5 at 1980 MHz: no fp32 kernel is refused by the 66.9 of the vectors."""
    highest = Fraction("989.4") * Fraction(1980, 1830)
    assert float(_per_s("fp32") / 10**12) == pytest.approx(float(highest), rel=1e-4)
    assert _per_s("fp64") == _per_s("fp32")


def test_wide_storage_is_not_rounded_to_eight_bits_in_one_product() -> None:
    """bf16 has the fp16 rate as its floor, fp8 has its own, twice that."""
    assert _per_s("bf16") < _per_s("fp8") < 2 * _per_s("bf16") * Fraction(1001, 1000)


def test_a_rate_without_a_clock_is_taken_as_printed() -> None:
    """The H20's 148 TFLOPS stand beside no clock."""
    assert _per_s("bf16", "H20") == 148 * 10**12


@pytest.mark.parametrize(
    ("op", "shape", "dtype"),
    [("rms_norm", "8192x4096", "fp32"), ("conv2d", "8x64x32x32", "fp32"), ("softmax", "128x128", "bf16")],
)
def test_what_is_no_dense_product_has_no_floor(op: str, shape: str, dtype: str) -> None:
    """Vector work, and convolutions, which Winograd and Fourier compute with fewer operations."""
    assert multiplied(work(op, shape, dtype)) == 0
    assert compute_floor(work(op, shape, dtype), REGISTRY.platform("H100_SXM")) is None


def test_given_counts_and_unknown_rates_have_none() -> None:
    """Nobody says what bare operations are, nor what an MI308X does."""
    assert compute_floor(Work.given(10**12, 10**6, "fp32", "vector"), REGISTRY.platform("H100_SXM")) is None
    assert compute_floor(work("gemm", (64, 64, 64), "fp16"), REGISTRY.platform("MI308X")) is None


def test_only_the_products_of_a_fused_operation_count() -> None:
    """Of attention the matrix part; exponentials and sums have no floor."""
    one = work("attention", "1x8x1024x64", "bf16")
    assert multiplied(one) == sum(flop.useful.value for flop in one.flops if flop.engine == "matrix") > 0
