"""Lines that are a product and a list of numbers: what each number is, and what may as well be a measurement."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kopt_kb.wiki.lint.judge import TextFinding

Found = Callable[..., list[TextFinding]]


@pytest.mark.parametrize("name", ["a.md", "a.txt"])
@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("MI300X: 163.4 TFLOPS FP64, 304 CUs, 5.3 TB/s", 3),
        ("H100 SXM: 989 TFLOPS bf16, 132 SMs, 3.35 TB/s, 900 GB/s NVLink", 4),
        ("A100 312 TFLOPS BF16", 1),
        ("A100 80GB: 2039 GB/s, 19.5 TFLOPS FP64", 2),
        ("L40S — 864 GB/s, 48 GB, 350 W", 3),
        ("- **H100 SXM**: 50 MB L2, 228 KB shared memory per SM, 132 SMs", 3),
        ("MI300X: 2614.9 TFLOPS FP8, 5229.8 TFLOPS FP8 sparse, 304 CUs", 3),
        ("The H100 SXM has 50 MB of L2, 228 KB of shared memory per SM.", 2),
        ("B200: 1.8 TB/s", 1),
    ],
)
def test_each_number_is_held_against_its_row(found: Found, text: str, numbers: int, name: str) -> None:
    """Formats behind the unit, counts, and TB/s without a noun; all of these are right."""
    assert [one.kind for one in found(text, name)] == ["uncited"] * numbers


@pytest.mark.parametrize(
    ("text", "number", "class_"),
    [
        ("H20 has 989 TFLOPS", "989 TFLOPS", "family-rate"),
        ("H200 1979 TFLOPS FP16", "1979 TFLOPS", "sparse-as-dense"),
        ("MI300X: 163.4 TFLOPS FP64, 228 CUs", "228 CUs", "other-product"),
        ("MI300X: 163.4 TFLOPS FP64, 304 CUs, 3.2 TB/s", "3.2 TB/s", "other-product"),
        ("MI325X: 288 GB, 6.0 TB/s, 1000 W; 304 CUs", "288 GB", "other-product"),
        ("H100 SXM: 4 TB/s", "4 TB/s", "other-product"),
    ],
)
def test_a_wrong_number_is_named(found: Found, text: str, number: str, class_: str) -> None:
    """Only the wrong one, with its class."""
    wrong = [one for one in found(text) if one.kind == "contradicts"]
    assert [(one.text, one.class_) for one in wrong] == [(number, class_)]


@pytest.mark.parametrize(
    "text",
    [
        "H100: 650 TFLOPS bf16",
        "H100: 3.0 TB/s",
        "H100 SXM: 620 TFLOPS, 550 W",
        "A100: 12 GB, 1.4 TB/s",
        "H100: 8 x 80 GB, 26.8 TB/s",
        "MI300X: 40 TFLOPS per XCD, 38 CUs per XCD",
        "H100 SXM, warm start: 4.1 TB/s",
        "architecture in question (3 CUs in GCN GPUs and MI100, 2 CUs in",
    ],
)
def test_what_may_be_measured_is_passed_over(found: Found, text: str) -> None:
    """A rate below the peak, a list with other words, parts of it, and what the next line goes on with."""
    assert found(text) == []


def test_a_guess_in_a_list(found: Found) -> None:
    """Each hedged number is named."""
    kinds = [one.kind for one in found("H100 SXM: about 989 TFLOPS bf16, 132 SMs, ~3.35 TB/s")]
    assert kinds == ["hedged", "uncited", "hedged"]
