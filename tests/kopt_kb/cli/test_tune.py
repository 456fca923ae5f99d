"""`kb tune`: confirmation, JSON, dry run, simulation, steps and plans."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kopt_kb.cli.main import main


@pytest.fixture
def workspace(tmp_path: Path, wiki_root: Path, repo_root: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """A workspace of the naive RMS norm on the invented T10."""
    words = [
        "init", "norm", "--platform", "T10", "--framework", "Triton", "--kernel-demo",
        str(repo_root / "kernels" / "naive" / "rms_norm.py"), "--shape", "1024x512", "--dtype", "bf16",
        "--parent", str(tmp_path), "--wiki", str(wiki_root),
    ]  # fmt: skip
    assert main(words) == 0
    capsys.readouterr()
    return str(tmp_path / "kernel_opt_norm")


SMALL = ["--simulate", "--max-rounds", "2", "--evaluations", "4"]


def test_without_yes_and_terminal_it_refuses(workspace: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is written; the line says what to add."""
    before = Path(workspace, "journal.jsonl").read_bytes()
    assert main(["tune", "run", workspace, *SMALL]) == 2
    assert "--yes" in capsys.readouterr().err
    assert Path(workspace, "journal.jsonl").read_bytes() == before


def test_a_dry_run_writes_nothing(workspace: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The inferred parameters as JSON."""
    before = Path(workspace, "journal.jsonl").read_bytes()
    assert main(["tune", "run", workspace, *SMALL, "--dry-run", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["platform"], found["op"], found["policy"], found["simulated"]) == (
        "T10",
        "rms_norm",
        "gpu-wiki",
        True,
    )
    assert Path(workspace, "journal.jsonl").read_bytes() == before


def test_a_simulated_campaign(workspace: str, capsys: pytest.CaptureFixture[str]) -> None:
    """One JSON document on stdout, progress on stderr; status and report say SIMULATED; a second run goes on."""
    assert main(["tune", "run", workspace, *SMALL, "--yes", "--json"]) == 0
    shown = capsys.readouterr()
    report = json.loads(shown.out)
    assert (report["state"], report["stop"]["reason"], report["simulated"]) == ("REPORT", "iterations", True)
    assert report["stop_conditions"] == "not evaluable"
    assert "round 1" in shown.err
    for action in ("status", "report"):
        assert main(["tune", action, workspace]) == 0
        assert "SIMULATED" in capsys.readouterr().out
    assert main(["tune", "run", workspace, *SMALL, "--yes", "--json", "--no-stop", "target"]) == 0
    assert len(json.loads(capsys.readouterr().out)["rounds"]) == 5


def test_measured_rounds_never_follow_simulated_ones(workspace: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Refused before anything runs."""
    assert main(["tune", "run", workspace, *SMALL, "--yes"]) == 0
    assert main(["tune", "resume", workspace]) == 0  # stopped: nothing left to do
    main(["tune", "run", workspace, "--yes", "--wiki", str(Path(workspace).parent / "wiki")])
    assert "never share" in capsys.readouterr().err


def test_step_with_a_plan(workspace: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One state further each; the plan's hypothesis becomes round 1."""
    plan = tmp_path / "plan.json"
    source = Path(workspace, "kernel.py").read_text().replace('"BLOCK": 32', '"BLOCK": 64')
    plan.write_text(json.dumps({"category": "memory_access", "claim": "wider", "expected": "less", "source": source}))
    states = []
    for _ in range(20):
        assert main(["tune", "step", workspace, "--simulate", "--yes", "--plan", str(plan), "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        states.append(found["state"])
        if len(found["rounds"]) == 2:
            break
    assert states[0] == "PREPARE_ENVIRONMENT"
    assert found["rounds"][1]["claim"] == "wider"


def test_an_absent_workspace_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One line, exit 2."""
    assert main(["tune", "status", str(tmp_path / "none")]) == 2
    assert "no such folder" in capsys.readouterr().err
