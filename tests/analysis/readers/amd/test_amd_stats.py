"""Statistics tables."""

from __future__ import annotations

import pytest

from kopt_kb.analysis.profile import ReportSource
from kopt_kb.analysis.readers.amd.amd_stats import is_stats, read_stats
from kopt_kb.analysis.readers.common.errors import ReportError

HEAD = '"Name","Calls","TotalDurationNs","AverageNs","Percentage"'
SOURCE = ReportSource("f", "x", "t", "amd")


def read(tmp_path, *lines):
    path = tmp_path / "x.csv"
    path.write_text("\n".join([*lines, ""]))
    return list(read_stats(path, SOURCE))


def test_totals_are_read_and_the_mean_is_called_one(tmp_path):
    """3 calls of 600 ns: the note says that the median is the mean."""
    (found,) = read(tmp_path, HEAD, '"k",3,600,200,100.0')
    assert (found.launch_count, found.durations.total_s, found.durations.median_s) == (3, 6e-7, 2e-7)
    assert "mean" in found.notes[0]


def test_least_and_most_are_read_where_printed(tmp_path):
    """rocprofv3 prints them."""
    (found,) = read(tmp_path, HEAD + ',"MinNs","MaxNs","StdDev"', '"k",2,600,300,100.0,100,500,1')
    assert (found.durations.min_s, found.durations.max_s) == (1e-7, 5e-7)


@pytest.mark.parametrize("row", ['"k",0,600,1,1', '"k",,600,1,1', '"",1,600,1,1', '"k",1,,1,1'])
def test_a_row_without_name_calls_or_time_is_damaged(tmp_path, row):
    """It names its line."""
    with pytest.raises(ReportError) as caught:
        read(tmp_path, HEAD, row)
    assert caught.value.line == 2


def test_api_calls_are_no_kernels(tmp_path):
    """hip and hsa tables have the same columns."""
    with pytest.raises(ReportError, match="holds no kernel"):
        read(tmp_path, HEAD, '"hipMemcpy",1,600,600,100.0')
    with pytest.raises(ReportError, match="no row"):
        read(tmp_path, HEAD)
    assert not is_stats(["name", "calls"])
