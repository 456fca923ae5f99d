"""Plain counter tables line by line: equal to the general way, or left to it."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kopt_kb.analysis.readers.amd.amd_devices import Devices, read_agent_table
from kopt_kb.analysis.readers.amd.rocprofv3_plain import read_plain, read_plain_trace


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_both_ways_give_equal_profiles(tmp_path, amd, tables, data):
    """Any kernels, times and counters, times that are no times."""
    path = tmp_path / "x.csv"
    tables.write_table(path, amd, data.draw(tables.DISPATCHES))
    found = read_plain(path, Devices(), tables.SOURCE)
    assert found is not None
    assert tables.shown(found.profiles()) == tables.by_rows(path)


def test_devices_and_shapes_are_resolved(tmp_path, amd, tables):
    """The agent cell leads to the GPU, work-items to blocks."""
    (tmp_path / "a_agent_info.csv").write_text(amd.AGENTS)
    path = tmp_path / "x.csv"
    path.write_text(amd.counter_table(amd.counter_row(1, "SQ_WAVES", 4.0)))
    collector = read_plain(path, read_agent_table(tmp_path / "a_agent_info.csv"), tables.SOURCE)
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
    ],
)
def test_anything_but_a_plain_table_is_left_to_the_rows(tmp_path, amd, tables, more):
    """Passes, several processes, empty or foreign cells, cut rows and blank lines."""
    rows = [amd.counter_row(number, "A", 1.0, 1000 * number, 1000 * number + 5) for number in (1, 2)]
    rows += [one if isinstance(one, str) else amd.counter_row(*one) for one in more]
    path = tmp_path / "x.csv"
    path.write_text(amd.counter_table(*rows))
    assert read_plain(path, Devices(), tables.SOURCE) is None


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_plain_trace_equals_the_general_way(tmp_path, amd, tables, data):
    """Any kernels and times, also those that are no times."""
    path = tmp_path / "x.csv"
    rows = [
        amd.trace_row(number, 1000 * number, 1000 * number + span, name)
        for number, (name, span, _) in enumerate(data.draw(tables.DISPATCHES), 1)
    ]
    path.write_text(amd.trace_table(*rows))
    found = read_plain_trace(path, Devices(), tables.SOURCE)
    assert found is not None
    assert tables.shown(found.profiles()) == tables.by_rows(path)


@pytest.mark.parametrize("more", [(2, 5, 9), (1, 5, 9), ("", 5, 9), (9, "x", 9), (9, 5, "9.5"), "cut", ""])
def test_anything_but_a_plain_trace_is_left_to_the_rows(tmp_path, amd, tables, more):
    """Ids that don't ascend, foreign or empty cells, a cut row, a blank line."""
    last = more if isinstance(more, str) else amd.trace_row(*more)
    path = tmp_path / "x.csv"
    path.write_text(
        amd.trace_table(amd.trace_row(1, 10, 20), amd.trace_row(2, 20, 30), last + "\n", amd.trace_row(10, 1, 2))
    )
    assert read_plain_trace(path, Devices(), tables.SOURCE) is None
