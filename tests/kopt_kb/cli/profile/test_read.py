"""`kb profile read` on recordings of the zoo."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kopt_kb.cli.main import main

ZOO = Path(__file__).resolve().parents[3] / "data" / "zoo"
MEMORY, LATENCY = str(ZOO / "memory.csv"), str(ZOO / "latency.csv")
Capture = pytest.CaptureFixture[str]


def test_json_of_several_reports(capsys: Capture) -> None:
    """Reports and kernels with both classes, on one document."""
    assert main(["profile", "read", MEMORY, LATENCY, "--kernel", "dram_copy16|tail_eighth|zzz", "--json"]) == 0
    body = json.loads(capsys.readouterr().out)
    assert [one["format"] for one in body["reports"]] == ["ncu-csv-raw"] * 2
    found = {one["function"]: (one["sol_class"], one["verdict"]["limiter"]) for one in body["kernels"]}
    assert found == {"dram_copy16": ("high_throughput", "dram"), "tail_eighth": ("latency", "tail")}


def test_text_shows_proof_and_advice(capsys: Capture) -> None:
    """The table, then the block of the primary bottleneck with headroom under the cited roof."""
    assert main(["profile", "read", MEMORY, "--kernel", "dram_copy16", "--platform", "H200_SXM"]) == 0
    out = capsys.readouterr().out
    assert "Primary bottleneck: memory-bound" in out
    assert "[High]" in out
    assert "Reached: dram: " in out


def test_another_product_than_the_report_names_is_refused(capsys: Capture) -> None:
    """The zoo ran on compute capability 9.0."""
    assert main(["profile", "read", MEMORY, "--kernel", "dram_copy16", "--platform", "MI300X"]) == 2
    assert "contradicts the report" in capsys.readouterr().err


@pytest.mark.corpus
def test_the_report_names_its_product(profile_corpus: Path, capsys: Capture) -> None:
    """Roofs without a flag where the report holds the device's name, and no roof of another product."""
    report = str(profile_corpus / "ncu-csv" / "b200_algo64_raw.csv")
    assert main(["profile", "read", report, "--platform", "H200_SXM"]) == 2
    assert "NVIDIA B200, which is B200" in capsys.readouterr().err
    workload = str(profile_corpus / "rocprof-compute" / "vcopy_mi300x_rocpd")
    assert main(["profile", "read", workload]) == 0
    assert "hardware/amd/mi300x.md" in capsys.readouterr().out


def test_names_can_t_command_the_terminal(tmp_path: Path, capsys: Capture) -> None:
    """An escape sequence in a kernel's name comes out as text, in tables, blocks and errors."""
    report = tmp_path / "r.csv"
    report.write_text((ZOO / "library.csv").read_text(encoding="utf-8").replace("nvjet", "nv\x1b[2Jjet"))
    assert main(["profile", "read", str(report), "--kernel", "jet"]) == 0
    assert main(["profile", "read", str(report), "--kernel", "no such"]) == 2
    out, err = capsys.readouterr()
    assert "\x1b" not in out + err
    assert "\\x1b[2J" in out


def test_top_takes_the_longest(capsys: Capture) -> None:
    """One kernel, the one with most time."""
    assert main(["profile", "read", MEMORY, "--top", "1", "--json"]) == 0
    assert [one["function"] for one in json.loads(capsys.readouterr().out)["kernels"]] == ["spill_registers"]


@pytest.mark.parametrize(
    "words",
    [["--kernel", "no_such_kernel"], ["--platform", "H999"], ["--top", "0"], ["--kernel", "("]],
)
def test_bad_input_is_one_line(words: list[str], capsys: Capture) -> None:
    """Nothing matches, unknown product, nothing shown, no other report, no pattern: exit 2 and one line."""
    assert main(["profile", "read", MEMORY, *words]) == 2
    err = capsys.readouterr().err
    assert "Traceback" not in err
    assert len(err.strip().splitlines()) == 1
