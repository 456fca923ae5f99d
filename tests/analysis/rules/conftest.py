"""Profiles written by hand, and the recordings of the zoo."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

from kopt_kb.analysis.profile import DurationStats, KernelProfile, ReportPlace, ReportSource
from kopt_kb.analysis.readers.read import read_profiles
from kopt_kb.analysis.rules.derived import DerivedMetrics
from kopt_kb.analysis.rules.thresholds import load_thresholds

ZOO = Path(__file__).resolve().parents[2] / "data" / "zoo"


def profile_of(**metrics: float) -> KernelProfile:
    """A kernel with the given metrics; `__` in a name stands for a dot."""
    found = {name.replace("__", "."): value for name, value in metrics.items()}
    duration_s = found.get("duration_s")
    stats = None if duration_s is None else DurationStats(1, duration_s, duration_s, duration_s, duration_s)
    source = ReportSource("made.csv", "made", "ncu", "nvidia")
    return KernelProfile("k", "k(int)", source, ReportPlace("made.csv", "row 1"), 1, found, stats)


@pytest.fixture
def made() -> Callable[..., DerivedMetrics]:
    """A kernel under the packaged thresholds."""
    return lambda **metrics: DerivedMetrics(profile_of(**metrics), load_thresholds())


@pytest.fixture(scope="session")
def zoo() -> dict[str, KernelProfile]:
    """Profiles of the recordings by bare kernel name."""
    return {one.function: one for part in sorted(ZOO.glob("*.csv")) if part.name != "expected.csv"
            for one in read_profiles(part)}  # fmt: skip


@pytest.fixture(scope="session")
def expected() -> dict[str, tuple[str, str]]:
    """Class and limiter of each recorded kernel."""
    with (ZOO / "expected.csv").open(newline="", encoding="utf-8") as file:
        return {row["kernel"]: (row["class"], row["limiter"]) for row in csv.DictReader(file)}
