"""git runs in one folder's own repository, whatever the caller's environment says."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from kopt_kb.errors import ExitCode, MissingTool
from kopt_kb.process import Finished
from kopt_kb.workspace import gitrun
from kopt_kb.workspace.gitrun import Git, GitError


@pytest.fixture
def git(tmp_path):
    found = Git(tmp_path)
    found.run("init", "--quiet")
    return found


def test_without_git_the_missing_tool_is_named(tmp_path, monkeypatch):
    """Exit code 3."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingTool, match="git is not installed") as caught:
        Git(tmp_path)
    assert caught.value.exit_code is ExitCode.MISSING


def test_variables_of_the_caller_do_not_reach_git(git, tmp_path, monkeypatch):
    """Another repository, identity or setting in the environment has no effect."""
    for name, value in {
        "GIT_DIR": "/nowhere",
        "GIT_INDEX_FILE": "/nowhere",
        "GIT_AUTHOR_DATE": "2001-01-01",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "user.name",
        "GIT_CONFIG_VALUE_0": "leak",
    }.items():
        monkeypatch.setenv(name, value)
    assert git.text("rev-parse", "--absolute-git-dir") == str(tmp_path.resolve() / ".git")
    assert git.text("config", "user.name", missing="none") == "none"
    assert "2001" not in git.text("var", "GIT_AUTHOR_IDENT")


def test_a_failure_gives_git_s_first_line_and_the_folder(git, tmp_path):
    """Not its whole output."""
    with pytest.raises(GitError, match="git rev-parse failed: fatal: ") as caught:
        git.text("rev-parse", "--verify", "nothing")
    assert caught.value.where == str(tmp_path.resolve())
    assert not git.ok("rev-parse", "--verify", "nothing")


def test_a_hanging_git_is_ended(git, monkeypatch):
    """The error names the command and the limit."""

    monkeypatch.setattr(gitrun, "run", lambda *_, **__: Finished(-9, "hang", 60.0))
    with pytest.raises(GitError, match="git status took over 60 s"):
        git.run("status")


@pytest.mark.parametrize("name", ["HEAD", "config", "index", "refs/heads/x", "objects/info/alternates"])
@pytest.mark.parametrize("link", [False, True])
def test_what_git_would_wait_for_is_refused(tmp_path: Path, name: str, link: bool) -> None:
    """A pipe in any place of the repository, or a link to one: git is not started, nobody waits a minute."""
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    place, pipe = tmp_path / ".git" / name, tmp_path / "pipe"
    place.unlink(missing_ok=True)
    os.mkfifo(pipe if link else place)
    if link:
        place.symlink_to(pipe)
    begin = time.monotonic()
    with pytest.raises(GitError, match=f"{name} is no regular file"):
        Git(tmp_path).text("log")
    assert time.monotonic() - begin < 50
