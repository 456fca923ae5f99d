"""The table for people."""

from __future__ import annotations

from kopt_kb.analysis.profile import DurationStats, KernelProfile, Place, Source, render_profiles


def profile(name="copy", notes=(), durations=None, **metrics):
    source, place = Source("a.csv", "ncu-csv", "ncu", "nvidia"), Place("a.csv", "line 2")
    return KernelProfile(name, name, source, place, 3, metrics, durations, notes=notes)


def test_what_was_not_collected_prints_as_a_dash():
    """A zero and an absent value look different."""
    header, row = render_profiles([profile(sm_sol_pct=0.0)]).splitlines()
    assert row.split()[:5] == ["copy", "3", "-", "-", "0.0"]
    assert header.split()[0] == "kernel"


def test_times_and_rates_get_a_fitting_prefix():
    """52.6 µs and 1.37 TB/s are what a person reads."""
    stats = DurationStats(3, 1.5786e-4, 5.262e-5, 5e-5, 6e-5)
    row = render_profiles([profile(durations=stats, dram_bytes_per_s=1.3683e12)]).splitlines()[1]
    assert "52.62 µs" in row
    assert "1.368 TB/s" in row


def test_a_long_name_is_cut_and_printed_whole_below():
    """Columns stay readable and nothing is lost."""
    name = "k" * 60
    text = render_profiles([profile(name)])
    assert "…" in text.splitlines()[1]
    assert f"  {name}" in text.splitlines()


def test_notes_stand_under_the_table_once():
    """Two kernels of a file share its note."""
    text = render_profiles([profile(notes=("cut",)), profile("b", notes=("cut",))])
    assert text.count("note: a.csv: cut") == 1


def test_columns_line_up():
    """Every line of the table has the same column for the class."""
    lines = render_profiles([profile(sm_sol_pct=5.0), profile("longer_name", sm_sol_pct=55.5)]).splitlines()
    assert lines[1].index("5.0") - lines[2].index("55.5") == 1
