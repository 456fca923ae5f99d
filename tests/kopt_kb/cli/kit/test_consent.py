"""A stranger's workspace or project file starts nothing that this user did not allow."""

from __future__ import annotations

import io
import shlex
import sys
from pathlib import Path

import pytest

from kopt_kb.cli.kit import consent
from kopt_kb.cli.main import main
from kopt_kb.sandbox.trust import UNATTENDED, Grant, TrustStore

INIT = "--platform H20 --framework Triton --kernel-demo op:naive/rms_norm --op rms_norm --shape 512x512 --dtype bf16"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store of its own."""
    path = tmp_path / "trust.json"
    monkeypatch.setenv("KOPT_TRUST", str(path))
    return path


@pytest.fixture
def theirs(tmp_path: Path, store: Path) -> Path:
    """A stranger's workspace: its journal names a proposer that leaves a mark; this user allowed nothing."""
    assert main(["init", "w", *INIT.split(), "--parent", str(tmp_path)]) == 0
    workspace, mark = tmp_path / "kernel_opt_w", tmp_path / "mark"
    script = tmp_path / "p.py"
    script.write_text(f"open({str(mark)!r}, 'w')\n")
    command = f"{sys.executable} {shlex.quote(str(script))}"
    main(["tune", "run", str(workspace), "--simulate", "--yes", "--budget-rounds", "0", "--proposer", command])
    store.unlink()
    mark.unlink(missing_ok=True)
    return workspace


def _error(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().err.strip().rpartition("\n")[2]


@pytest.mark.parametrize("action", ["step", "resume", "run"])
def test_commands_of_a_journal_are_refused_where_nobody_can_be_asked(
    action: str, theirs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`--yes` confirms parameters, not commands that somebody else chose."""
    assert main(["tune", action, str(theirs), "--yes"]) == 2
    assert "KB474" in _error(capsys)
    assert not (tmp_path / "mark").exists()


def test_what_the_user_allowed_goes_on(theirs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A yes enters the store, and the command is shown each time that it is used."""
    grants = [one for one in consent.named_by(_state(theirs)) if one.kind == "proposer"]
    TrustStore().add(theirs, grants)
    assert main(["tune", "step", str(theirs), "--until-decided"]) in {0, 1}
    assert f"allowed before for {theirs}" in capsys.readouterr().err
    assert (tmp_path / "mark").exists()


def test_a_person_is_asked_once(theirs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No leaves the store as it is, yes enters it."""

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(sys, "stdin", Terminal("n\n"))
    assert main(["tune", "step", str(theirs)]) == 2
    assert not TrustStore().folders
    monkeypatch.setattr(sys, "stdin", Terminal("y\n"))
    assert main(["tune", "step", str(theirs)]) in {0, 1}
    assert [grant.kind for grants in TrustStore().folders.values() for grant in grants] == ["proposer"]


def test_a_server_starts_no_command_of_a_journal(
    theirs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not even one that a person allowed."""
    TrustStore().add(theirs, consent.named_by(_state(theirs)))
    monkeypatch.setenv(UNATTENDED, "mcp")
    assert main(["tune", "step", str(theirs)]) == 2
    assert "KB474" in _error(capsys)
    consent.allow(theirs, [Grant("launcher", "srun")])
    assert Grant("launcher", "srun") not in TrustStore().folders[str(theirs.resolve())]


def test_a_workspace_that_was_moved_is_another(theirs: Path, tmp_path: Path) -> None:
    """What a folder may do is not carried along with its files."""
    TrustStore().add(theirs, consent.named_by(_state(theirs)))
    moved = theirs.rename(tmp_path / "kernel_opt_other")
    assert main(["tune", "step", str(moved)]) == 2


def _state(workspace: Path):
    from kopt_kb.workspace.workspace import Workspace

    return Workspace.open(workspace).state()


@pytest.fixture
def wide(project_root: Path) -> Path:
    """A project file that asks for the network and a variable."""
    file = project_root / "project.toml"
    text = file.read_text().replace("[project]\n", '[project]\nnetwork = true\nenvironment = ["SECRET"]\n', 1)
    assert "SECRET" in text
    file.write_text(text)
    return file


def test_a_project_that_asks_for_more_is_shown_and_refused(
    wide: Path, store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Network and variables are named, each needs its own word, and nothing is created before."""
    words = ["init", "p", "--project", str(wide), "--platform", "H20", "--framework", "CUDA", "--parent", str(tmp_path)]
    assert main(words) == 2
    said = _error(capsys)
    assert "network" in said
    assert "variable SECRET" in said
    assert "KB474" in said
    assert main([*words, "--allow", "network"]) == 2
    assert not (tmp_path / "kernel_opt_p").exists()
    assert main([*words, "--allow", "network", "--allow", "variables"]) == 0
    assert any(grant.kind == "project" for grants in TrustStore().folders.values() for grant in grants)


def test_a_strangers_workspace_runs_no_project(
    project_root: Path, store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The captured file's commands are theirs until this user says otherwise."""
    words = ["init", "p", "--project", str(project_root / "project.toml"), "--platform", "H20"]
    assert main([*words, "--framework", "CUDA", "--parent", str(tmp_path)]) == 0
    store.unlink()
    assert main(["tune", "run", str(tmp_path / "kernel_opt_p"), "--yes"]) == 2
    assert "KB474" in _error(capsys)
