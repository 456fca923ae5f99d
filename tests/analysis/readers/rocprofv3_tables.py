"""Counter tables of rocprofv3 read the general way, row by row: what faster readers have to equal."""

from __future__ import annotations

import json

from hypothesis import strategies as st

from kopt_kb.analysis.profile import ReportSource
from kopt_kb.analysis.readers.amd.amd_collect import AmdCollector
from kopt_kb.analysis.readers.amd.amd_devices import Devices
from kopt_kb.analysis.readers.amd.amd_store import DispatchStore
from kopt_kb.analysis.readers.amd.rocprofv3_rows import TableReader

SOURCE = ReportSource("f", "rocprofv3-csv", "rocprofv3", "amd")
NAMES = st.sampled_from(["k", "void f<int, 4>(int*)", "naïve"])
DISPATCHES = st.lists(
    st.tuples(NAMES, st.integers(-5, 5000), st.sets(st.sampled_from(["A", "SQ_WAVES", "TCC_HIT_sum"]), min_size=1)),
    min_size=1,
    max_size=25,
)
"""Dispatches as (kernel, time span that may be none, counters)."""


def rounded(value):
    """Return JSON with numbers to 12 digits: sums of floats may differ in the last bit."""
    if isinstance(value, float):
        return float(f"{value:.12g}")
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    return [rounded(one) for one in value] if isinstance(value, list) else value


def shown(profiles):
    """Return what is compared of profiles: their JSON and each launch's raw counters."""
    return [
        (rounded(json.loads(json.dumps(one.to_json()))), [launch.raw for launch in one.launches]) for one in profiles
    ]


def by_rows(path):
    """Return what the general reader makes of a table, as `shown` shows it."""
    collector = AmdCollector(ReportSource(str(path), "rocprofv3-csv", "rocprofv3", "amd"))
    store = DispatchStore(collector)
    TableReader(path, Devices(), store).read(quick=False)
    store.flush()
    return [(dict(one, file="f"), raw) for one, raw in shown(collector.profiles())]


def write_table(path, amd, dispatches):
    """Write a counter table of these dispatches, a row a counter."""
    rows = [
        amd.counter_row(number, counter, f"{number * 1.25}", 1000 * number, 1000 * number + span, name)
        for number, (name, span, counters) in enumerate(dispatches, 1)
        for counter in sorted(counters)
    ]
    path.write_text(amd.counter_table(*rows))
