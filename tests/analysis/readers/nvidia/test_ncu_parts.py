"""Cells of a launch."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.analysis.profile import Dim3, RawMetric
from kopt_kb.analysis.readers.common.errors import ReportError
from kopt_kb.analysis.readers.nvidia.ncu_parts import LaunchParts, extents, metric_of, target_of

FILE = Path("page.csv")


def parts():
    return LaunchParts(FILE, 2, "0", "k", ("(64, 1, 1)", "(256, 1, 1)", "10.0"))


@pytest.mark.parametrize("cell", ["", "n/a", "N/A", "nan", "-nan(ind)", "inf"])
def test_a_value_that_was_not_collected_is_absent(cell):
    """n/a is no zero and no text."""
    assert metric_of("gpu__time_duration.sum", cell, "ns", ".", (FILE, 3)) is None


def test_a_word_where_a_number_belongs_is_damage():
    """Settings may be words, durations not."""
    assert metric_of("launch__func_cache_config", "CachePreferNone", "", ".", (FILE, 3)).value == "CachePreferNone"
    with pytest.raises(ReportError, match=r"page.csv:3: .*no number"):
        metric_of("gpu__time_duration.sum", "1x", "ns", ".", (FILE, 3))


def test_one_section_can_t_print_two_values():
    """Another section may, with other precision: the first counts."""
    found = parts()
    found.put("a__b.sum", RawMetric(1.0, ""), "S", 3)
    found.put("a__b.sum", RawMetric(1.5, ""), "T", 4)
    found.put("a__b.sum", RawMetric(1.0, ""), "S", 5)
    assert found.raw["a__b.sum"].value == 1.0
    with pytest.raises(ReportError, match="page.csv:6: a second value"):
        found.put("a__b.sum", RawMetric(2.0, ""), "S", 6)


def test_shape_and_target_are_read_from_their_cells():
    """(64, 1, 1) is a grid, 10.0 is sm_100."""
    launch = parts().launch()
    assert (launch.grid, launch.block, launch.target) == (Dim3(64), Dim3(256), "sm_100")
    assert extents("64") is None
    assert target_of("n/a") == ""
