"""The core with and without the packs that lead a campaign or bring it more cards."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kopt_kb.cli.main import main
from kopt_kb.packs.coordination.pack import PACK
from kopt_kb.workspace.journal.campaign_events import PlanMade
from kopt_kb.workspace.workspace import Workspace
from tests.installed_packs import installed
from tests.packs.coordination.routing.test_analysis import BLOCK

SMALL = ["--simulate", "--yes", "--evaluations", "4"]


@pytest.fixture
def root(tmp_path: Path, wiki_root: Path, repo_root: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """A workspace of the naive RMS norm on the invented T10."""
    demo = str(repo_root / "kernels" / "naive" / "rms_norm.py")
    words = ["init", "n", "--platform", "T10", "--framework", "Triton", "--kernel-demo", demo, "--shape", "1024x512"]
    assert main([*words, "--dtype", "bf16", "--parent", str(tmp_path), "--wiki", str(wiki_root)]) == 0
    capsys.readouterr()
    return str(tmp_path / "kernel_opt_n")


def test_its_own_words_are_no_ordinary_ones() -> None:
    """A graph and a plan are anybody's."""
    assert not {"graph", "plan", "route"} & set(PACK.words)


def test_a_campaign_without_the_packs(
    root: str, wiki_root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Begun, gone on with and reported; it audits clean."""
    installed(monkeypatch, without=("coordination", "cluster"))
    wiki = ["--wiki", str(wiki_root)]
    assert main(["tune", "step", root, "--until-decided", *SMALL, "--max-rounds", "2", *wiki]) in {0, 1}
    assert main(["tune", "resume", root, "--yes", *wiki]) in {0, 1}
    capsys.readouterr()
    assert main(["tune", "report", root, "--json"]) in {0, 1}
    found = json.loads(capsys.readouterr().out)
    assert (found["stop"]["reason"], len(found["rounds"])) == ("iterations", 3)
    assert main(["audit", root, *wiki]) == 0


def test_a_campaign_with_a_plan_needs_the_pack(
    root: str, wiki_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without it the open one is not gone on with in another order; it can be ended, and audits clean."""
    analysis = tmp_path / "analysis.txt"
    analysis.write_text(BLOCK)
    wiki = ["--wiki", str(wiki_root)]
    begun = ["tune", "step", root, *SMALL, "--policy", "autopilot", "--analysis", str(analysis), *wiki]
    assert main(begun) in {0, 1}
    assert isinstance(Workspace.open(root).state().plan, PlanMade)
    installed(monkeypatch, without=("coordination",))
    capsys.readouterr()
    before = Path(root, "journal.jsonl").read_bytes()
    assert main(["tune", "resume", root, "--yes", *wiki]) == 3
    assert "the open campaign needs the pack coordination" in capsys.readouterr().err
    assert Path(root, "journal.jsonl").read_bytes() == before
    assert main(["tune", "stop", root]) in {0, 1}
    assert main(["audit", root, *wiki]) == 0
