"""Rooflines as people read them: verdict and times first, one row a product when compared."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.analysis.roofline.reach import RooflineInTime, reach
from kopt_kb.analysis.roofline.roofline import roofline
from kopt_kb.cli.roofline.text import compared, render
from kopt_kb.problem.work import Work, work
from kopt_kb.wiki.registry import Registry


def _timed(root: Path, one: Work, *seconds: float, platform: str = "T10") -> RooflineInTime:
    at = Registry.open(root).platform(platform)
    found = roofline(one, at)
    return RooflineInTime(found, reach(found, at, seconds))


def test_the_verdict_comes_first_and_the_target_that_binds_before_the_other(wiki_root: Path) -> None:
    """Numbers carry prefixes; a time is said with its share and what is left."""
    text = render(_timed(wiki_root, work("rms_norm", "8192x4096", "bf16"), 1e-4))
    lines = text.split("\n")
    assert lines[2] == "Verdict"
    assert "target      memory-bound target >= 1.8 TB/s, 74.57 us  (0.9 x documented dram)" in text
    assert (
        "measured    100 us, 1.342 TB/s: 67.11 % of the documented roof, 32.89 us above it, 1.341× slower than the target"
        in text
    )
    assert text.index("memory-bound target") < text.index("not binding compute-bound target >= 23.04 TFLOPS")
    assert "134.2 MFLOP" in text and "67.12 MB" in text and "134,225,920" not in text


@pytest.mark.parametrize(("seconds", "says"), [(7e-5, "the target is met"), (1e-6, "nothing is faster than that")])
def test_a_time_at_the_target_and_one_above_the_roof(wiki_root: Path, seconds: float, says: str) -> None:
    """Both are said."""
    assert says in render(_timed(wiki_root, work("rms_norm", "8192x4096", "bf16"), seconds))


def test_an_unknown_roof(wiki_root: Path) -> None:
    """A rate and no share."""
    text = render(_timed(wiki_root, work("gemm", "64x64x64", "bf16"), 1e-6))
    assert "the roof of the target is UNKNOWN" in text and "least time" not in text


def test_one_row_a_product(wiki_root: Path) -> None:
    """Columns have a legend; your times stand in the row; several times are several rows."""
    one = work("rms_norm", "8192x4096", "bf16")
    text = compared([_timed(wiki_root, one, 1e-4, 8e-5), _timed(wiki_root, one, platform="T10_PRO")])
    rows = [line.split() for line in text.split("\n")[2:6]]
    assert [row[0] for row in rows] == ["product", "T10", "T10", "T10_PRO"]
    assert rows[3][-3:] == ["-", "-", "-"]
    for column in ("documented", "measured", "reachable", "basis", "yours", "of roof", "slower"):
        assert text.count(column) > 1, column
    assert text.count("memory_bandwidth: 2.0 TB/s") == 2


def test_tiny_work_is_judged_by_no_target(wiki_root: Path) -> None:
    """What is shorter than a launch: share of the roof, floor, and no word of met or slower."""
    text = render(_timed(wiki_root, work("rms_norm", "128x128", "bf16"), 2e-6))
    assert "no target to judge by" in text and "slower than the target" not in text and "floor " in text
    assert "slower" not in compared([_timed(wiki_root, work("rms_norm", "128x128", "bf16"), 2e-6)]).split("\n")[3]
