"""Rows of rocprofv3 tables: the quick way equals the general way."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kopt_kb.analysis.profile import ReportSource
from kopt_kb.analysis.readers.amd.amd_collect import AmdCollector
from kopt_kb.analysis.readers.amd.amd_devices import Devices
from kopt_kb.analysis.readers.amd.amd_store import DispatchStore
from kopt_kb.analysis.readers.amd.rocprofv3_rows import TableReader
from kopt_kb.analysis.readers.common.errors import ReportError

ROWS = st.lists(
    st.tuples(
        st.integers(1, 4),
        st.sampled_from(["SQ_WAVES", "TCC_HIT_sum", "TCC_HIT[3]"]),
        st.sampled_from(["16.000000", "0.00000000e+00", "nan", ""]),
        st.integers(1000, 1003),
        st.sampled_from(["k", "void f<int, 4>(int*)", "naïve", "f{a,b}"]),
        st.sampled_from([7, 8]),
    ),
    min_size=1,
    max_size=12,
)


def read(path, *, quick):
    collector = AmdCollector(ReportSource("f", "x", "t", "amd"))
    store = DispatchStore(collector, window=3)
    count = TableReader(path, Devices(), store).read(quick=quick)
    store.flush()
    return count, [(one.to_json(), [launch.raw for launch in one.launches]) for one in collector.profiles()]


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ROWS, st.sampled_from(["\n", "\r\n"]))
def test_both_ways_give_equal_profiles(tmp_path, amd, rows, end):
    """Any order, names with commas, several processes and passes, empty values, both line ends."""
    lines = [
        amd.counter_row(number, counter, value, start=start, end=start + 500, name=name, process=process)
        for number, counter, value, start, name, process in rows
    ]
    path = tmp_path / "x.csv"
    path.write_bytes(end.join([amd.COUNTER_HEAD, *lines, ""]).encode())
    assert read(path, quick=True) == read(path, quick=False)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"k(int*, int)"', '"k(int*, int)'),
        (",1024,", ","),
        (",1024,", ",x,"),
        (",16.0,", ",x,"),
        (",16.0,", ",1_6,"),
        (",1000,", ",10-00,"),
        ('"SQ_WAVES"', '"SQ WAVES'),
        ("2,2,", "2,,"),
        (",1500", ""),
    ],
)
def test_a_damaged_row_names_its_line(tmp_path, amd, old, new):
    """Quotes, counts, numbers, times, ids and cut rows, on the quick way."""
    row = amd.counter_row(2, "SQ_WAVES", 16.0)
    path = tmp_path / "x.csv"
    path.write_text(amd.counter_table(amd.counter_row(1, "SQ_WAVES", 16.0), row.replace(old, new, 1)))
    with pytest.raises(ReportError) as caught:
        read(path, quick=True)
    assert (caught.value.file, caught.value.line) == (str(path), 3)


def test_memory_stays_while_the_file_grows(tmp_path, amd):
    """Only a window of dispatches is open; names and configurations are shared."""
    path = tmp_path / "x.csv"
    path.write_text(
        amd.counter_table(*(amd.counter_row(n, "SQ_WAVES", 1.0, 1000 * n, 1000 * n + 9) for n in range(1, 500)))
    )
    collector = AmdCollector(ReportSource("f", "x", "t", "amd"), keep=1)
    store = DispatchStore(collector, window=10)
    TableReader(path, Devices(), store).read()
    assert len(store._open) == 10
    store.flush()
    (found,) = collector.profiles()
    assert (found.launch_count, found.metrics["warps_launched"]) == (499, 1.0)
