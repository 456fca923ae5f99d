"""Reports against a baseline."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from kopt_kb.analysis.profile import Dim3, DurationStats, KernelProfile, ReportPlace, ReportSource
from kopt_kb.analysis.rules.classify import classify
from kopt_kb.base.errors import BadInput
from kopt_kb.cli.kit.judged_text import JudgedKernel
from kopt_kb.cli.main import main
from kopt_kb.cli.profile.diff import compare

ZOO = Path(__file__).resolve().parents[3] / "data" / "zoo"
Capture = pytest.CaptureFixture[str]


def kernel(name: str, time_s: float, grid: int = 8, device: str = "NVIDIA H200", **metrics: float) -> JudgedKernel:
    """A kernel of one launch."""
    stats = DurationStats(1, time_s, time_s, time_s, time_s)
    source = ReportSource("r", "ncu-csv-raw", "ncu", "nvidia")
    profile = KernelProfile(name, name, source, ReportPlace("r", "row 1"), 1, {"duration_s": time_s, **metrics}, stats)
    profile = replace(profile, grid=Dim3(grid), device=device)
    return JudgedKernel(profile, classify(profile))


def slowed(tmp_path: Path) -> str:
    """A report in which one kernel takes 20 % longer than in the zoo."""
    lines = (ZOO / "memory.csv").read_text(encoding="utf-8").splitlines()
    at = lines[0].split(",").index('"gpu__time_duration.sum"')
    row = next(number for number, line in enumerate(lines) if "dram_copy16" in line)
    cells = lines[row].split('","')
    cells[at] = str(float(cells[at].replace(",", "")) * 1.2)
    lines[row] = '","'.join(cells)
    report = tmp_path / "later.csv"
    report.write_text("\n".join(lines) + "\n")
    return str(report)


def test_a_gate_for_automation(tmp_path: Path, capsys: Capture) -> None:
    """20 % longer: exit 1 beyond 5 %, 0 beyond 25 % and without a threshold; the same report is never slower."""
    before, after = str(ZOO / "memory.csv"), slowed(tmp_path)
    assert main(["profile", "diff", before, after, "--threshold", "5"]) == 1
    out = capsys.readouterr().out
    assert "slower: dram_copy16" in out
    assert "by 20 %, allowed are 5 %" in out
    assert main(["profile", "diff", before, after, "--threshold", "25"]) == 0
    assert main(["profile", "diff", before, after]) == 0
    assert main(["profile", "diff", before, before, "--threshold", "0"]) == 0


def test_several_reports_as_json(tmp_path: Path, capsys: Capture) -> None:
    """Each report with its kernels, every metric with both values and the change."""
    before = str(ZOO / "memory.csv")
    words = [
        "profile",
        "diff",
        before,
        before,
        slowed(tmp_path),
        "--kernel",
        "dram_copy16",
        "--threshold",
        "5",
        "--json",
    ]
    assert main(words) == 1
    body = json.loads(capsys.readouterr().out)
    assert [len(one["kernels"]) for one in body["reports"]] == [1, 1]
    (same,), (later,) = (one["kernels"] for one in body["reports"])
    assert (same["speedup"], same["duration"]["change_pct"]) == (1.0, 0.0)
    assert later["duration"]["change_pct"] == pytest.approx(20.0)
    assert {"metric", "unit", "before", "after", "change_pct"} == set(later["metrics"][0])
    assert [one["name"] for one in body["slower"]] == ["dram_copy16"]


def test_kernels_are_matched_by_shape_then_by_name() -> None:
    """Two shapes of one name stay apart; one that changed its grid is the same kernel; the rest stands alone."""
    before = [kernel("a", 1e-3, 8), kernel("a", 2e-3, 16), kernel("b", 3e-3, 8), kernel("gone", 1e-3)]
    after = [kernel("a", 1e-3, 16), kernel("a", 1e-3, 8), kernel("b", 1e-3, 32), kernel("new", 1e-3)]
    found = {(one.name, one.duration.before, one.duration.after) for one in compare(before, after)}
    assert found == {
        ("a", 1e-3, 1e-3), ("a", 2e-3, 1e-3), ("b", 3e-3, 1e-3), ("gone", 1e-3, None), ("new", None, 1e-3)
    }  # fmt: skip


def test_a_changed_verdict_and_clock_are_told() -> None:
    """DRAM before, L2 after; clocks that differ make times doubtful."""
    (found,) = compare(
        [kernel("k", 1e-3, dram_sol_pct=90.0, sm_frequency_hz=1.2e9)],
        [kernel("k", 1e-3, l2_sol_pct=90.0, sm_frequency_hz=1.8e9)],
    )
    assert found.limiter == ("dram", "l2")
    assert found.notes == ("the core clocks of the two runs differ by 50 %",)
    assert {one.metric: one.after for one in found.metrics}["dram_sol_pct"] is None


def test_different_products_are_refused() -> None:
    """Times of an H200 say nothing about those of a B200."""
    with pytest.raises(BadInput, match="never compared"):
        compare([kernel("k", 1e-3)], [kernel("k", 1e-3, device="NVIDIA B200")])


@pytest.mark.parametrize("words", [["--threshold", "-1"], ["--threshold", "nan"], ["--kernel", "none_such"]])
def test_bad_input_is_one_line(words: list[str], capsys: Capture) -> None:
    """No limit, no kernel: exit 2."""
    report = str(ZOO / "memory.csv")
    assert main(["profile", "diff", report, report, *words]) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1
