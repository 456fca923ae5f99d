"""`kb profile gap` on recordings of the zoo."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kopt_kb.cli.main import main

ZOO = Path(__file__).resolve().parents[3] / "data" / "zoo"
LIBRARY = str(ZOO / "library.csv")
Capture = pytest.CaptureFixture[str]


def test_an_account_names_roof_parts_and_proof(capsys: Capture) -> None:
    """The time under its roof with the row it comes from, each part with its share and counters."""
    assert main(["profile", "gap", LIBRARY, "--kernel", "vectorized", "--platform", "H200_SXM"]) == 0
    head, *parts = capsys.readouterr().out.splitlines()
    assert "% of the roof of dram (documented; hardware/nvidia/h200_sxm.md:L" in head
    assert any(line.strip().startswith("launch: ") and "elapsed_cycles" in line for line in parts)
    assert any(line.strip().startswith("unexplained: ") for line in parts)


def test_json_sums_to_the_whole(capsys: Capture) -> None:
    """Every kernel of a report: shares of the gap that sum to 100, with the data's version."""
    assert main(["profile", "gap", LIBRARY, "--platform", "H200_SXM", "--json"]) == 0
    body = json.loads(capsys.readouterr().out)
    assert body["data"]
    assert len(body["gaps"]) > 1
    for gap in body["gaps"]:
        assert sum(part["share_pct"] for part in gap["parts"]) == pytest.approx(100.0)
        assert all(part["method"] for part in gap["parts"])


def test_a_named_work_is_of_one_kernel(capsys: Capture) -> None:
    """Bytes beyond those of the named work are told; of several kernels one has to be chosen."""
    named = ["--flops", "1", "--bytes", "1e8", "--engine", "vector", "--dtype", "fp32", "--platform", "H200_SXM"]
    assert main(["profile", "gap", LIBRARY, "--kernel", "vectorized", *named]) == 0
    assert "extra bytes (dram)" in capsys.readouterr().out
    assert main(["profile", "gap", LIBRARY, *named]) == 2
    assert "choose the one that did it with --kernel" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--op", "gemm"], "missing --shape"),
        (["--op", "gemm", "--shape", "2x2x2", "--shape", "3x3x3", "--dtype", "bf16"], "one run has one shape"),
        (["--top", "0"], "--top 0 shows nothing"),
    ],
)
def test_half_a_work_is_refused(words: list[str], said: str, capsys: Capture) -> None:
    """One line that says what is wrong, exit 2."""
    assert main(["profile", "gap", LIBRARY, *words]) == 2
    assert said in capsys.readouterr().err


def test_a_report_without_counters_is_unknown(tmp_path: Path, capsys: Capture) -> None:
    """Only a time: no roof, exit 4, and what to record."""
    report = tmp_path / "kernels.csv"
    report.write_text(
        '"ID","Process ID","Process Name","Host Name","Kernel Name","Kernel Time","Context","Stream","Section Name",'
        '"Metric Name","Metric Unit","Metric Value"\n'
        '"0","1","a","h","k(int)","t","1","7","x","gpu__time_duration.sum","us","10"\n'
    )
    assert main(["profile", "gap", str(report)]) == 4
    out = capsys.readouterr().out
    assert "no roof is known" in out
    assert "Record next: ncu --set full" in out


def test_reading_a_report_shows_the_largest_parts(capsys: Capture) -> None:
    """`kb profile read` has one line a kernel, and the whole account in JSON."""
    words = ["profile", "read", LIBRARY, "--kernel", "vectorized", "--platform", "H200_SXM"]
    assert main(words) == 0
    assert "    Gap: " in capsys.readouterr().out
    assert main([*words, "--json"]) == 0
    (kernel,) = json.loads(capsys.readouterr().out)["kernels"]
    assert kernel["gap"]["parts"][-1]["cause"] == "unexplained"
