"""`kb audit` prints findings an editor can jump to, and exits 1."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kopt_kb.cli.main import main


def test_findings(wiki_root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """file:line: message; fix [code]."""
    demo = tmp_path / "demo.py"
    demo.write_text('OP = "softmax"\n')
    made = [
        "init",
        "s",
        "--platform",
        "T10",
        "--framework",
        "HIP",
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
    demo.write_text('OP = "softmax"\n')
    words = [
        "init",
        "s",
        "--platform",
        "T10",
        "--framework",
        "HIP",
        "--kernel-demo",
        str(demo),
        "--shape",
        "64x64",
        "--dtype",
        "fp16",
    ]
    assert main([*words, "--parent", str(tmp_path), "--wiki", str(wiki_root)]) == 0
    from kopt_kb.wiki.wiki import packaged_root

    assert main(["audit", str(tmp_path / "kernel_opt_s"), "--wiki", str(packaged_root())]) == 1
