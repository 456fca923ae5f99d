"""`kb suite`: one table, and exit 1 when a candidate is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("torch")

from kopt_kb.cli.main import main
from tests.kopt_kb.launch.problems.test_problem_toml import write

pytestmark = pytest.mark.torch


def test_table_and_results(
    tmp_path: Path, wiki_root: Path, fits: Callable[[str, object], bool], capsys: pytest.CaptureFixture[str]
) -> None:
    """A kernel of another framework's form is refused before a gate, and the reason stands under the table."""
    write(tmp_path)
    (tmp_path / "kernel.py").write_text("def launch(x):\n    return x.sum(-1)\n")
    words = ["suite", str(tmp_path), "--platform", "T10", "--out", str(tmp_path / "out"), "--wiki", str(wiki_root)]
    assert main([*words, "--simulate", "--results"]) == 1
    said = capsys.readouterr().out
    assert "0 of 1 problems correct" in said
    assert "the file has no Triton kernel" in said
    assert main([*words, "--json"]) == 1
    printed = json.loads(capsys.readouterr().out)
    assert printed["rows"][0]["verdict"] == "refused"
    stored = json.loads((tmp_path / "out" / "suite.json").read_text())
    assert fits("suite", printed) and fits("suite", stored) and not fits("suite", {**stored, "surplus": 1})


def test_a_folder_that_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One line, exit 2."""
    assert main(["suite", str(tmp_path / "gone"), "--platform", "H20", "--out", str(tmp_path / "o")]) == 2
    assert "no such folder" in capsys.readouterr().err
