"""ncu's console text."""

from __future__ import annotations

import pytest

from kopt_kb.analysis.profile import Dim3, stored_sol_class
from kopt_kb.analysis.readers import ReportError, read_profiles

HEADING = "  {} (64, 1, 1)x(256, 1, 1), Context 1, Stream 7, Device 0, CC 8.0"
BORDER = "    ----------------------- ------------- ------------"
TABLE = [
    "    Section: GPU Speed Of Light Throughput",
    BORDER,
    "    Metric Name               Metric Unit Metric Value",
    BORDER,
    "    Memory Throughput                   %        34.72",
    "    Duration                      usecond        10.85",
    "    Compute (SM) Throughput             %        10.24",
    "    Grid Size                                       64",
    BORDER,
    "    OPT   This kernel grid is too small to fill the available resources on this device.",
]
NOISE = ["==PROF== Connected to process 5", "epoch 1"]


@pytest.fixture
def read(tmp_path):
    def run(lines):
        file = tmp_path / "log.txt"
        file.write_text("\n".join(lines) + "\n")
        return list(read_profiles(file))

    return run


def test_tables_are_read_by_their_borders(read):
    """Labels become metrics, units become base units, the verdict is kept."""
    copy, scale = read([*NOISE, HEADING.format("copy"), *TABLE, HEADING.format("void scale<int, 2>(int)"), *TABLE])
    assert (copy.name, copy.grid, copy.target) == ("copy", Dim3(64), "sm_80")
    assert copy.get("memory_sol_pct") == 34.72
    assert copy.duration_s == pytest.approx(10.85e-6)
    assert stored_sol_class(copy) == "small_grid"
    assert scale.function == "scale"


def test_a_table_without_titles_is_read_too(read):
    """Old versions print no line of titles."""
    old = [TABLE[0], BORDER, *TABLE[4:]]
    (profile,) = read([HEADING.format("copy"), *old])
    assert profile.get("sm_sol_pct") == 10.24


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda lines: [one.replace("copy (64,", "copy (6x,") for one in lines], "damaged heading|no launch"),
        (lambda lines: lines[1:], "a section of no launch"),
        (lambda lines: [*lines[:4], lines[4][:-1], *lines[5:]], "damaged table"),
        (lambda lines: lines[:-3], "damaged table"),
        (lambda lines: [one.replace("10.85", "1O.85") for one in lines], "no number"),
        (lambda lines: [one.replace("10.85", "10.8 5") for one in lines], "no number|damaged table"),
        (lambda lines: [one.replace("34.72", "34,72") for one in lines], "decimal comma"),
    ],
)
def test_damage_is_an_error_with_its_line(read, damage, words):
    """Rows never move into another launch or section."""
    lines = damage([HEADING.format("copy"), *TABLE])
    first = [] if "no launch" in words else [HEADING.format("first"), *TABLE]
    with pytest.raises(ReportError, match=words) as caught:
        read([*NOISE, *first, *lines])
    assert caught.value.line
