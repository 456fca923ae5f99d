"""Files of a commit are written as they are: no attribute, filter or link of a repository has a say."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.sandbox import git_tree
from kopt_kb.sandbox.git_tree import commit_named, write_commit
from kopt_kb.sandbox.gitrun import Git


@pytest.fixture
def git(tmp_path: Path) -> Git:
    """A repository with two commits."""
    root = tmp_path / "project"
    (root / "kernels").mkdir(parents=True)
    found = Git(root)
    found.run("init", "--quiet")
    (root / ".gitattributes").write_text("*.py export-ignore filter=lfs\n")
    (root / "kernels" / "one.py").write_bytes(b"first\n")
    (root / "link").symlink_to("/etc/passwd")
    found.run("add", "-A")
    found.run("commit", "--quiet", "-m", "first")
    (root / "kernels" / "one.py").write_bytes(b"second\n\x00")
    (root / "kernels" / "two.py").write_bytes(b"")
    found.run("add", "-A")
    found.run("commit", "--quiet", "-m", "second")
    return found


def test_both_commits_are_written(git: Git, tmp_path: Path) -> None:
    """Byte for byte, what the attributes leave out of archives too; links are left out."""
    for name, files in (("HEAD~1", {"one.py": b"first\n"}), ("HEAD", {"one.py": b"second\n\x00", "two.py": b""})):
        folder = tmp_path / name
        folder.mkdir()
        write_commit(git, commit_named(git, name), folder)
        assert {one.name: one.read_bytes() for one in (folder / "kernels").iterdir()} == files
        assert not (folder / "link").is_symlink()


@pytest.mark.parametrize("name", ["", "--all", "nothing", "HEAD:kernels"])
def test_what_is_no_commit(git: Git, name: str) -> None:
    """An option, a file, nothing."""
    assert commit_named(git, name) == ""


def test_what_is_too_large(git: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A large file is left out, a large tree refused."""
    monkeypatch.setattr(git_tree, "_MOST_FILE_BYTES", 7)
    folder = tmp_path / "made"
    folder.mkdir()
    write_commit(git, "HEAD", folder)
    assert not (folder / "kernels" / "one.py").exists() and (folder / "kernels" / "two.py").exists()
    monkeypatch.setattr(git_tree, "_MOST_FILES", 0)
    with pytest.raises(BadInput, match="more than 0 files"):
        write_commit(git, "HEAD", folder)


@pytest.mark.parametrize("name", [b"/etc/one", b"a/../../one", b""], ids=["absolute", "above", "empty"])
def test_names_outside_are_refused(name: bytes, git: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """git writes no such tree; a hostile repository may hold one."""
    line = b"100644 blob " + b"0" * 40 + b" 1\t" + name + b"\0"
    monkeypatch.setattr(Git, "run", lambda *_, **__: line)
    with pytest.raises(BadInput, match="a tree names"):
        write_commit(git, "HEAD", tmp_path)
