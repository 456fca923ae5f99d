"""The shortest time a target may ask for: a launch on the product itself, else the step of the clock."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from kopt_kb.analysis.roofline.roofline import roofline
from kopt_kb.analysis.roofline.shortest import empty_launch, shortest_time, target_s
from kopt_kb.problem.work import Work
from kopt_kb.wiki.registry import Registry


def _launches(root: Path, page: Path, *rows: tuple[str, str]) -> Registry:
    text = "".join(
        f'| measured_launch | {us} | us | by={way} | secondary | [^blog] launches quote="{us} us" | method: median |\n'
        for way, us in rows
    )
    page.write_text(page.read_text().replace("| memory_type |", f"{text}| memory_type |"))
    return Registry.open(root)


def test_a_launch_by_events_comes_before_one_in_a_graph(wiki_root: Path, product: Path) -> None:
    """3 us by events, 0.8 us in a graph; the host's 20 us bound nothing."""
    platform = _launches(wiki_root, product, ("host", "20"), ("graph", "0.8"), ("events", "3")).platform("T10")
    found = shortest_time(platform)
    assert (found.seconds, found.is_launch) == (Fraction(3, 10**6), True)
    assert found.what.startswith("the launch of an empty kernel, 3 us on T10 (hardware/nvidia/t10.md:L")


def test_a_launch_in_a_graph_is_no_launch_by_events(wiki_root: Path, product: Path) -> None:
    """It bounds a target, and is no part of a time by events."""
    platform = _launches(wiki_root, product, ("graph", "0.8")).platform("T10")
    assert shortest_time(platform).seconds == Fraction(8, 10**7)
    assert empty_launch(platform) is None


@pytest.mark.core
def test_a_sister_without_a_row_has_the_step_of_the_clock(wiki_root: Path, product: Path) -> None:
    """The launch of T10 says nothing of T10_PRO."""
    found = shortest_time(_launches(wiki_root, product, ("events", "3")).platform("T10_PRO"))
    assert (found.seconds, found.is_launch) == (Fraction(1, 2 * 10**6), False)
    assert "nobody measured a launch on T10_PRO" in found.what


def test_the_time_at_the_target(wiki_root: Path) -> None:
    """2e9 bytes at 0.9 of 2 TB/s; None where the roof is UNKNOWN."""
    platform = Registry.open(wiki_root).platform("T10")
    assert target_s(roofline(Work.given(1, 2 * 10**9, "fp32", "vector"), platform)) == Fraction(1, 900)
    assert target_s(roofline(Work.given(10**9, 10**9, "bf16", "matrix"), platform)) is None
