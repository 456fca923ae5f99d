"""`kb audit` prints findings an editor can jump to, and exits 1."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kopt_kb.cli.main import main
from tests.demo_kernel import DEMO


def test_findings(wiki_root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """file:line: message; fix [code]."""
    demo = tmp_path / "demo.py"
    demo.write_text(DEMO.replace("rms_norm", "softmax"))
    made = [
        "init",
        "s",
        "--platform",
        "T10",
        "--framework",
        "Triton",
        "--kernel-demo",
        str(demo),
        "--shape",
        "64x64",
        "--dtype",
        "fp16",
    ]
    assert main([*made, "--parent", str(tmp_path), "--wiki", str(wiki_root), "--notes", "An H100 has 3.35 TB/s."]) == 0
    capsys.readouterr()
    folder = str(tmp_path / "kernel_opt_s")
    assert main(["audit", folder]) == 1
    out = capsys.readouterr().out
    assert "README.md:" in out
    assert "3.35 TB/s is no row, target or measurement of this workspace" in out
    assert main(["audit", folder, "--json"]) == 1
    body = json.loads(capsys.readouterr().out)
    assert (body["clean"], body["findings"][0]["code"]) == (False, "unsourced")


def test_another_wiki_can_be_named(wiki_root: Path, tmp_path: Path) -> None:
    """A platform that wiki lacks is a finding, not a crash."""
    demo = tmp_path / "demo.py"
    demo.write_text(DEMO.replace("rms_norm", "softmax"))
    words = [
        "init",
        "s",
        "--platform",
        "T10",
        "--framework",
        "Triton",
        "--kernel-demo",
        str(demo),
        "--shape",
        "64x64",
        "--dtype",
        "fp16",
    ]
    assert main([*words, "--parent", str(tmp_path), "--wiki", str(wiki_root)]) == 0
    from kopt_kb.wiki.places import packaged_root

    assert main(["audit", str(tmp_path / "kernel_opt_s"), "--wiki", str(packaged_root())]) == 1


def test_a_log_of_others(wiki_root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A line a claim, then what contradicts what, then the sum; exit 1."""
    log = tmp_path / "results.tsv"
    log.write_text("experiment\tspeedup\tpct_peak\tcorrectness\n1\t1.2\t140\tPASS\n")
    assert main(["audit", str(log), "--wiki", str(wiki_root)]) == 1
    out = capsys.readouterr().out
    assert "results.tsv:2 round 1" in out
    assert "results.tsv:2: round 1: pct_peak 140 is above the peak that it is a share of" in out
    assert "1 claim(s), of which with correctness 1, timing 0, noise 0, roof 0, snapshot 0" in out


def test_options_of_the_one_kind_are_refused_for_the_other(
    wiki_root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In one line."""
    log = tmp_path / "results.tsv"
    log.write_text("experiment\tspeedup\n1\t1.2\n")
    assert main(["audit", str(log), "--anchor", str(log), "--wiki", str(wiki_root)]) == 2
    assert main(["audit", str(tmp_path / "none"), "--rev", "main", "--wiki", str(wiki_root)]) == 2
    assert main(["audit", str(log), "--rev", "main", "--wiki", str(wiki_root)]) == 2
    err = capsys.readouterr().err
    assert ("--anchor is for workspaces" in err, "is no git repository" in err) == (True, True)


def test_the_terminal_obeys_no_log(wiki_root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Control characters of others are shown as escapes."""
    log = tmp_path / "log.jsonl"
    log.write_text('{"round": 1, "speedup": "1.2", "task": "a\\u001b[31m"}\n')
    assert main(["audit", str(log), "--wiki", str(wiki_root)]) == 1
    assert "\x1b" not in capsys.readouterr().out
