"""`kb profile read|diff --html`: the numbers of the document, hostile kernel names, limits."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kopt_kb.cli.main import main
from tests.kopt_kb.base.markup.test_elements import HOSTILE
from tests.kopt_kb.base.markup.test_html import Outline
from tests.kopt_kb.tuning.page.test_campaign import Tables, number

Capture = pytest.CaptureFixture[str]
ZOO = Path(__file__).resolve().parents[3] / "data" / "zoo"
HEAD = "Name,Calls,TotalDurationNs,AverageNs,Percentage,MinNs,MaxNs\n"


def test_kernels_are_those_of_the_document(tmp_path: Path, capsys: Capture) -> None:
    """Times, shares, classes and limiters; the roofline of the report; a section a kernel."""
    page, words = tmp_path / "p.html", tmp_path / "p.md"
    asked = ["profile", "read", str(ZOO / "library.csv"), "--platform", "H200_SXM"]
    assert main([*asked, "--html", str(page), "--markdown", str(words), "--json"]) == 0
    kernels = json.loads(capsys.readouterr().out)["kernels"]
    found = Tables(page.read_text())
    rows = found.tables["Kernels by total time"][1:]
    assert len(rows) == len(kernels) == 4
    for row, one in zip(rows, kernels, strict=True):
        assert (row[0], row[1]) == (one["function"], str(one["launches"]))
        assert number(row[2]) == pytest.approx(one["durations"]["total_s"], rel=5e-4)
        assert number(row[3]) == pytest.approx(one["time_share"], rel=5e-4)
        assert row[5:] == [one["verdict"]["class"], one["verdict"]["limiter"]]
    outline = Outline(page.read_text())
    assert len(outline.all("svg")) == 1
    assert len(page.read_text()) < 100_000
    assert words.read_text().count("\n## ") >= 6


def test_a_trace_without_counters_has_a_page_without_a_picture(tmp_path: Path) -> None:
    """Times alone."""
    (tmp_path / "r.csv").write_text(HEAD + "k,2,20,10,100,9,11\n")
    assert main(["profile", "read", str(tmp_path / "r.csv"), "--html", str(tmp_path / "r.html")]) == 0
    assert "<svg" not in (tmp_path / "r.html").read_text()


@pytest.mark.parametrize("name", [one for one in HOSTILE if not {"\0", "\udcff"} & set(one)])
def test_hostile_kernel_names_stay_names(name: str, tmp_path: Path) -> None:
    """In read and diff, HTML and Markdown."""
    cell = '"' + name.replace('"', '""') + '"'
    for file, kernel in (("plain", "k"), ("other", cell)):
        (tmp_path / f"{file}.csv").write_text(HEAD + f"{kernel},2,20,10,100,9,11\n", encoding="utf-8")
        report = str(tmp_path / f"{file}.csv")
        assert (
            main(
                [
                    "profile",
                    "read",
                    report,
                    "--html",
                    str(tmp_path / f"{file}.html"),
                    "--markdown",
                    str(tmp_path / f"{file}.md"),
                ]
            )
            == 0
        )
        assert main(["profile", "diff", report, report, "--html", str(tmp_path / f"{file}-diff.html")]) == 0
    for kind in ("", "-diff"):
        tags = [
            [tag for tag, _ in Outline((tmp_path / f"{file}{kind}.html").read_text()).found]
            for file in ("plain", "other")
        ]
        assert tags[0] == tags[1]
    assert "<script" not in (tmp_path / "other.md").read_text().replace("\\<script", "")


def test_a_thousand_kernels_of_long_names_stay_below_the_limit(tmp_path: Path) -> None:
    """What is left out is counted."""
    rows = "".join(f"{'n' * 3000}{at},2,{20 + at},10,100,9,11\n" for at in range(1000))
    (tmp_path / "many.csv").write_text(HEAD + rows)
    page = tmp_path / "many.html"
    assert main(["profile", "read", str(tmp_path / "many.csv"), "--html", str(page)]) == 0
    assert page.stat().st_size <= 300_000
    assert "kernels that take less are left out" in page.read_text()


def test_a_comparison_says_what_became_slower(tmp_path: Path, capsys: Capture) -> None:
    """10 to 20 ns a launch: +100 %, half as fast; the exit code stays."""
    (tmp_path / "a.csv").write_text(HEAD + "k,2,20,10,100,9,11\n")
    (tmp_path / "b.csv").write_text(HEAD + "k,2,40,20,100,19,21\n")
    page = tmp_path / "d.html"
    asked = ["profile", "diff", str(tmp_path / "a.csv"), str(tmp_path / "b.csv"), "--threshold", "5"]
    assert main([*asked, "--html", str(page), "--markdown", str(tmp_path / "d.md")]) == 1
    assert f"{page}: " in capsys.readouterr().out
    found = Tables(page.read_text())
    (row,) = found.tables["Median time of a launch"][1:]
    assert row[:5] == ["k", "10 ns", "20 ns", "+100 %", "0.5×"]
    ((kernel, _, change),) = found.tables["Slower kernels; allowed are 5 %"][1:]
    assert (kernel, change) == ("k", "+100 %")
