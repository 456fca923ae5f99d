"""The raw page."""

from __future__ import annotations

import pytest

from kopt_kb.analysis.readers import ReportError, read_profiles

METRICS = ("gpu__time_duration.sum", "dram__bytes_read.sum", "device__attribute_display_name", "flop_count_hp.sum")
UNITS = ("us", "Mbyte", "", "")


@pytest.fixture
def read(tmp_path):
    def run(text):
        file = tmp_path / "raw.csv"
        file.write_text(text)
        return list(read_profiles(file))

    return run


def page(samples, *rows, units=UNITS):
    return samples.raw(rows, METRICS, units)


def test_units_stand_in_the_second_row(read, samples):
    """49.952 us and 1.5 Mbyte are seconds and bytes inside; n/a is absent."""
    (profile,) = read(page(samples, samples.raw_row(0, "49.952000", "1.500000", "NVIDIA B200", "n/a")))
    assert profile.source.format == "ncu-csv-raw"
    assert profile.duration_s == 49.952e-6
    assert profile.get("dram_read_bytes") == 1.5e6
    assert profile.device == "NVIDIA B200"
    assert set(profile.launches[0].raw) == set(METRICS[:3])


def test_two_grids_are_two_profiles(read, samples):
    """A row is a launch."""
    rows = [samples.raw_row(i, f"{i + 1}.5", "1.5", "B200", "", grid=64 * (i + 1)) for i in range(2)]
    assert [one.grid.x for one in read(page(samples, *rows))] == [64, 128]


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda text: text.replace('"","","","","","","","","","","","us"', '"9","","","","","","","","","","","us"'),
         "row of units is missing"),
        (lambda text: text.replace(',"n/a"', ""), "cells under a header"),
        (lambda text: text + text.splitlines()[-1] + "\n", "a second row of launch 0"),
        (lambda text: text.replace('"us"', '"byte"'), "'s' is expected"),
        (lambda text: text.replace("49.952000", "49.9520O0"), "no number"),
    ],
)  # fmt: skip
def test_a_damaged_page_is_an_error_with_its_line(read, samples, damage, words):
    """Rows are compared with the header cell by cell."""
    text = page(samples, samples.raw_row(0, "49.952000", "1.500000", "NVIDIA B200", "n/a"))
    with pytest.raises(ReportError, match=words) as caught:
        read(damage(text))
    assert caught.value.line
