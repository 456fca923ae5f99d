"""git runs in one folder's own repository, whatever the caller's environment says."""

from __future__ import annotations

import ast
import os
import subprocess
import time
from functools import partial
from pathlib import Path

import pytest

from kopt_kb.base.errors import ExitCode, MissingTool
from kopt_kb.sandbox import gitrun
from kopt_kb.sandbox.gitrun import Git, GitError, repository_around
from kopt_kb.sandbox.process import Finished


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
    assert git.text("rev-parse", "--show-toplevel") == str(tmp_path.resolve())
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


def test_a_file_above_a_folder_leads_to_its_repository_where_that_names_the_folder(tmp_path: Path) -> None:
    """Worktrees and submodules are followed; a folder that points into a stranger's repository is not."""
    main, tree = tmp_path / "main", tmp_path / "tree"
    make = partial(subprocess.run, check=True, capture_output=True)
    make(["git", "init", "-q", "-b", "main", str(main)])
    commit = ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x"]
    make(["git", "-C", str(main), *commit])
    make(["git", "-C", str(main), "worktree", "add", "-q", "-b", "other", str(tree)])
    found = repository_around(tree)
    assert found is not None
    assert found.text("rev-parse", "--abbrev-ref", "HEAD") == "other"
    stranger = tmp_path / "stranger"
    stranger.mkdir()
    (stranger / ".git").write_text(f"gitdir: {main / '.git'}\n")
    with pytest.raises(GitError, match="does not name this folder"):
        repository_around(stranger)


def test_a_branch_that_git_checks_out_is_that_of_the_repository(git: Git, tmp_path: Path) -> None:
    """HEAD is written back, and is left alone where another git holds it."""
    git.run("symbolic-ref", "HEAD", "refs/heads/next")
    assert (tmp_path / ".git/HEAD").read_text() == "ref: refs/heads/next\n"
    (tmp_path / ".git/HEAD.lock").touch()
    with pytest.raises(GitError, match="HEAD can't be changed"):
        git.run("symbolic-ref", "HEAD", "refs/heads/last")
    assert (tmp_path / ".git/HEAD").read_text() == "ref: refs/heads/next\n"


def test_a_repository_of_long_hashes_is_read(tmp_path: Path) -> None:
    """The format is the one setting that git gets."""
    subprocess.run(["git", "init", "-q", "--object-format=sha256", str(tmp_path)], check=True)
    assert len(Git(tmp_path).text("hash-object", "-w", "--stdin")) == 64


def test_nothing_but_the_runner_starts_git(repo_root: Path) -> None:
    """No other module of the program has the word as the first of a command."""
    found = [
        f"{path.relative_to(repo_root)}:{node.lineno}"
        for folder in ("kopt_kb", "analysis", "kernels")
        for path in sorted((repo_root / folder).rglob("*.py"))
        if path.name != "gitrun.py"
        for node in ast.walk(ast.parse(path.read_text()))
        if starts_git(node)
    ]
    assert not found


def starts_git(node: ast.AST) -> bool:
    """Return whether a list or tuple begins with the program, or a call is given a text that does."""
    if isinstance(node, ast.List | ast.Tuple) and len(node.elts) > 1:
        first = node.elts[0]
        return isinstance(first, ast.Constant) and str(first.value).rpartition("/")[2] == "git"
    if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
        return str(node.args[0].value).startswith("git ") and ast.unparse(node.func).rpartition(".")[2] in _STARTING
    return False


_STARTING = {"run", "Popen", "check_output", "call", "check_call", "system", "popen"}


def test_a_planted_start_of_git_is_found() -> None:
    """The guard above sees a list and a line of a shell."""
    planted = ast.parse("run(['/usr/bin/git', 'show'])\nos.system('git status')\nx = ('git', 'notes', 'of')")
    assert sum(starts_git(node) for node in ast.walk(planted)) == 3
