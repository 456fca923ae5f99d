"""A target is an exact share of a cited roof; one in words becomes that, or is refused with both numbers."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from kopt_kb.analysis.roofline.roofline import roofline
from kopt_kb.analysis.roofline.targets import PerformanceTarget, TargetAboveRoofError, parse_performance_target
from kopt_kb.base.errors import BadInput
from kopt_kb.problem.work import Work, work
from kopt_kb.wiki.registry import Registry


@pytest.mark.parametrize(
    ("text", "number", "unit"),
    [
        ("> 500 TFLOPS", 500, "TFLOPS"),
        (">500TFLOPS", 500, "TFLOPS"),
        (">= 3 TB/s", 3, "TB/s"),
        ("2.5 GB/s", Fraction(5, 2), "GB/s"),
        ("> 60% peak efficiency", 60, "%"),
        ("60 %", 60, "%"),
        (">=  12.5 % of  peak", Fraction(25, 2), "%"),
        ("100%", 100, "%"),
    ],
)
def test_words(text: str, number: Fraction, unit: str) -> None:
    """A rate, or a share of the roof."""
    assert parse_performance_target(text) == PerformanceTarget(" ".join(text.split()), Fraction(number), unit)


@pytest.mark.parametrize("text", ["", "null", "None", "  "])
def test_none(text: str) -> None:
    """Nothing is no target."""
    assert parse_performance_target(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "fast",
        "< 5 TFLOPS",
        "500",
        "-5 TFLOPS",
        "0 TFLOPS",
        "0%",
        "101%",
        "60% of baseline",
        "5 ms",
        "5 TFLOP",
        "5 TFLOPS please",
        "1e3 TFLOPS",
        "3" * 5000 + " TFLOPS",
        "0." + "3" * 5000 + "%",
        "٣ TFLOPS",
    ],
)
def test_what_is_no_target(text: str) -> None:
    """With how to write one."""
    with pytest.raises(BadInput, match="performance target|share of a peak|rate of operations") as caught:
        parse_performance_target(text, "project.toml:9")
    assert caught.value.where == "project.toml:9" and "TFLOPS" in caught.value.fix


def one(root: Path, shape: str, text: str):
    """The roofline of a product on the invented part with this target."""
    target = parse_performance_target(text)
    assert target is not None
    return roofline(work("gemm", shape, "fp16"), Registry.open(root).platform("T10"), aim=target)


def test_a_rate_on_a_compute_bound_shape(wiki_root: Path) -> None:
    """64 of 102.4 TFLOPS: the share is 5/8, and everything it rests on is cited."""
    found = one(wiki_root, "4096x4096x4096", "> 64 TFLOPS").target
    assert (found.factor, found.basis, str(found.value)) == (Fraction(5, 8), "documented", "64 TFLOPS")
    assert [cited.key.partition("[")[0] for cited in found.value.citations()] == ["peak_compute"]


def test_a_rate_on_a_memory_bound_shape_is_the_same_time(wiki_root: Path) -> None:
    """The bandwidth at which its operations come at that rate, as a share of the documented bandwidth."""
    made = one(wiki_root, "64x64x64", "> 20 TFLOPS")
    found = made.target
    flops, moved = 2 * 64**3, 3 * 64 * 64 * 2
    assert made.bound == "memory" and found.metric == "bandwidth"
    assert found.value.si == Fraction(20 * 10**12 * moved, flops)
    assert found.factor == found.value.si / (2 * 10**12)


def test_a_rate_of_work_on_two_engines_is_one_of_the_engine_that_does_most() -> None:
    """Attention at 500 TFLOPS of matrix operations: its softmax is no reason to refuse it as above the vector roof."""
    target = parse_performance_target("> 500 TFLOPS")
    attention = work("attention", "4x32x4096x128", "bf16")
    found = roofline(attention, Registry.open().platform("H100_SXM"), aim=target)
    assert (found.target.name, str(found.target.value)) == ("bf16 matrix", "500 TFLOPS")
    times = {one.name: attention.amount_under(one.name) / one.value.si for one in found.targets}
    assert len(set(times.values())) == 1


def test_a_bandwidth_on_both(wiki_root: Path) -> None:
    """Bytes a second where memory limits."""
    found = one(wiki_root, "64x64x64", ">= 1.5 TB/s").target
    assert (found.factor, str(found.value)) == (Fraction(3, 4), "1.5 TB/s")


@pytest.mark.parametrize(("shape", "value"), [("4096x4096x4096", "61.44 TFLOPS"), ("64x64x64", "1.2 TB/s")])
def test_a_share_of_the_peak(wiki_root: Path, shape: str, value: str) -> None:
    """Of the roof that limits each shape."""
    assert str(one(wiki_root, shape, "> 60% peak efficiency").target.value) == value


@pytest.mark.parametrize(
    ("shape", "text", "words"),
    [
        ("4096x4096x4096", "> 500 TFLOPS", ["500 TFLOPS is above the 102.4 TFLOPS", "fp16 matrix roof", "t10.md:L"]),
        ("64x64x64", "> 50 TFLOPS", ["above the 42.6667 TFLOPS", "dram roof of 2.0 TB/s", "64x64x64"]),
        ("64x64x64", "> 3 TB/s", ["above the 2 TB/s"]),
    ],
)
def test_above_a_roof_is_refused(wiki_root: Path, shape: str, text: str, words: list[str]) -> None:
    """With both numbers and the row."""
    with pytest.raises(TargetAboveRoofError) as caught:
        one(wiki_root, shape, text)
    for word in words:
        assert word in str(caught.value)


def test_an_unknown_roof_stays_unknown(wiki_root: Path) -> None:
    """Nobody says the bf16 peak of this part; no target is made up."""
    target = parse_performance_target("60%")
    assert target is not None
    found = roofline(work("gemm", "4096x4096x4096", "bf16"), Registry.open(wiki_root).platform("T10"), aim=target)
    assert found.unknown() is not None


def test_the_whole_roof_may_be_asked_for(wiki_root: Path) -> None:
    """100 % and the roof's own rate are shares of 1; nothing above is."""
    for text in ("100%", "102.4 TFLOPS"):
        found = one(wiki_root, "4096x4096x4096", text).target
        assert (found.factor, found.value.si) == (1, 102_400_000_000_000)
    with pytest.raises(TargetAboveRoofError):
        one(wiki_root, "4096x4096x4096", "102.401 TFLOPS")


def test_a_rate_of_what_a_shape_does_not_do_is_refused(t10_copy: Work, wiki_root: Path) -> None:
    """A copy has no operations a second."""
    aim = parse_performance_target("1 TFLOPS")
    assert aim is not None
    with pytest.raises(BadInput, match="counts no such work"):
        roofline(t10_copy, Registry.open(wiki_root).platform("T10"), aim=aim)


@pytest.fixture
def t10_copy() -> Work:
    """A gigabyte moved, nothing computed."""
    return replace(Work.given(0, 10**9, "fp32", "vector"), shape=(10**9,))
