"""The records of a launch."""

from __future__ import annotations

from kopt_kb.analysis.profile import Dim3, ProfiledLaunch, ReportPlace, ReportSource


def test_extents_multiply():
    """A grid of 3 by 4 has 12 blocks."""
    assert Dim3(3, 4).size == 12


def test_a_place_reads_as_file_and_position():
    """Provenance is one short text."""
    assert str(ReportPlace("run.csv", "line 7")) == "run.csv, line 7"


def test_a_launch_without_time_has_none():
    """A missing time is absent, not zero."""
    launch = ProfiledLaunch("0", "k", ReportPlace("f", "line 1"))
    assert launch.duration_s is None
    assert launch.to_json()["duration_s"] is None


def test_a_source_says_an_unknown_version_as_null():
    """The tool's version is only there when the report says it."""
    assert ReportSource("f", "ncu-rep", "ncu", "nvidia").to_json()["tool_version"] is None
