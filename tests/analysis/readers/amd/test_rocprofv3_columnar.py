"""Counter tables by columns: equal to row by row, or left to it."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kopt_kb.analysis.readers import ReportError, read_profiles
from kopt_kb.analysis.readers.amd import rocprofv3_columnar, rocprofv3_csv
from kopt_kb.analysis.readers.amd.amd_devices import Devices, read_agent_table
from kopt_kb.analysis.readers.amd.rocprofv3_columnar import columnar_is_there, read_columnar

pytest.importorskip("pyarrow")


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data(), st.sampled_from([200, 1 << 22]))
def test_both_ways_give_equal_profiles(tmp_path, monkeypatch, amd, tables, data, block):
    """Any kernels, times and counters, dispatches over block borders, times that are no times."""
    monkeypatch.setattr(rocprofv3_columnar, "_BLOCK_BYTES", block + 2000)
    path = tmp_path / "x.csv"
    tables.write_table(path, amd, data.draw(tables.DISPATCHES))
    found = read_columnar(path, Devices(), tables.SOURCE)
    assert found is not None
    assert tables.shown(found.profiles()) == tables.by_rows(path)


def test_devices_and_shapes_are_resolved(tmp_path, amd, tables):
    """The agent cell leads to the GPU, work-items to blocks."""
    (tmp_path / "a_agent_info.csv").write_text(amd.AGENTS)
    path = tmp_path / "x.csv"
    path.write_text(amd.counter_table(amd.counter_row(1, "SQ_WAVES", 4.0)))
    collector = read_columnar(path, read_agent_table(tmp_path / "a_agent_info.csv"), tables.SOURCE)
    (found,) = collector.profiles()
    assert (found.target, found.metrics["grid_blocks"], found.metrics["shared_block_bytes"]) == ("gfx942", 4, 512)


@pytest.mark.parametrize(
    "more",
    [
        [(1, "A", 1.0, 1000, 1005)],
        [(2, "A", 1.0, 2000, 2005)],
        [(9, "A", 1.0, 1, 2, "k", 8)],
        [(9, "A", "nan")],
        [(9, "A", "")],
        [("", "A", 1.0)],
        [(9, "A", 1.0, 5, 9), (9, "B", 1.0, 7, 9)],
        ["1,2,3"],
        ["", (9, "A", 1.0)],
    ],
)
def test_anything_but_a_plain_table_is_left_to_the_rows(tmp_path, amd, tables, more):
    """Passes, several processes, empty or foreign cells, cut rows and blank lines."""
    rows = [amd.counter_row(number, "A", 1.0, 1000 * number, 1000 * number + 5) for number in (1, 2)]
    rows += [one if isinstance(one, str) else amd.counter_row(*one) for one in more]
    path = tmp_path / "x.csv"
    path.write_text(amd.counter_table(*rows))
    assert read_columnar(path, Devices(), tables.SOURCE) is None


def test_a_large_damaged_table_names_its_line(tmp_path, monkeypatch, amd):
    """The row by row reader tells what is wrong."""
    monkeypatch.setattr(rocprofv3_csv, "_LARGE_BYTES", 1)
    path = tmp_path / "x.csv"
    path.write_text(amd.counter_table(amd.counter_row(1, "A", 1.0), amd.counter_row(2, "A", "x")))
    with pytest.raises(ReportError) as caught:
        list(read_profiles(path))
    assert caught.value.line == 3
    path.write_text(amd.counter_table(amd.counter_row(1, "A", 1.0)))
    assert columnar_is_there()
    assert next(read_profiles(path)).launch_count == 1
