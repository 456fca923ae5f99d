"""Damaged AMD reports end in values of untouched rows or in an error with exit code 2."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

REPORTS = ("counters.csv", "trace.csv", "results.csv", "report.json", "report.db", "stats.csv", "att.csv")


@pytest.fixture(scope="module")
def originals(tmp_path_factory, amd, amd_fuzz):
    """One invented report of each kind."""
    folder = tmp_path_factory.mktemp("reports")
    rows = [
        amd.counter_row(n, name, float(n), 1000 * n, 1000 * n + 300) for n in range(1, 30) for name in ("A", "SQ_WAVES")
    ]
    dispatches = [(n, "k(int)", 1000 * n, 1000 * n + 100, 4) for n in range(1, 20)]
    amd.write_rocpd(folder / "report.db", [(amd.GUID_A, dispatches, [(1, "SQ_WAVES", [1.0, 2.0])])])
    texts = {
        "counters.csv": amd.counter_table(*rows),
        "trace.csv": "\n".join(
            [amd.TRACE_HEAD, *(amd.trace_row(n, 1000 * n, 1000 * n + 90) for n in range(1, 30)), ""]
        ),
        "results.csv": "Index,KernelName,gpu-id,grd,wgr,SQ_WAVES,DurationNs\n"
        + "".join(f'{n},"k(a, b)",2,512,256,{n},{100 + n}\n' for n in range(30)),
        "report.json": amd.json_document([(n, 3, 1000 * n, 1000 * n + 100) for n in range(1, 20)]),
        "stats.csv": 'Name,Calls,TotalDurationNs,AverageNs,Percentage\n"k",3,300,100,60\n"g",2,200,100,40\n',
        "att.csv": "CodeObj,Vaddr,Instruction,Hitcount,Latency,Stall,Idle,Source\n"
        + "".join(f'1,{n},"s_nop {n}",1,2,3,0,""\n' for n in range(20)),
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    home = tmp_path_factory.mktemp("damaged")
    return {name: amd_fuzz.Original(folder / name, home) for name in REPORTS}


@pytest.mark.parametrize("name", REPORTS)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32))
def test_damage_is_read_around_or_refused(originals, amd_fuzz, name, seed):
    """No traceback, no hang, no vague message, no changed row far from the damage."""
    outcome, faults = amd_fuzz.check(originals[name], seed)
    assert outcome in {"read", "refused"}
    assert faults == []


def test_the_check_finds_a_changed_row(originals):
    """The oracle of this file can fail: three launches that changed far from one touched byte are faults."""
    original = originals["trace.csv"]
    got = dict(original.launches)
    for line in (5, 6, 7):
        got[line] = ("other", "0", 1.0, ())
    late = len(original.data) - 20
    assert len(original.faults(late, late + 1, got)) == 3
    assert original.faults(late, late + 1, dict(original.launches)) == []
