"""Several kernels in time: the longest first, shares of the whole, UNKNOWN stays unknown."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.analysis.roofline.roofline import roofline
from kopt_kb.analysis.roofline.time_view import time_view
from kopt_kb.problem.work import Work, work
from kopt_kb.wiki.registry import Platform, Registry


@pytest.fixture
def t10(wiki_root: Path) -> Platform:
    """25.6 TFLOPS fp32 vector, 2.0 TB/s."""
    return Registry.open(wiki_root).platform("T10")


def test_least_times_and_shares(t10: Platform) -> None:
    """2 GB take 1 ms; 51.2 GFLOP on 2 GB take 2 ms by compute: 1 of 3 and 2 of 3."""
    kernels = {
        "moves": roofline(Work.given(10**9, 2 * 10**9, "fp32", "vector"), t10),
        "computes": roofline(Work.given(51_200_000_000, 2 * 10**9, "fp32", "vector"), t10),
    }
    first, second = time_view(kernels)
    assert (first.name, first.least_s, first.limiter) == ("computes", pytest.approx(2e-3), "fp32 vector")
    assert second.by_roof_s == {"fp32 vector": pytest.approx(1e9 / 25.6e12), "dram": pytest.approx(1e-3)}
    assert (first.share, second.share) == (pytest.approx(2 / 3), pytest.approx(1 / 3))


def test_measured_times_decide_where_all_are_known(t10: Platform) -> None:
    """Shares follow the clock; head-room is measured less least."""
    one = roofline(Work.given(10**9, 2 * 10**9, "fp32", "vector"), t10)
    first, second = time_view({"a": one, "b": one}, {"a": 3e-3, "b": 1e-3})
    assert (first.name, first.share, first.headroom_s) == ("a", pytest.approx(0.75), pytest.approx(2e-3))
    partly = time_view({"a": one, "b": one}, {"a": 3e-3})
    assert [entry.share for entry in partly] == [pytest.approx(0.5), pytest.approx(0.5)]
    assert second.measured_s == 1e-3


def test_unknown_roofs_have_no_least_time(t10: Platform) -> None:
    """And no share of a whole that is not known."""
    unknown = roofline(work("gemm", (64, 64, 64), "bf16"), t10)
    (only,) = time_view({"g": unknown})
    assert (only.least_s, only.share, only.headroom_s) == (None, None, None)
    assert only.to_json()["by_roof_s"]["bf16 matrix"] is None
