"""Rows become seconds exactly, or one reason with file, row and column."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from kopt_kb.launch.project.file import ProjectFile
from kopt_kb.launch.project.results_csv import CsvProblemError, read_rows, read_shapes
from kopt_kb.problem.problem import Problem

Read = Callable[..., ProjectFile]
HEAD = "label,M,N,K,Check,Forward TFLOPS,Backward TFLOPS"
GOOD = f"{HEAD}\na,64,64,64,PASS,320.5,160.25\nb,128,64,32,PASS,1.25e2,99.75\n"
BACKWARD = ("forward = {", 'backward = { column = "Backward TFLOPS", unit = "TFLOPS" }\nforward = {')
SHAPES = ("64x64x64", "128x64x32")


def problem(step: str = "forward") -> Problem:
    """Two products."""
    return Problem.of("gemm", SHAPES, "fp16", options={"step": step})


def rows(tmp_path: Path, project: ProjectFile, text: str, *, header: list[str] | None = None, combined: bool = False):
    """The rows of a CSV of this text."""
    path = tmp_path / "bench.csv"
    path.write_text(text)
    amounts = problem("forward_backward" if combined else "forward").passes()
    return read_rows(path, project.csv, shapes=SHAPES, amounts=amounts, header=header, combined=combined)


def test_rates_become_times(tmp_path: Path, read: Read) -> None:
    """2*M*N*K operations over the rate; the header is kept; a BOM and blank lines do no harm."""
    found = rows(tmp_path, read(), f"\ufeff{GOOD}\n\n")
    assert found.times_s == {
        "64x64x64": pytest.approx(2 * 64**3 / 320.5e12, rel=1e-15),
        "128x64x32": pytest.approx(2 * 128 * 64 * 32 / 125e12, rel=1e-15),
    }
    assert found.header == tuple(HEAD.split(","))


@pytest.mark.parametrize(("unit", "seconds"), [("s", 12.5), ("ms", 0.0125), ("us", 1.25e-5), ("ns", 1.25e-8)])
def test_times_are_times(tmp_path: Path, read: Read, unit: str, seconds: float) -> None:
    """In every unit."""
    project = read(('unit = "TFLOPS"', f'unit = "{unit}"'))
    found = rows(tmp_path, project, GOOD.replace("320.5", "12.5000"))
    assert found.times_s["64x64x64"] == pytest.approx(seconds, rel=1e-15)


def test_bandwidth_counts_compulsory_bytes(tmp_path: Path, read: Read) -> None:
    """Three matrices of two bytes an element."""
    found = rows(tmp_path, read(('unit = "TFLOPS"', 'unit = "GB/s"')), GOOD)
    assert found.times_s["64x64x64"] == pytest.approx(3 * 64 * 64 * 2 / 320.5e9, rel=1e-15)


def test_a_whole_step_is_both_passes(tmp_path: Path, read: Read) -> None:
    """The time is the one of the combined rate 6 / (2/F + 4/B) over 6*M*N*K operations."""
    project = read(BACKWARD, ('metric = "forward"', 'metric = "combined"'))
    found = rows(tmp_path, project, GOOD, combined=True)
    assert found.times_s["64x64x64"] == pytest.approx(64**3 * (2 / 320.5 + 4 / 160.25) / 1e12, rel=1e-12)
    whole = problem("forward_backward").work((64, 64, 64))
    assert sum(one.useful.value for one in whole.flops) == 6 * 64**3


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("PASS,320.5", "FAIL,320.5", "bench.csv row 2, column Check of 64x64x64 is 'FAIL', not 'PASS'"),
        ("PASS,320.5", "pass,320.5", "is 'pass', not 'PASS'"),
        ("320.5", "ERROR", "row 2, column Forward TFLOPS is 'ERROR', no number above zero"),
        ("320.5", "nan", "is 'nan'"),
        ("320.5", "inf", "is 'inf'"),
        ("320.5", "0.00", "is '0.00'"),
        ("320.5", "-3.25", "is '-3.25'"),
        ("320.5", "1e999", "is '1e999'; exponents go from -30 to 30"),
        ("320.5", "1e-400", "row 2, column Forward TFLOPS is '1e-400'; exponents go from -30 to 30"),
        ("320.5", "1.0e-99999999", "exponents go from"),
        ("320.5", "3" * 5000, "row 2, column Forward TFLOPS has 5000 characters"),
        ("320.5", "٣٢٠.٥", "is '٣٢٠.٥', no number above zero"),
        ("320.5", "3.205e20", "outside 1e-12 s to 1e+06 s"),
        ("320.5", "3.205e-17", "outside 1e-12 s to 1e+06 s"),
        ("b,128,64,32", f"b,{'1' * 5000},64,32", "row 3, column M, N, K is no shape"),
        ("PASS,320.5", f"{'x' * 9999},320.5", "xxx…"),
        ("320.5", "", "is ''"),
        ("320.5", "0x1f4", "is '0x1f4'"),
        ("320.5", "3.2", "steps of 3 %"),
        ("b,128,64,32", "b,64,64,64", "row 3 repeats shape 64x64x64"),
        ("b,128,64,32", "b,128,64,33", "row 3 has shape 128x64x33, which was not asked for"),
        ("b,128,64,32", "b,128,64,x", "row 3, column M, N, K is no shape"),
        ("b,128,64,32,PASS,1.25e2,99.75\n", "", "has no row of 128x64x32"),
        ("160.25", "160.25,7", "row 2 has 8 cells under a header of 7"),
        ("Check", "check", "column Check is not in the header"),
        ("Backward TFLOPS", "label", "column label is there twice"),
        ("label,M", '"label,M', "can't be read"),
    ],
)
def test_everything_else_is_refused(tmp_path: Path, read: Read, old: str, new: str, words: str) -> None:
    """The first thing that is wrong is named with its place."""
    with pytest.raises(CsvProblemError) as caught:
        rows(tmp_path, read(), GOOD.replace(old, new, 1))
    assert words in caught.value.what


def test_two_decimals_of_a_millisecond_are_too_coarse(tmp_path: Path, read: Read) -> None:
    """A step of 10 us is 20 % of a kernel of 50 us: no gain of a few percent could show."""
    project = read(('unit = "TFLOPS"', 'unit = "ms"'))
    with pytest.raises(CsvProblemError, match="steps of 20 % of its value"):
        rows(tmp_path, project, GOOD.replace("320.5", "0.05"))


@pytest.mark.parametrize(
    ("frozen", "words"),
    [
        (f"{HEAD},more", "lacks more"),
        (HEAD.replace(",Backward TFLOPS", ""), "adds Backward TFLOPS"),
        (HEAD.replace("label,M", "M,label"), "orders its columns in another way"),
    ],
)
def test_a_frozen_header_holds(tmp_path: Path, read: Read, frozen: str, words: str) -> None:
    """Columns that are not read may not come, go or move either."""
    with pytest.raises(CsvProblemError, match=words):
        rows(tmp_path, read(), GOOD, header=frozen.split(","))
    assert rows(tmp_path, read(), GOOD, header=HEAD.split(",")).times_s


def test_an_absent_or_huge_file(tmp_path: Path, read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither is read."""
    with pytest.raises(CsvProblemError, match=r"absent.csv was not written"):
        read_shapes(tmp_path / "absent.csv", read().csv)
    monkeypatch.setattr("kopt_kb.launch.project.results_csv.MAX_BYTES", 10)
    with pytest.raises(CsvProblemError, match="larger than"):
        rows(tmp_path, read(), GOOD)


