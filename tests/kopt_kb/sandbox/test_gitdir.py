"""Hostile repositories: nothing of theirs runs, nothing outside is read, whatever command meets them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from kopt_kb.sandbox.gitdir import GitError, git_dir_of
from kopt_kb.sandbox.gitrun import Git, repository_around

WHO = ("-c", "user.name=a", "-c", "user.email=a@b")


def git(folder: Path, *words: str) -> str:
    """Run the machine's own git, as whoever prepares the trap does."""
    done = subprocess.run(["git", "-C", str(folder), *WHO, *words], check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def trap(tmp_path: Path) -> Path:
    """A program that leaves a mark wherever it is run from."""
    program = tmp_path / "trap.sh"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path / 'sprung'}\ncat\n")
    program.chmod(0o755)
    return program


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with a commit and a file that changed since."""
    root = tmp_path / "theirs"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    (root / "kernel.py").write_text("import cuda.tile as ct\n")
    (root / "notes.txt").write_text("one\n")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "first")
    (root / "notes.txt").write_text("two\n")
    return root


def _setting(*names: str) -> Callable[[Path, Path], None]:
    def spring(root: Path, trap: Path) -> None:
        for name in names:
            git(root, "config", name, str(trap))

    return spring


def _filtered(where: str) -> Callable[[Path, Path], None]:
    def spring(root: Path, trap: Path) -> None:
        for kind in ("clean", "smudge", "process"):
            git(root, "config", f"filter.trap.{kind}", str(trap))
        for kind in ("textconv", "command"):
            git(root, "config", f"diff.trap.{kind}", str(trap))
        (root / where).parent.mkdir(exist_ok=True)
        (root / where).write_text("* filter=trap diff=trap merge=trap\n")
        os.utime(root / "kernel.py", (1, 1))

    return spring


def _hooks(root: Path, trap: Path) -> None:
    hooks = root / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("post-index-change", "reference-transaction", "post-checkout", "pre-commit", "fsmonitor-watchman"):
        (hooks / name).write_bytes(trap.read_bytes())
        (hooks / name).chmod(0o755)


def _included(root: Path, trap: Path) -> None:
    more = root.parent / "more.cfg"
    more.write_text(f'[core]\n\tfsmonitor = {trap}\n[filter "trap"]\n\tclean = {trap}\n')
    git(root, "config", "include.path", str(more))
    git(root, "config", f"includeIf.gitdir:{root.parent}/.path", str(more))
    (root / ".gitattributes").write_text("* filter=trap\n")


def _of_a_worktree(root: Path, trap: Path) -> None:
    git(root, "config", "extensions.worktreeConfig", "true")
    git(root, "config", "--worktree", "core.fsmonitor", str(trap))


def _submodule(root: Path, trap: Path) -> None:
    inner = root / "inner"
    inner.mkdir()
    git(inner, "init", "-q")
    git(inner, "config", "core.fsmonitor", str(trap))
    git(inner, "commit", "-q", "--allow-empty", "-m", "x")
    sha = git(inner, "rev-parse", "HEAD")
    git(root, "update-index", "--add", "--cacheinfo", f"160000,{sha},inner")
    (inner / "new").write_text("x")


TRAPS: dict[str, Callable[[Path, Path], None]] = {
    "fsmonitor": _setting("core.fsmonitor"),
    "programs": _setting("core.pager", "core.editor", "core.sshCommand", "gpg.program", "core.askPass", "alias.log"),
    "alternate refs": _setting("core.alternateRefsCommand", "uploadpack.packObjectsHook", "diff.external"),
    "hooks path": _setting("core.hooksPath"),
    "filters": _filtered(".gitattributes"),
    "filters of the repository": _filtered(".git/info/attributes"),
    "hooks": _hooks,
    "includes": _included,
    "settings of a worktree": _of_a_worktree,
    "submodule": _submodule,
}


def _sprung(root: Path) -> bool:
    return (root.parent / "sprung").exists()


@pytest.mark.parametrize("name", TRAPS)
def test_the_traps_work(name: str, repository: Path, trap: Path) -> None:
    """Most of them spring under a plain git, so that what follows shows something; the rest need a terminal."""
    TRAPS[name](repository, trap)
    for words in (["status"], ["diff"], ["log", "-1", "-p"], ["add", "-A"], ["update-ref", "refs/heads/x", "HEAD"]):
        subprocess.run(["git", "-C", str(repository), *WHO, *words], capture_output=True, check=False)
    assert _sprung(repository) or name in {"programs", "alternate refs", "hooks path"}


@pytest.mark.parametrize("name", TRAPS)
def test_nothing_of_a_strangers_repository_runs(name: str, repository: Path, trap: Path) -> None:
    """Reading, listing and writing through the one runner, with every kind of trap set."""
    TRAPS[name](repository, trap)
    (repository.parent / "sprung").unlink(missing_ok=True)
    runner = Git(repository)
    tip = runner.text("rev-parse", "HEAD")
    assert "notes.txt" in runner.text("status", "--porcelain")
    assert runner.text("log", "-1", "--format=%s") == "first"
    assert runner.run("cat-file", "blob", "HEAD:notes.txt") == b"one\n"
    runner.text("worktree", "list", "--porcelain")
    runner.text("ls-files")
    runner.ok("check-ignore", "--quiet", "--", "kernel.py")
    runner.run("update-ref", "refs/heads/new", tip)
    runner.run("symbolic-ref", "HEAD", "refs/heads/new")
    runner.run("reset", "--quiet", "--pathspec-from-file=-", "HEAD", feed=b"notes.txt\n")
    assert not _sprung(repository)
    assert git(repository, "rev-parse", "--abbrev-ref", "HEAD") == "new"


@pytest.mark.parametrize("part", ["objects", "refs", "HEAD", "packed-refs", "index", "objects/pack", "info/exclude"])
def test_a_part_that_is_a_link_is_refused(part: str, repository: Path, tmp_path: Path) -> None:
    """It would read a repository outside of the folder."""
    place, outside = repository / ".git" / part, tmp_path / "outside"
    if place.exists():
        place.rename(outside)
    else:
        outside.write_text("")
    place.symlink_to(outside)
    with pytest.raises(GitError, match="is no regular file"):
        Git(repository).text("log")


def test_a_repository_that_is_a_link_is_refused(repository: Path, tmp_path: Path) -> None:
    """Also where the whole `.git` is one."""
    other = tmp_path / "other"
    other.mkdir()
    (other / ".git").symlink_to(repository / ".git")
    with pytest.raises(GitError, match="is a link"):
        git_dir_of(other)


def test_borrowed_objects_are_refused(repository: Path, tmp_path: Path) -> None:
    """Alternates name a folder anywhere."""
    secret = tmp_path / "secret"
    secret.mkdir()
    git(secret, "init", "-q")
    git(secret, "commit", "-q", "--allow-empty", "-m", "secret")
    (repository / ".git/objects/info").mkdir(exist_ok=True)
    (repository / ".git/objects/info/alternates").write_text(f"{secret}/.git/objects\n")
    with pytest.raises(GitError, match="borrows objects"):
        Git(repository).text("cat-file", "-e", "HEAD")


def test_a_repository_without_refs_or_logs_is_read(repository: Path) -> None:
    """git packs them away; a bare one has no files beside its own."""
    git(repository, "pack-refs", "--all")
    assert Git(repository).text("rev-parse", "--abbrev-ref", "HEAD") == "main"
    bare = repository.parent / "bare.git"
    git(repository, "clone", "-q", "--bare", ".", str(bare))
    found = repository_around(bare)
    assert found is not None
    assert found.is_bare
    assert found.text("log", "-1", "--format=%s") == "first"
