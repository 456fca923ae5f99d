"""Details page and live CSV."""

from __future__ import annotations

import pytest

from kopt_kb.analysis.readers import ReportError, read_profiles


@pytest.fixture
def read(tmp_path):
    def run(text):
        file = tmp_path / "page.csv"
        file.write_text(text)
        return list(read_profiles(file))

    return run


def test_launches_of_a_kernel_are_one_profile(read, samples):
    """1.5 us and 2.5 us are a median of 2 us; 2500 and 3500 B are a mean of 3000 B."""
    (profile,) = read(samples.two_launches())
    assert profile.launch_count == 2
    assert profile.duration_s == pytest.approx(2e-6)
    assert profile.get("dram_read_bytes") == 3000.0
    assert [one.place.at for one in profile.launches] == ["line 2", "line 4"]


def test_european_numbers_are_read_by_the_locale_of_the_file(read, samples):
    """65,77 % says that 117.344 ns are a hundred thousand."""
    share = "sm__throughput.avg.pct_of_peak_sustained_elapsed"
    (profile,) = read(
        samples.live(
            samples.row(0, samples.LIVE, "gpu__time_duration.sum", "ns", "117.344"),
            samples.row(0, samples.LIVE, share, "%", "65,77"),
        )
    )
    assert profile.duration_s == pytest.approx(117344e-9)
    assert profile.get("sm_sol_pct") == 65.77


def test_the_dialect_of_2020_is_read(read):
    """No quotes, a kernel time, no shape, a byte order mark."""
    header = "ID,Process ID,Process Name,Host Name,Kernel Name,Kernel Time,Context,Stream,Section Name,Metric Name,"
    row = "0,5,app,h,saxpy,2020-Apr-01 10:00:00,1,7,Command line profiler metrics,{},{},{}\n"
    text = (
        "\ufeff" + header + "Metric Unit,Metric Value\n"
        + row.format("gpu__time_duration.sum", "usecond", "3.2")
        + row.format("flop_count_hp.sum", "", "n/a")
    )  # fmt: skip
    (profile,) = read(text)
    assert (profile.name, profile.grid) == ("saxpy", None)
    assert profile.duration_s == pytest.approx(3.2e-6)
    assert "flop_count_hp.sum" not in profile.launches[0].raw


def test_rules_of_the_details_page_are_kept(read, samples):
    """The stored verdict is known by its words, its estimate by its number."""
    header = samples.quoted((*samples.IDENTITY, *samples.SHAPE, *samples.LONG, *samples.RULE))
    value = samples.row(0, "Occupancy", "Achieved Occupancy", "%", "12.50") + ","
    rule = ("SOLBottleneck", "OPT", "This kernel grid is too small to fill", "global", "56.76")
    (profile,) = read(samples.live(value, samples.row(0, "SpeedOfLight", "", "", "", rule=rule), header=header))
    (found,) = profile.rules
    assert (found.title, found.kind, found.speedup_pct, found.scope) == ("Small Grid", "optimization", 56.76, "global")
    assert profile.get("achieved_occupancy_pct") == 12.5


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda rows: [rows[0], rows[2], rows[1]], "stand apart"),
        (lambda rows: [rows[0].replace("scale", "scala", 1), *rows[1:]], "contradicts launch 0"),
        (lambda rows: [rows[0], rows[1].replace('"77"', '"78"', 1), rows[2]], "contradicts launch 0"),
        (lambda rows: [rows[0].rsplit(",", 1)[0], *rows[1:]], "cut short"),
        (lambda rows: [rows[0].replace("nsecond", "byte"), *rows[1:]], "'s' is expected"),
        (lambda rows: [rows[0].replace("1500", "15OO"), *rows[1:]], "no number"),
        (lambda rows: [rows[0].replace("gpu__time_duration.sum", ""), *rows[1:]], "neither metric nor rule"),
    ],
)
def test_rows_that_contradict_each_other_are_errors_with_a_line(read, samples, damage, words):
    """Damage in one row never moves into another launch."""
    lines = samples.two_launches().splitlines()
    rows = [lines[1], lines[2], lines[3]]
    if "apart" in words:
        rows = [lines[1], lines[2], lines[3]]
    with pytest.raises(ReportError, match=words) as caught:
        read(samples.live(*damage(rows)))
    assert caught.value.line


def test_two_processes_may_count_from_zero(read, samples):
    """A repeated metric under another process starts a launch."""
    name = "gpu__time_duration.sum"
    rows = [samples.row(0, samples.LIVE, name, "ns", value, pid=pid) for pid, value in ((1, "10"), (2, "20"))]
    (profile,) = read(samples.live(*rows))
    assert profile.launch_count == 2


def test_a_header_without_values_is_refused(read, samples):
    """A column that is missing is named."""
    text = samples.two_launches().replace("Metric Unit", "Metric Unlt")
    with pytest.raises(ReportError, match="the header lacks Metric Unit"):
        read(text)


def test_a_table_without_rows_is_refused(read, samples):
    """An empty result is an error."""
    with pytest.raises(ReportError, match="no row"):
        read(samples.live())
