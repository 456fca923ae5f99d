"""The roofline of known work on a known part, by hand, and its refusals."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kopt_kb.analysis.roofline.roofline import GradeRefused, roofline
from kopt_kb.base.errors import BadInput
from kopt_kb.problem.counts import Count, FlopCount
from kopt_kb.problem.work import Work, work
from kopt_kb.quantity.quantity import Quantity, Unknown
from kopt_kb.wiki.registry import Platform, Registry


@pytest.fixture
def t10(wiki_root: Path) -> Platform:
    """100 SMs: 102.4 TFLOPS fp16 matrix, 25.6 TFLOPS fp32 vector, 2.0 TB/s."""
    return Registry.open(wiki_root).platform("T10")


@pytest.mark.core
def test_memory_bound_work(t10: Platform) -> None:
    """1e9 fp32 operations on 1e9 bytes: 1 FLOP/B under a ridge of 25.6 / 2 = 12.8; 2 TFLOPS attainable; 1.8 TB/s."""
    found = roofline(Work.given(10**9, 10**9, "fp32", "vector"), t10)
    assert (found.bound, found.limiter) == ("memory", "dram")
    assert found.intensity.si == 1
    assert isinstance(found.ridge, Quantity) and found.ridge.si == Fraction(128, 10)
    attainable = found.attainable["documented"]
    assert isinstance(attainable, Quantity) and attainable.si == 2 * 10**12
    assert found.target.line() == "memory-bound target >= 1.8 TB/s"


@pytest.mark.core
def test_compute_bound_work(t10: Platform) -> None:
    """A 4096^3 fp16 GEMM: 2*4096^3 / (3*4096^2*2) = 1365.3 FLOP/B over 51.2: 0.9 x 102.4 = 92.16 TFLOPS."""
    found = roofline(work("gemm", (4096, 4096, 4096), "fp16"), t10)
    assert (found.bound, found.limiter) == ("compute", "fp16 matrix")
    assert found.intensity.si == Fraction(4096, 3)
    assert found.target.line() == "compute-bound target >= 92.16 TFLOPS"
    assert {str(c.location.path) for c in found.citations()} == {"hardware/nvidia/t10.md"}


def test_balanced_within_five_per_cent_of_the_ridge(t10: Platform) -> None:
    """12.8 FLOP/B is the ridge: 12.2 is within 5 %, 12.0 is memory, 13.6 is compute."""
    bounds = [
        roofline(Work.given(int(x * 10**9), 10**9, "fp32", "vector"), t10).bound for x in (12.0, 12.2, 12.8, 13.4, 13.6)
    ]
    assert bounds == ["memory", "balanced", "balanced", "balanced", "compute"]


@pytest.mark.core
def test_unknown_roofs_give_no_target(t10: Platform) -> None:
    """bf16 is UNKNOWN on this part: no bound, no target, the row is named; the other target is still known."""
    found = roofline(work("gemm", (64, 64, 64), "bf16"), t10)
    missing = found.unknown()
    assert found.bound == "unknown"
    assert missing is not None and "T10 peak_compute[dtype=bf16" in missing.needs[0]
    assert isinstance(found.targets[0].value, Unknown)
    assert found.targets[1].line() == "memory-bound target >= 1.8 TB/s"
    assert found.to_json()["target"]["value"] is None


def test_none_is_refused(t10: Platform) -> None:
    """There are no FP8 units: no roof of zero, no fallback."""
    with pytest.raises(BadInput, match="NONE"):
        roofline(work("gemm", (64, 64, 64), "fp8"), t10)


def test_no_bytes_and_no_operations(t10: Platform) -> None:
    """Infinite intensity is refused; pure movement is memory-bound."""
    with pytest.raises(BadInput, match="no bytes"):
        roofline(Work.given(10, 0, "fp32", "vector"), t10)
    assert roofline(Work.given(0, 10, "fp32", "vector"), t10).bound == "memory"


def test_weak_grades_can_be_refused(wiki_root: Path, product: Path) -> None:
    """A secondary roof passes by default and says so; --min-grade vendor refuses it."""
    text = product.read_text()
    product.write_text(
        text.replace("chosen: the sheet", "rejected: the sheet")
        .replace("rejected: a blog", "chosen: a blog")
        .replace("2.2", "2.00")
    )
    platform = Registry.open(wiki_root).platform("T10")
    one = Work.given(10**9, 10**9, "fp32", "vector")
    found = roofline(one, platform)
    assert found.target.line() == "memory-bound target >= 1.8 TB/s"
    assert "dram: rests on a secondary source" in found.notes
    with pytest.raises(GradeRefused):
        roofline(one, platform, min_grade="vendor")


def test_the_note_about_reach_follows_the_target(wiki_root: Path, product: Path) -> None:
    """The best known copy makes 1.7 TB/s: 0.9 of 2.0 TB/s is above it and says so, 0.8 is not and does not."""
    row = '| measured_bandwidth | 1.7 | TB/s | level=dram; pattern=copy; bytes=1073741824 | secondary | [^blog] t quote="1.7 TB/s" | method: blog |\n'
    product.write_text(product.read_text().replace("| memory_type ", row + "| memory_type "))
    platform = Registry.open(wiki_root).platform("T10")
    one = Work.given(10**9, 10**9, "fp32", "vector")
    said = "dram: the target 1.8 TB/s is above the best known measurement 1.7 TB/s"
    assert any(note.startswith(said) for note in roofline(one, platform).notes)
    lower = roofline(one, platform, aim=Fraction(8, 10))
    assert (lower.target.factor, str(lower.target.value)) == (Fraction(8, 10), "1.6 TB/s")
    assert not any("best known" in note for note in lower.notes)


def test_special_functions_are_no_flops(t10: Platform) -> None:
    """Softmax is judged by the vector roof, its exponentials apart."""
    found = roofline(work("softmax", (128, 1024), "fp16"), t10)
    assert [roof.name for roof in found.compute] == ["fp32 vector"]


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 10**15), st.integers(1, 10**12), st.integers(2, 50))
def test_attainable_grows_with_intensity_up_to_the_roof(flops: int, moved: int, factor: int) -> None:
    """More operations on the same bytes never attain less, and never more than the documented peak."""
    platform = Registry.open().platform("A100_SXM_80GB")
    low, high = (roofline(Work.given(n, moved, "fp16", "matrix"), platform) for n in (flops, flops * factor))
    one, two = low.attainable["documented"], high.attainable["documented"]
    assert isinstance(one, Quantity) and isinstance(two, Quantity)
    roof = low.compute[0].documented
    assert isinstance(roof, Quantity)
    assert one.si <= two.si <= roof.si


def test_json_has_the_contract(t10: Platform) -> None:
    """Field names of the design."""
    body = roofline(Work.given(10**9, 10**9, "fp32", "vector"), t10).to_json()
    assert {"platform", "work", "intensity", "ridge", "bound", "attainable", "target", "citations"} <= set(body)
    assert {"metric", "value", "unit", "basis", "factor"} <= set(body["target"])
    assert (body["target"]["value"], body["target"]["unit"], body["target"]["factor"]) == (1.8, "TB/s", 0.9)


def test_work_of_bounds_says_so(t10: Platform) -> None:
    """An upper bound of the bytes makes an upper bound of the time; the notes say which."""
    one = Work.given(10**9, 10**9, "fp32", "vector", exactness="upper")
    assert "the counts of the work are bounds: upper" in roofline(one, t10).notes


def test_grades_that_may_be_asked_for(t10: Platform) -> None:
    """secondary refuses nothing; a word that is no grade is refused with those that are."""
    one = Work.given(10**9, 10**9, "fp32", "vector")
    assert roofline(one, t10, min_grade="secondary").target == roofline(one, t10).target
    assert roofline(one, t10, min_grade="vendor").bound == "memory"
    with pytest.raises(BadInput, match="unknown grade 'best'"):
        roofline(one, t10, min_grade="best")


def test_work_without_operations_or_bytes_has_nothing_to_attain(t10: Platform) -> None:
    """Bytes alone are limited by memory; zero of both is refused."""
    found = roofline(Work.given(0, 10, "fp32", "vector"), t10)
    assert (found.bound, found.limiter) == ("memory", "dram")
    with pytest.raises(BadInput):
        roofline(Work.given(0, 0, "fp32", "vector"), t10)


@pytest.mark.parametrize(
    ("intensity", "bound"),
    [("12.159", "memory"), ("12.161", "balanced"), ("13.439", "balanced"), ("13.441", "compute")],
)
def test_the_band_is_5_per_cent_of_the_memory_time(t10: Platform, intensity: str, bound: str) -> None:
    """The ridge is 12.8 FLOP/B, so 12.16 and 13.44 are its borders."""
    flops = int(Fraction(intensity) * 10**9)
    assert roofline(Work.given(flops, 10**9, "fp32", "vector"), t10).bound == bound


@pytest.mark.core
@pytest.mark.parametrize(("vector", "ridge", "limiter"), [(512, "12.8", "fp32 vector"), (128, "51.2", "fp16 matrix")])
def test_the_ridge_is_that_of_the_engine_that_takes_longest(
    t10: Platform, vector: int, ridge: str, limiter: str
) -> None:
    """1024 Gop at 102.4 TFLOPS take 10 ms; 512 Gop at 25.6 take 20 ms, 128 Gop 5 ms; both share 2.0 TB/s."""
    flops = (FlopCount("fp16", "matrix", Count(1024 * 10**9)), FlopCount("fp32", "vector", Count(vector * 10**9)))
    found = roofline(replace(Work.given(0, 10**9, "fp32", "vector"), flops=flops), t10)
    assert isinstance(found.ridge, Quantity)
    assert (found.ridge.si, found.limiter, found.bound) == (Fraction(ridge), limiter, "compute")
