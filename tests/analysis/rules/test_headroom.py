"""Rates of a run under sourced roofs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kopt_kb.analysis.profile import KernelProfile
from kopt_kb.analysis.rules.classify import classify
from kopt_kb.analysis.rules.derived import DerivedMetrics
from kopt_kb.analysis.rules.headroom import Headroom, headroom_of
from kopt_kb.analysis.rules.thresholds import load_thresholds
from kopt_kb.problem.work import Work
from kopt_kb.quantity.quantity import Quantity
from kopt_kb.wiki.registry import Platform, Registry
from tests.analysis.rules.conftest import profile_of


def roofs(profile: KernelProfile, platform: Platform | None = None, work: Work | None = None) -> tuple[Headroom, ...]:
    """Headroom of a profile that DRAM limits."""
    return headroom_of(DerivedMetrics(profile, load_thresholds()), "dram", platform, work)


def test_bytes_and_operations_under_their_roofs() -> None:
    """1 TB/s and 1 TFLOP/s over the cited roofs of the product."""
    platform = Registry.open().platform("H200_SXM")
    profile = profile_of(duration_s=1e-3, dram_bytes=1e9, dram_read_bytes=5e8, dram_write_bytes=5e8,
                         flops__vector__fp32=1e9)  # fmt: skip
    found = {one.name: one for one in roofs(profile, platform)}
    assert set(found) == {"dram", "fp32 vector"}
    for one in found.values():
        assert isinstance(one.roof, Quantity)
        assert one.share == pytest.approx(1e12 / float(one.roof.si))
        assert one.roof.citations()


def test_the_clock_of_the_run_is_told(zoo: dict[str, KernelProfile]) -> None:
    """A compute roof holds at its own clock; the note says at which the run was."""
    platform = Registry.open().platform("H200_SXM")
    found = {one.name: one for one in roofs(zoo["fp32_fma"], platform)}
    assert "not scaled" in found["fp32 vector"].notes[0]


def test_above_our_own_measurement_the_documented_peak_is_the_roof(zoo: dict[str, KernelProfile]) -> None:
    """A library product that beats our 4096-cubed measurement is under the sheet's peak, never above 100 %."""
    platform = Registry.open().platform("H200_SXM")
    product = next(one for name, one in zoo.items() if name.startswith("nvjet"))
    found = {one.name: one for one in roofs(product, platform)}["bf16 matrix"]
    assert (found.basis, found.possible) == ("documented", True)
    assert found.share == pytest.approx(0.81, abs=0.01)
    assert "our own measurement" in str(found)


@pytest.mark.parametrize("factor", [1.5, 20.0])
def test_a_share_above_the_roof_is_a_fault_or_says_why(factor: float) -> None:
    """Nothing moves 1.5 times the pins; requests that a memory-side cache answers may."""
    platform = Registry.open().platform("H200_SXM")
    exact = profile_of(duration_s=1.0, dram_bytes=factor * 4.8e12)
    upper = replace(exact, bounds={"dram_bytes": "upper"})
    fault, told = (roofs(one, platform)[0] for one in (exact, upper))
    assert not fault.possible
    assert "impossible" in str(fault)
    assert told.possible
    assert "memory-side cache" in str(told)


def test_without_a_platform_the_counters_own_peak(zoo: dict[str, KernelProfile]) -> None:
    """No roof of the wiki: the share that the profiler counted of the limiting unit, and nothing else."""
    (found,) = classify(zoo["dram_copy16"]).headroom
    assert (found.name, found.basis, found.roof, found.of_limiter) == ("dram", "counters", None, True)
    assert found.share == pytest.approx(0.92, abs=0.05)


@pytest.mark.parametrize(
    ("kernel", "name"),
    [("l2_read4", "l2"), ("shared_exchange", "shared"), ("sfu_sine", "sfu"), ("fp32_fma", "fp32 vector"),
     ("issue_mix", "issue"), ("tensor_fp16", "fp16 matrix"), ("dram_copy16", "dram")],
)  # fmt: skip
def test_the_first_roof_is_that_of_the_limiter(zoo: dict[str, KernelProfile], kernel: str, name: str) -> None:
    """Not DRAM for a kernel that L2, a pipe or the issue slots limit."""
    platform = Registry.open().platform("H200_SXM")
    first = classify(zoo[kernel], platform).headroom[0]
    assert (first.name, first.of_limiter) == (name, True)
    assert 0.3 < first.share <= 1


def test_a_run_without_time_has_none() -> None:
    """Bytes without a time are no rate."""
    assert roofs(profile_of(dram_bytes=1e9), Registry.open().platform("H200_SXM")) == ()


def test_the_work_is_used_instead_of_counters(wiki_root: Path) -> None:
    """2e12 bytes and 3e12 operations in 2 s are 1 TB/s of 2.0 and 1.5 TFLOP/s of 25.6, whatever was counted."""
    platform = Registry.open(wiki_root).platform("T10")
    profile = profile_of(duration_s=2.0, dram_bytes=9e12, flops__matrix__bf16=9e12)
    work = Work.given(3 * 10**12, 2 * 10**12, "fp32", "vector")
    found = {one.name: one for one in roofs(profile, platform, work=work)}
    assert {name: one.achieved_si for name, one in found.items()} == {"dram": 1e12, "fp32 vector": 1.5e12}
    assert found["dram"].notes[0] == "compulsory bytes of the work"
    shown = found["dram"].to_json()
    assert (shown["achieved_si"], shown["roof_si"], shown["possible"]) == (1e12, 2e12, True)
    assert (shown["share"], found["fp32 vector"].share) == (0.5, pytest.approx(1.5 / 25.6))
    assert shown["citations"] == [str(one) for one in found["dram"].roof.citations()]


def test_caches_may_serve_compulsory_bytes_faster_than_the_pins() -> None:
    """12 TB of the work in a second are 2.5 times the roof: possible, since the work counts what a cache keeps."""
    platform = Registry.open().platform("H200_SXM")
    (found,) = roofs(profile_of(duration_s=1.0), platform, work=Work.given(0, 12 * 10**12, "fp32", "vector"))[:1]
    assert (found.name, found.possible) == ("dram", True)
    assert "caches kept what the work counts" in str(found)


def test_roofs_that_are_unknown_or_absent_are_left_out(wiki_root: Path) -> None:
    """bf16 is UNKNOWN on this part and fp8 NONE: only the vector lanes can be compared with."""
    platform = Registry.open(wiki_root).platform("T10")
    profile = profile_of(duration_s=1.0, flops__matrix__bf16=1e12, flops__matrix__fp8=1e12, flops__vector__fp32=1e12)
    assert [one.name for one in roofs(profile, platform)] == ["fp32 vector"]
    assert roofs(profile_of(duration_s=1.0), platform) == ()


def test_a_vendor_s_measurement_may_be_beaten() -> None:
    """AMD's copy on an MI308X is no limit: a faster run is no fault, and the words say what it was compared with."""
    exact = profile_of(duration_s=1.0, dram_bytes=2.5e12)
    (found,) = roofs(exact, Registry.open().platform("MI308X"))
    assert found.possible and found.share == pytest.approx(2.5 / 2.00345)
    assert "vendor's own measurement, which is no limit" in str(found) and "impossible" not in str(found)
