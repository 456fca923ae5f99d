"""The guide to projects runs as written: its file, its proposer and its commands, on the small project."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kopt_kb.cli.main import main
from kopt_kb.launch.candidate.machine import Environment
from kopt_kb.launch.project.file import read_project


def _block(root: Path, language: str) -> str:
    (found,) = re.findall(rf"```{language}\n(.*?)```", (root / "docs" / "projects.md").read_text(), re.DOTALL)
    return found


@pytest.mark.core
def test_the_guide_runs(
    repo_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every command ends with 0; the patch of the last one takes the best version over."""
    project = Path(shutil.copytree(repo_root / "tests" / "data" / "project", tmp_path / "project"))
    (project / "project.toml").write_text(_block(repo_root, "toml"))
    (project / "propose.py").write_text(_block(repo_root, "python"))
    monkeypatch.chdir(project)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:/usr/bin:/bin")
    commands = [line[2:] for line in _block(repo_root, "console").splitlines() if line.startswith("$ kb ")]
    assert len(commands) == 6
    platform = re.search(r"--platform (\w+)", " ".join(commands))
    assert platform is not None
    card = Environment(platform[1], None, None, {}, {})  # on a host no condition is judged
    monkeypatch.setattr("kopt_kb.launch.project.executor.host_environment", lambda: card)
    for command in commands:
        capsys.readouterr()
        assert main(shlex.split(command)[1:]) == 0, command
    patch = capsys.readouterr().out
    assert "+TILE = 256" in patch
    subprocess.run(["git", "init", "-q"], check=True)
    subprocess.run(["git", "apply", "-"], input=patch.encode(), check=True)
    assert "TILE = 256" in (project / "ops" / "gemm.py").read_text()


@pytest.mark.core
def test_the_guide_and_the_small_project_agree(repo_root: Path) -> None:
    """Both files say the same."""
    own = (repo_root / "tests" / "data" / "project" / "project.toml").read_bytes()
    assert read_project(own, "x") == read_project(_block(repo_root, "toml").encode(), "x")
