"""`kb profile roofline` on recordings of the zoo."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kopt_kb.cli.main import main

LIBRARY = str(Path(__file__).resolve().parents[3] / "data" / "zoo" / "library.csv")
Capture = pytest.CaptureFixture[str]


def test_a_table_and_a_picture_in_the_terminal(capsys: Capture) -> None:
    """Every level with the part of its roof: the product's where the wiki has it, the profiler's beside it."""
    words = ["profile", "roofline", LIBRARY, "--kernel", "ffma", "--platform", "H200_SXM", "--plot"]
    assert main(words) == 0
    out = capsys.readouterr().out
    head = out.splitlines()[0].split()
    assert head[-6:] == ["%", "of", "H200_SXM", "%", "of", "run"]
    assert [line.split()[1] for line in out.splitlines()[1:4]] == ["dram", "l2", "l1"]
    assert "76.5" in out.splitlines()[1]
    assert "H200_SXM dram, fp32 vector" in out
    assert "\n  1  " in out


def test_json_names_the_source_of_each_roof(capsys: Capture) -> None:
    """Points, roofs with their share, and kernels that have none; several products at once."""
    words = ["profile", "roofline", LIBRARY, "--platform", "H200_SXM", "--compare", "H100_SXM,A100_SXM_80GB", "--json"]
    assert main(words) == 0
    body = json.loads(capsys.readouterr().out)
    first = next(one for one in body["points"] if one["level"] == "dram")
    assert {one["product"] for one in first["roofs"]} == {"H200_SXM", "H100_SXM", "A100_SXM_80GB", "run"}
    assert all(one["source"] for one in first["roofs"])
    own = next(one for one in first["roofs"] if one["product"] == "H200_SXM")
    assert own["share"] == pytest.approx(first["rate_si"] / own["attainable_si"])
    assert own["share"] <= 1


@pytest.mark.parametrize("suffix", [".svg", ".html"])
def test_pictures(tmp_path: Path, suffix: str) -> None:
    """A drawing and a page; an existing file is never overwritten."""
    picture = tmp_path / f"roof{suffix}"
    words = ["profile", "roofline", LIBRARY, "--platform", "H200_SXM", "--picture", str(picture)]
    assert main(words) == 0
    assert "cunn_SoftMaxForwardReg" in picture.read_text(encoding="utf-8")
    assert main(words) == 2


def test_a_report_without_operations_says_what_to_record(tmp_path: Path, capsys: Capture) -> None:
    """Times alone are no roofline."""
    report = tmp_path / "r.csv"
    report.write_text("Name,Calls,TotalDurationNs,AverageNs,Percentage,MinNs,MaxNs\nk,2,20,10,100,9,11\n")
    assert main(["profile", "roofline", str(report)]) == 2
    assert "no kernel has operations and bytes" in capsys.readouterr().err
