"""What of a project differs from a commit of its repository."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from kopt_kb.sandbox.gitrun import Git, GitError
from kopt_kb.tuning.tested_tree import TreeFile, differing_files


def _git(folder: Path, *words: str) -> str:
    own = ["-c", "user.name=a", "-c", "user.email=a@b"]
    return subprocess.run(["git", *own, *words], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture(params=["sha1", "sha256"])
def repository(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A repository with a file, by either hash."""
    _git(tmp_path, "init", "-q", "-b", "main", f"--object-format={request.param}")
    (tmp_path / "k.py").write_text("x = 1\n")
    _git(tmp_path, "add", "-A")
    _git(tmp_path, "commit", "-qm", "first")
    return tmp_path


def test_a_clean_tree_differs_in_nothing(repository: Path) -> None:
    """And a changed mode or content is a difference."""
    git = Git(repository)
    assert differing_files(git, "HEAD", repository, ()) == {}
    (repository / "k.py").chmod(0o755)
    assert differing_files(git, "HEAD", repository, ()) == {"k.py": TreeFile(b"x = 1\n", b"100755")}


def test_what_a_filter_stores_is_left_as_it_is(repository: Path) -> None:
    """A repository may store a pointer where the disk holds the data."""
    (repository / ".gitattributes").write_text("*.py filter=lfs\n")
    (repository / "k.py").write_text("x = 2\n")
    assert list(differing_files(Git(repository), "HEAD", repository, ())) == [".gitattributes"]


def test_data_is_not_committed_for_its_owner(repository: Path) -> None:
    """A file of 17 MiB is refused with what to do."""
    with (repository / "weights.bin").open("wb") as file:
        file.truncate(17 << 20)
    with pytest.raises(GitError, match=r"weights\.bin differs from the commit and has 17 MiB"):
        differing_files(Git(repository), "HEAD", repository, ())
    assert differing_files(Git(repository), "HEAD", repository, ("*.bin",)) == {}
