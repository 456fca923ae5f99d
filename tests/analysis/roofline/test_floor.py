"""Floors of products: the fastest arithmetic that a check could accept, at the highest clock, less what Strassen saves."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from kopt_kb.analysis.roofline.floor import compute_floor, multiplied, work_floor
from kopt_kb.analysis.roofline.last_caches import last_caches
from kopt_kb.problem.tolerances import Tolerance, tolerance_of
from kopt_kb.problem.work import Work, work
from kopt_kb.wiki.registry import Registry

REGISTRY = Registry.open()
CUBE = 4096
H100_FP16, H100_INT8 = 132 * 4096 * 1.98e9 / 1e12, 1978.9 * 1980 / 1830
"""Tera-operations a second at an H100's highest clock: 989.4 is printed rounded down, 1978.9 up."""


def _limit(dtype: str, text: str) -> Tolerance:
    return replace(tolerance_of(dtype), rel_l2_err=Fraction(text))


def _tera(dtype: str, platform: str = "H100_SXM", limit: str = "", **options: object) -> float:
    """Rate that the floor of a product of 4096 cubed rests on, in tera-operations of the wide product a second."""
    tolerance = _limit(dtype, limit) if limit else None
    found = compute_floor(work("gemm", (CUBE, CUBE, CUBE), dtype, **options), REGISTRY.platform(platform), tolerance)
    assert found.seconds is not None, found.route
    return float(2 * CUBE**3 * Fraction(49, 64) / found.seconds / 10**12)


@pytest.mark.core
def test_the_tolerance_decides_which_route_is_the_fastest_of_an_fp32_product() -> None:
    """One product, or three of two slices."""
    int8, fp16 = H100_INT8, H100_FP16
    assert _tera("fp32", limit="1e-2") == pytest.approx(int8)
    assert _tera("fp32", limit="1e-3") == pytest.approx(fp16)
    assert _tera("fp32", limit="1e-4") == pytest.approx(int8 / 3)
    assert _tera("fp32") == pytest.approx(int8 / 3)


def test_fp64_by_slices_of_int8_has_a_floor_too() -> None:
    """1e-12 needs 39 bits: ten residues of int8 keep 40 and are faster than the 66.9 TFLOPS of fp64."""
    assert _tera("fp64") == pytest.approx(H100_INT8 / 10)
    assert _tera("fp64") > 66.9
    assert _tera("fp64", "A100_SXM_80GB") == pytest.approx(62.4)


def test_fp16_in_parts_is_no_faster_than_its_products() -> None:
    """Without fast int8 (a B300) three products of fp16 stand for one, the corrections in fp8."""
    found = compute_floor(work("gemm", (CUBE,) * 3, "fp32"), REGISTRY.platform("B300"))
    assert found.route.startswith("3 products of fp16 (x3)") and "all but the first at 4.5 PFLOPS of fp8" in found.route
    assert any("routes/products.md" in one for one in found.citations)


@pytest.mark.parametrize(("platform", "rate"), [("H100_SXM", 1070.49), ("H200_SXM", 1070.55), ("H20", 148)])
def test_storage_of_16_bits_is_multiplied_in_16_bits(platform: str, rate: float) -> None:
    """At 1,980 MHz where that is documented, also where the printed rate stands beside no clock."""
    assert _tera("bf16", platform) == pytest.approx(rate, rel=1e-4)


def test_a_stated_type_is_held() -> None:
    """A problem that asks for products as stored has the vector engine; of 16 bits at least, no int8."""
    assert _tera("fp32", limit="1e-2", operands="storage") == pytest.approx(66.90816)
    assert _tera("fp32", limit="1e-2", operands="16bit") == pytest.approx(H100_FP16)


@pytest.mark.parametrize(
    ("op", "shape", "dtype"),
    [("rms_norm", "8192x4096", "fp32"), ("conv2d", "8x64x32x32", "fp32"), ("softmax", "128x128", "bf16")],
)
def test_what_is_no_dense_product_has_no_floor_of_arithmetic(op: str, shape: str, dtype: str) -> None:
    """Vector work (packed halves double its rate), and convolutions, which Winograd and Fourier shorten; it is said."""
    assert multiplied(work(op, shape, dtype)) == 0
    found = compute_floor(work(op, shape, dtype), REGISTRY.platform("H100_SXM"))
    assert found.seconds is None and "vector, sparse and triangular work have no floor" in found.route


def test_sparse_and_triangular_work_has_none() -> None:
    """Operations of which a part is known zeros are given as counts: nobody says that they are products."""
    for engine in ("matrix", "vector"):
        given = Work.given(2 * CUBE**3 // 2, 10**6, "fp16", engine)
        assert compute_floor(given, REGISTRY.platform("H100_SXM")).seconds is None


def test_an_unknown_rate_that_could_be_the_fastest_leaves_no_floor_and_is_named() -> None:
    """Nobody says how fast a GB10 multiplies bytes; an MI308X is bounded by the ceiling of its target."""
    found = compute_floor(work("gemm", (64, 64, 64), "fp32"), REGISTRY.platform("GB10"))
    assert found.seconds is None and "GB10 peak_compute[dtype=int8;engine=matrix]" in found.missing
    bounded = compute_floor(work("gemm", (64, 64, 64), "fp16"), REGISTRY.platform("MI308X"))
    assert (
        "no more than 2048 operations a clock and CU" in bounded.route and "targets/gfx942.md" in bounded.citations[0]
    )


def test_only_the_products_of_a_fused_operation_count() -> None:
    """Of attention the matrix part; exponentials and sums have no floor."""
    one = work("attention", "1x8x1024x64", "bf16")
    assert multiplied(one) == sum(flop.useful.value for flop in one.flops if flop.engine == "matrix") > 0


def test_the_floor_of_a_work_is_the_longer_of_bytes_and_products() -> None:
    """Writes that the last cache may keep are no bytes of device memory."""
    h100 = REGISTRY.platform("H100_SXM")
    square, thin = work("gemm", (CUBE,) * 3, "bf16"), work("gemm", (1, CUBE, CUBE), "bf16")
    by_products, by_bytes = work_floor(square, h100), work_floor(thin, h100)
    assert by_products is not None and by_products.by == "products"
    assert by_bytes is not None and by_bytes.by == "bytes"
    copied = work("softmax", "1024x1024", "fp32")
    kept = last_caches(h100).held
    assert kept == 60 * 2**20 > copied.compulsory_bytes("dram", "write")
    found = work_floor(copied, h100)
    assert found is not None
    assert found.seconds == pytest.approx(copied.compulsory_bytes("dram", "read") / 3.35e12, rel=0.01)


def test_writes_count_only_as_far_as_no_level_of_cache_can_keep_them() -> None:
    """288 MiB on an MI300X, 256 of them behind 32 of L2; on an RTX 5080, whose L2 is UNKNOWN, reads alone count."""
    copied = work("softmax", "16384x16384", "fp32")
    read, written = (copied.compulsory_bytes("dram", way) for way in ("read", "write"))
    on_amd, on_unknown = (work_floor(copied, REGISTRY.platform(name)) for name in ("MI300X", "RTX_5080"))
    assert on_amd is not None and on_unknown is not None
    assert on_amd.seconds == pytest.approx((read + written - 288 * 2**20) / 5.325e12, rel=1e-3)
    assert on_unknown.seconds == pytest.approx(read / 960e9, rel=1e-3)
