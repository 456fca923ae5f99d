"""`kb trust` lists what is allowed, allows a folder what its journal names, and forgets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kopt_kb.cli.main import main


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, repo_root: Path) -> Path:
    """A workspace, and a store of one's own."""
    monkeypatch.setenv("KOPT_TRUST", str(tmp_path / "trust.json"))
    op = ["--platform", "H20", "--op", "rms_norm", "--shape", "64x64", "--dtype", "bf16", "--framework", "Triton"]
    assert (
        main(["init", "norm", *op, "--kernel-demo", str(repo_root / "kernels/rms_norm.py"), "--parent", str(tmp_path)])
        == 0
    )
    return tmp_path / "kernel_opt_norm"


def test_what_names_nothing_is_allowed_nothing(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is written for it, and the list stays empty."""
    capsys.readouterr()
    assert main(["trust", str(workspace), "--yes", "--json"]) == 0
    (one,) = json.loads(capsys.readouterr().out)["folders"]
    assert one == {"folder": str(workspace.resolve()), "allowed": [], "asks": []}
    assert main(["trust", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["folders"] == []
    assert main(["trust", str(workspace), "--forget"]) == 0


@pytest.mark.parametrize(("words", "code"), [(["--yes"], "KB102"), (["/nowhere"], "KB")])
def test_what_can_not_be_allowed(
    workspace: Path, words: list[str], code: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """No folder, or none that is a workspace."""
    assert workspace.is_dir()
    assert main(["trust", *words]) == 2
    assert f"[{code}" in capsys.readouterr().err


def test_a_server_allows_nothing(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A person does."""
    from kopt_kb.sandbox.trust import UNATTENDED

    monkeypatch.setenv(UNATTENDED, "1")
    assert main(["trust", str(workspace), "--yes"]) == 2
    assert "[KB474]" in capsys.readouterr().err
