"""Lines that are a product and a list of numbers: what each number is, and what may as well be a measurement."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kopt_kb.packs.curate.lint.judge import TextFinding

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


def wrongs(found: Found, text: str) -> list[str]:
    """The numbers that contradict."""
    return [one.text for one in found(text) if one.kind == "contradicts"]


def in_table(cell: str, header: str = "Specs", label: str = "MI300X") -> str:
    """A table with one row."""
    return f"| GPU | {header} |\n|---|---|\n| {label} | {cell} |\n"


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        (in_table("163.4 TFLOPS FP64, 304 CUs"), []),
        (in_table("163.4 TFLOPS FP64, 228 CUs"), ["228 CUs"]),
        (in_table("192 GB HBM3, 3.2 TB/s, 750 W"), ["3.2 TB/s"]),
        (in_table("1307 TFLOPS bf16, 5300 TFLOPS fp8"), ["5300 TFLOPS"]),
        (in_table("1307 TFLOPS bf16, 2614 TFLOPS bf16 sparse"), []),
        (in_table("4 TB/s, 5.3 TB/s"), []),
        (in_table("1 MB", "L2 cache"), ["1 MB"]),
        (in_table("1 MB per core", "L2 cache"), []),
        (in_table("600 TFLOPS bf16, 3.2 TB/s"), []),
        (in_table("600 TFLOPS bf16, 228 CUs", "Measured"), []),
        (in_table("600 TFLOPS bf16, 228 CUs", "Launch of our server"), []),
        (in_table("2 warps of 4 TFLOPS bf16, 228 CUs"), []),
        (
            "| | MI300X | H100 SXM |\n|---|---|---|\n| Memory | 192 GB, 5.3 TB/s, 304 CUs | 80 GB, 2.0 TB/s, 132 SMs |",
            ["2.0 TB/s"],
        ),
        (
            "| | MI300X | H100 SXM |\n|---|---|---|\n| Our run | 192 GB, 5.3 TB/s, 304 CUs | 80 GB, 2.0 TB/s, 132 SMs |",
            [],
        ),
    ],
)
def test_a_list_in_one_cell(found: Found, text: str, wrong: list[str]) -> None:
    """Where header, label and cell say nothing but what part it is; a short list may be a measurement."""
    assert wrongs(found, text) == wrong


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("H100 SXM: 132 SMs, 3.35 TB/s; MI300X: 304 CUs, 5.3 TB/s", []),
        ("H100 SXM: 132 SMs, 3.35 TB/s; MI300X: 304 CUs, 3.2 TB/s", ["3.2 TB/s"]),
        ("H100 SXM: 132 SMs, 5.3 TB/s; MI300X: 304 CUs, 5.3 TB/s", ["5.3 TB/s"]),
        ("H100 SXM (132 SMs, 700 W) vs. MI300X (228 CUs, 750 W)", ["228 CUs"]),
        ("H100 SXM 650 TFLOPS bf16, MI300X 600 TFLOPS bf16", []),
        ("H100 SXM 650 TFLOPS bf16, MI300X 2700 TFLOPS bf16", ["2700 TFLOPS"]),
        ("H100 SXM: 132 SMs, 3.35 TB/s; Gaudi 3: 64 SMs, 3.7 TB/s", []),
        ("H100 SXM: 132 SMs, 3.35 TB/s; MI300X: 228 CUs in our partition", []),
        ("Four H100 SXM: 132 SMs, 3.35 TB/s; MI300X: 228 CUs, 5.3 TB/s", []),
    ],
)
def test_several_products_on_one_line(found: Found, text: str, wrong: list[str]) -> None:
    """Each has its own list; with other words on the line none of it is one."""
    assert wrongs(found, text) == wrong


@pytest.mark.parametrize(
    ("titles", "line", "wrong"),
    [
        ("## NVIDIA H100 SXM", "- 989 TFLOPS bf16", []),
        ("## NVIDIA H100 SXM", "- 1979 TFLOPS bf16", ["1979 TFLOPS"]),
        ("## NVIDIA H100 SXM", "- 650 TFLOPS bf16", []),
        ("## NVIDIA H100 SXM\n### Key specifications", "- 114 SMs, 3.35 TB/s", ["114 SMs"]),
        ("## Hopper (H100 SXM)", "- Memory: 96 GB HBM3, 3.35 TB/s", ["96 GB"]),
        ("## Serving Llama on H100 SXM", "- 1979 TFLOPS bf16", []),
        ("## NVIDIA H100 SXM\n### Our server", "- 1979 TFLOPS bf16", []),
        ("## NVIDIA H100 SXM\n### Results", "- 1979 TFLOPS bf16", []),
        ("## H100 SXM and MI300X", "- 5000 TFLOPS bf16", []),
        ("## NVIDIA H100 SXM", "- 1979 TFLOPS bf16 in a batch", []),
    ],
)
def test_rates_below_a_heading(found: Found, titles: str, line: str, wrong: list[str]) -> None:
    """A heading that is a product and nothing else, and so the titles below it."""
    assert wrongs(found, f"{titles}\n\n{line}\n") == wrong
