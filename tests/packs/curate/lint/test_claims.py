"""Claims of prose: which product a number belongs to, and what is no claim."""

from __future__ import annotations

from collections.abc import Callable

import pytest

Said = Callable[..., list[tuple[str, str, str]]]


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("The MI300X has a peak memory bandwidth of 5.3 TB/s.", ("5.3 TB/s", "MI300X", "memory_bandwidth")),
        ("5.3 TB/s of HBM bandwidth on the MI300X vs. other parts", ("5.3 TB/s", "MI300X", "memory_bandwidth")),
        ("H200 SXM and MI300X: 141GB HBM3e", ("141GB", "H200_SXM,MI300X", "memory_capacity")),
        ("MI308X (CDNA3, gfx942) has 64 KB LDS per CU", ("64 KB", "MI308X", "shared_memory_per_sm")),
        ("MI355X has 288GB", ("288GB", "MI355X", "memory_capacity")),
        ("H20 with 78 SMs", ("78 SMs", "H20", "sm_count")),
    ],
)
def test_a_claim(said: Said, text: str, claim: tuple[str, str, str]) -> None:
    """The nearest name before, one right behind, joined names together; a target in brackets adds nothing."""
    assert claim in said(text)


@pytest.mark.parametrize(
    "text",
    [
        "On the H100 our kernel reaches 620 TFLOPS in bf16.",
        "A DGX H100 node has 32 PFLOPS of peak FP8.",
        "gfx942 (304, 80, 64 CUs)",
        "MI308X: 16 SEs x 5 CUs",
        "MI250X: peak power is 60W above its TDP",
        "The model needs 140 GB on an H100.",
        "MI300X copies 2 GB",
        "H100: 132 SM, 8 KB of shared memory for the tile",
        "The RTX 4070 has a peak memory bandwidth of 504 GB/s.",
        "With each generation of links the lanes and their number grew, so that on B200 the per-GPU bandwidth, at its peak, is 900 GB/s",
        "The peak is 989 TFLOPS.",
        "",
    ],
)
def test_no_claim(said: Said, text: str) -> None:
    """Measurements, systems, lists, products, differences, needs, other hardware, and what names nothing."""
    assert said(text) == []


def test_the_heading_names_the_product(said: Said) -> None:
    """Where the line names none; two names in a heading name neither."""
    assert said("# H20\n\nPeak memory bandwidth: 4.0 TB/s") == [("4.0 TB/s", "H20", "memory_bandwidth")]
    assert said("# H20 and H200\n\nPeak memory bandwidth: 4.0 TB/s") == []


def test_sparsity_belongs_to_the_number_beside_it(found: Callable[..., list[object]]) -> None:
    """`989 TFLOPS (1979 with sparsity)` and `989 (with sparsity: 1979)` are both right."""
    for text in (
        "H100 SXM peak FP16 tensor: 1,979 TFLOPS with sparsity",
        "RTX 4090 peak BF16 tensor: 165 TFLOPS (with sparsity: 330 TFLOPS)",
    ):
        assert [one for one in found(text) if one.level == "error"] == []  # type: ignore[attr-defined]
