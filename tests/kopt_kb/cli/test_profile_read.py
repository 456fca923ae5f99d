"""`kb profile read` on recordings of the zoo."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kopt_kb.cli.main import main

ZOO = Path(__file__).resolve().parents[2] / "data" / "zoo"
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
    assert "Headroom: dram: " in out


def test_top_takes_the_longest(capsys: Capture) -> None:
    """One kernel, the one with most time."""
    assert main(["profile", "read", MEMORY, "--top", "1", "--json"]) == 0
    assert [one["function"] for one in json.loads(capsys.readouterr().out)["kernels"]] == ["spill_registers"]


def test_diff_compares_kernels_by_name(capsys: Capture) -> None:
    """The same report twice: speed-up 1 and the same limiter; a kernel of one report only has no partner."""
    words = ["profile", "read", MEMORY, "--diff", MEMORY, "--kernel", "dram_copy4", "--json"]
    assert main(words) == 0
    row = json.loads(capsys.readouterr().out)["diff"][0]
    assert (row["name"], row["speedup"], row["limiter"]) == ("dram_copy4", 1.0, ["dram", "dram"])
    assert main([one for one in words if one != "--json"]) == 0
    assert "speedup" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words",
    [["--kernel", "no_such_kernel"], ["--platform", "H999"], ["--top", "0"], ["--diff", "/none"], ["--kernel", "("]],
)
def test_bad_input_is_one_line(words: list[str], capsys: Capture) -> None:
    """Nothing matches, unknown product, nothing shown, no other report, no pattern: exit 2 and one line."""
    assert main(["profile", "read", MEMORY, *words]) == 2
    err = capsys.readouterr().err
    assert "Traceback" not in err
    assert len(err.strip().splitlines()) == 1
