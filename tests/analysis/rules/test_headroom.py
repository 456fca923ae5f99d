"""Rates of a run under sourced roofs."""

from __future__ import annotations

import pytest

from kopt_kb.analysis.profile import KernelProfile
from kopt_kb.analysis.rules import classify
from kopt_kb.analysis.rules.headroom import headroom_of
from kopt_kb.quantity.quantity import Quantity
from kopt_kb.wiki.registry import Registry
from tests.analysis.rules.conftest import profile_of


def test_bytes_and_operations_under_their_roofs() -> None:
    """1 TB/s and 1 TFLOP/s over the cited roofs of the product."""
    platform = Registry.open().platform("H200_SXM")
    profile = profile_of(duration_s=1e-3, dram_bytes=1e9, dram_read_bytes=5e8, dram_write_bytes=5e8,
                         flops__vector__fp32=1e9)  # fmt: skip
    found = {one.name: one for one in headroom_of(profile, platform)}
    assert set(found) == {"dram", "fp32 vector"}
    for one in found.values():
        assert isinstance(one.roof, Quantity)
        assert one.share == pytest.approx(1e12 / float(one.roof.si))
        assert one.roof.citations()


def test_the_clock_of_the_run_is_told(zoo: dict[str, KernelProfile]) -> None:
    """A compute roof holds at its own clock; the note says at which the run was."""
    platform = Registry.open().platform("H200_SXM")
    found = {one.name: one for one in headroom_of(zoo["fp32_fma"], platform)}
    assert "not scaled" in found["fp32 vector"].notes[0]


def test_no_platform_no_headroom(zoo: dict[str, KernelProfile]) -> None:
    """Run peaks of the profiler are never used as roofs."""
    assert classify(zoo["dram_copy16"]).headroom == ()


def test_a_run_without_time_has_none() -> None:
    """Bytes without a time are no rate."""
    assert headroom_of(profile_of(dram_bytes=1e9), Registry.open().platform("H200_SXM")) == ()
