"""Commands of the core where no pack is installed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kopt_kb.cli.main import main
from kopt_kb.doors import table
from tests.kopt_kb.launch.problems.test_problem_toml import TOML, write


@pytest.fixture(autouse=True)
def no_packs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The table of packs is empty."""
    monkeypatch.setattr(table, "packs", lambda: table.Packs({}, ()))


def test_a_problem_that_declares_its_work_gets_targets_and_a_workspace(
    tmp_path: Path, wiki_root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The roof of its bytes; the workspace is audited clean and can be asked for the problem again."""
    path, wiki = str(write(tmp_path)), ["--wiki", str(wiki_root)]
    assert main(["roofline", "--platform", "T10", "--problem", path, *wiki, "--json"]) == 0
    roof = json.loads(capsys.readouterr().out)
    assert roof["bound"] == "memory"
    assert main(["init", "sum", "--platform", "T10", "--problem", path, "--parent", str(tmp_path), *wiki]) == 0
    workspace = str(tmp_path / "kernel_opt_sum")
    assert main(["audit", workspace]) == 0
    capsys.readouterr()
    assert main(["roofline", "--platform", "T10", "--problem", workspace, *wiki, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["work"] == roof["work"]


@pytest.mark.parametrize("command", ["roofline", "init sum"])
def test_work_that_is_not_declared_needs_the_pack_that_counts(
    command: str, tmp_path: Path, wiki_root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Named, with the exit code of what is not installed; no workspace is left behind."""
    path = str(write(tmp_path, TOML.split("[work]")[0]))
    where = ["--parent", str(tmp_path)] if command != "roofline" else []
    assert main([*command.split(), "--platform", "T10", "--problem", path, *where, "--wiki", str(wiki_root)]) == 3
    assert "needs the pack problem_sets, which is not installed" in capsys.readouterr().err
    assert not (tmp_path / "kernel_opt_sum").exists()


@pytest.mark.parametrize(
    "words",
    [
        "lookup T10", "lookup T10 memory_bandwidth", "compare T10 T10_PRO", "list",
        "roofline --platform T10 --op rms_norm --shape 64x64 --dtype fp16",
    ],
)  # fmt: skip
def test_values_and_roofs_need_no_pack(words: str, wiki_root: Path) -> None:
    """What the core promises."""
    assert main([*words.split(), "--wiki", str(wiki_root)]) == 0