def test_shapes_alone(tmp_path: Path, read: Read) -> None:
    """For `shapes = "all"`; a failing row is no shape to tune; one column may hold the whole shape."""
    path = tmp_path / "bench.csv"
    path.write_text(GOOD)
    assert read_shapes(path, read().csv) == SHAPES
    path.write_text(GOOD.replace("PASS", "FAIL"))
    with pytest.raises(CsvProblemError, match="is 'FAIL'"):
        read_shapes(path, read().csv)
    path.write_text(f"{HEAD}\n")
    with pytest.raises(CsvProblemError, match="no row of any shape"):
        read_shapes(path, read().csv)
    path.write_text("label,shape,Check,Forward TFLOPS\nx,8x8x8,PASS,3.25\n")
    assert read_shapes(path, read(('["M", "N", "K"]', '"shape"')).csv) == ("8x8x8",)


def test_the_step_of_a_printed_number(tmp_path: Path, read: Read) -> None:
    """In percent of the time; of two passes each counts by its share of the time."""
    text = GOOD.replace("320.5,160.25", "200,400")
    assert rows(tmp_path, read(), text).steps_pct == {"64x64x64": 0.5, "128x64x32": pytest.approx(0.8)}
    project = read(BACKWARD, ('metric = "forward"', 'metric = "combined"'))
    found = rows(tmp_path, project, text, combined=True)
    assert found.steps_pct["64x64x64"] == pytest.approx((0.5 * 2 / 200 + 0.25 * 4 / 400) / (2 / 200 + 4 / 400))


def test_a_pipe_or_a_link_is_no_csv(tmp_path: Path, read: Read) -> None:
    """Nothing waits for a writer, and no link is followed."""
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "link.csv").symlink_to("/dev/zero")
    with pytest.raises(CsvProblemError, match=r"pipe.csv is no regular file"):
        read_shapes(tmp_path / "pipe.csv", read().csv)
    with pytest.raises(CsvProblemError, match=r"link.csv is a link"):
        read_shapes(tmp_path / "link.csv", read().csv)
