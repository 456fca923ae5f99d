"""Lines into rows: encodings, dialects, noise and damage."""

from __future__ import annotations

import pytest

from kopt_kb.analysis.readers.common.errors import ReportError
from kopt_kb.analysis.readers.nvidia.ncu_rows import Noise, lines_of, rows_of


@pytest.fixture
def write(tmp_path):
    def put(text, encoding="utf-8"):
        file = tmp_path / "page.csv"
        file.write_bytes(text.encode(encoding))
        return file

    return put


def rows(file):
    noise = Noise()
    return list(rows_of(file, noise)), noise


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_encodings_and_line_ends_give_the_same_rows(write, samples, encoding, ending):
    """A redirect by PowerShell reads like a file from Linux."""
    file = write(samples.two_launches().replace("\n", ending), encoding)
    found, _ = rows(file)
    assert [one.cells[0] for one in found] == ["ID", "0", "0", "1", "1"]
    assert found[1].cells[-1] == "1500"


def test_noise_before_and_between_rows_is_skipped_and_told(write, samples):
    """Output of the application is no damage, but nothing is skipped silently."""
    lines = samples.two_launches().splitlines()
    text = "\n".join(["==PROF== Connected", "step 1", *lines[:3], "loss = 0.5", "7, 8", *lines[3:], "==PROF== bye"])
    found, noise = rows(write(text))
    assert [one.line for one in found] == [3, 4, 5, 8, 9]
    assert noise.note == "3 lines that are no rows were skipped, first line 6"


def test_kernel_names_with_commas_and_quotes_stay_whole(write, samples):
    """Quotes inside a cell are doubled."""
    name = 'void f<int, "x">(float *, int)'
    found, _ = rows(write(samples.live(samples.row(0, "S", "a__b.sum", "", "1", kernel=name))))
    assert found[1].cells[4] == name


def test_a_description_may_span_lines(write, samples):
    """Only the columns after the value may."""
    header = samples.quoted((*samples.IDENTITY, *samples.SHAPE, *samples.LONG, *samples.RULE))
    rule = samples.row(0, "SpeedOfLight", "", "", "", rule=("SOLBottleneck", "OPT", "first\nsecond", "", ""))
    found, _ = rows(write(samples.live(rule, header=header)))
    assert found[1].cells[17] == "first\nsecond"


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda text: text.replace('"2.50"', '"2.50'), "a cell has no end"),
        (lambda text: text.replace('"2.50"\n', '"2.50"'), "cells under a header"),
        (lambda text: text.replace('"Kbyte","2.50"', '"Kb\nyte","2.50"'), "a line break inside a cell"),
    ],
)
def test_a_row_that_is_broken_is_an_error_with_its_line(write, samples, damage, words):
    """Nothing is repaired by guessing."""
    with pytest.raises(ReportError, match=words) as caught:
        rows(write(damage(samples.two_launches())))
    assert caught.value.line


def test_a_line_without_end_is_refused(write, monkeypatch):
    """Memory stays bounded on files without line breaks."""
    monkeypatch.setattr("kopt_kb.analysis.readers.nvidia.ncu_rows._MAX_LINE_CHARS", 1000)
    with pytest.raises(ReportError, match="a line is longer"):
        list(lines_of(write("x" * 600_000)))


def test_utf16_that_lost_a_byte_is_refused(tmp_path, samples):
    """Half of the file would read as noise."""
    data = samples.two_launches().encode("utf-16")
    file = tmp_path / "page.csv"
    file.write_bytes(data[:301] + data[302:])
    with pytest.raises(ReportError, match="lost a byte"):
        rows(file)
