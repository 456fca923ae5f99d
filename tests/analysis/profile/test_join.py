"""Kernels of traces joined with counters."""

from __future__ import annotations

from kopt_kb.analysis.profile import Dim3, KernelProfile, ReportPlace, ReportSource
from kopt_kb.analysis.profile.join import Counterparts, with_counters
from kopt_kb.analysis.profile.kernel_profile import DurationStats


def profile(name, grid=None, block=None, **metrics):
    """Return a kernel of a report."""
    stats = DurationStats(2, 2.0, 1.0, 1.0, 1.0)
    return KernelProfile(name=name, demangled=name, source=ReportSource("f", "x", "t", "nvidia"), place=ReportPlace("f", "1"),
                         launch_count=2, metrics=metrics, durations=stats, grid=grid, block=block)  # fmt: skip


def test_full_names_come_before_functions():
    """Two instances of a template are two kernels."""
    ints, floats = profile("void f<int>(int)", sm_sol_pct=1.0), profile("void f<float>(float)", sm_sol_pct=2.0)
    index = Counterparts.of([ints, floats])
    assert index.find(profile("void f<float>(float)")) is floats
    assert index.find(profile("f")) is None
    assert index.used == {id(floats)}


def test_shapes_decide_between_several():
    """The same grid and block, else the same block, else none."""
    small, large = profile("k", Dim3(8), Dim3(64)), profile("k", Dim3(8), Dim3(128))
    index = Counterparts.of([small, large])
    assert index.find(profile("k", Dim3(8), Dim3(128))) is large
    assert index.find(profile("k", Dim3(9), Dim3(64))) is small
    assert index.find(profile("k", Dim3(9), Dim3(32))) is None
    assert index.find(profile("k")) is None


def test_a_single_kernel_is_found_by_a_trace_without_shapes():
    """As those of proton are."""
    only = profile("at::f<int>(x)", Dim3(8), Dim3(64))
    assert Counterparts.of([only]).find(profile("_ZN2at1fIiEEvx")) is only


def test_times_stay_those_of_the_trace():
    """Counters, rules and the device come from the other report, with a note."""
    joined = with_counters(profile("k", duration_s=1.0), profile("k", duration_s=5.0, sm_sol_pct=90.0))
    assert (joined.get("duration_s"), joined.get("sm_sol_pct"), joined.launch_count) == (1.0, 90.0, 2)
    assert joined.notes == ("counters of f, 1",)
