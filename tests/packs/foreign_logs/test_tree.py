"""Folders, files and revisions are read under limits; nothing that is not regular is opened."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.packs.foreign_logs.tree import COMMIT, folders, open_tree


def _git(folder: Path, *words: str) -> str:
    env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    return subprocess.run(["git", *who, *words], cwd=folder, env=env, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Two commits; the branch `log` has one file more than the folder shows."""
    root = tmp_path / "repo"
    (root / "agent").mkdir(parents=True)
    _git(root, "init", "-q", "-b", "main")
    (root / "README.md").write_text("nothing\n")
    _git(root, "add", ".")
    _git(root, "commit", "-qm", "start")
    _git(root, "checkout", "-qb", "log")
    (root / "agent" / "log.md").write_text("| Round | speedup |\n|---|---|\n| 1 | 1.2 |\n")
    _git(root, "add", ".")
    _git(root, "commit", "-qm", "R1: speedup 1.2x")
    _git(root, "checkout", "-q", "main")
    return root


def test_a_revision_is_read_and_not_what_lies_there(repository: Path) -> None:
    """Also from a bare copy; commits are looked up."""
    head = _git(repository, "rev-parse", "log").strip()
    for place in (repository, repository / ".git"):
        tree = open_tree(place, rev="log", under="agent", commits="main..log")
        assert tree.commit == head
        assert tree.names == {"agent/log.md"}
        assert set(tree.texts) == {"agent/log.md", f"{COMMIT}{head}"}
        assert tree.has_commit(head[:9])
        assert not tree.has_commit("0123456789abcdef")
    assert not open_tree(repository).texts.keys() & {"agent/log.md"}
    assert open_tree(repository / ".git").names == {"README.md"}  # no revision named: the one it is at
    with pytest.raises(BadInput, match="at log: has no folder 'nowhere'"):
        open_tree(repository, rev="log", under="nowhere")


def test_words_that_git_could_take_for_options_are_refused(repository: Path, tmp_path: Path) -> None:
    """A revision and a range are names."""
    for words in ({"rev": "--help"}, {"rev": "nowhere"}, {"commits": "--output=x"}):
        with pytest.raises(BadInput):
            open_tree(repository, **words)  # type: ignore[arg-type]
    (tmp_path / "plain").mkdir()
    with pytest.raises(BadInput, match="no git repository"):
        open_tree(tmp_path / "plain", rev="main")


def test_what_is_not_regular_is_named_and_not_opened(tmp_path: Path) -> None:
    """A fifo would wait for ever, a link may lead anywhere."""
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / "link.md").symlink_to("/etc/hostname")
    (tmp_path / "binary.json").write_bytes(b"\0\1")
    (tmp_path / "lfs.csv").write_text("version https://git-lfs.github.com/spec/v1\n")
    (tmp_path / "big.log").write_bytes(b"x" * ((4 << 20) + 1))
    (tmp_path / "log.md").write_text("a\r\nb\n")
    tree = open_tree(tmp_path)
    assert tree.texts == {"log.md": "a\nb\n"}
    assert {one.file for one in tree.unread} == {"pipe.md", "link.md", "binary.json", "lfs.csv", "big.log"}


def test_a_device_and_nothing_are_refused(tmp_path: Path) -> None:
    """With the place."""
    for place in (Path("/dev/zero"), tmp_path / "nothing"):
        with pytest.raises(BadInput):
            open_tree(place)


def test_folders_know_what_lies_below_them() -> None:
    """At every depth."""
    found = folders(frozenset({"a/b/c.py"}))
    assert (found["a"], found["a/b"]) == (["a/b/c.py"], ["a/b/c.py"])
