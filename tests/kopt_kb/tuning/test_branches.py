"""Commits on a branch of a project's repository that write neither index nor files."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from kopt_kb.sandbox.gitrun import repository_around
from kopt_kb.tuning.branches import commit_version
from kopt_kb.workspace.journal.campaign_events import CampaignNamed


def _git(folder: Path, *words: str) -> str:
    own = ["-c", "user.name=a", "-c", "user.email=a@b"]
    return subprocess.run(["git", *own, *words], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def project(tmp_path: Path) -> tuple[Path, CampaignNamed]:
    """A project two folders below the top of a repository, and a campaign's names."""
    root = tmp_path / "a" / "b"
    (root / "ops").mkdir(parents=True)
    (root / "ops" / "k.py").write_text("x = 1\n")
    (root / "run.sh").write_text("true\n")
    (root / "run.sh").chmod(0o755)
    _git(tmp_path, "init", "-q", "-b", "main")
    _git(tmp_path, "add", "-A")
    _git(tmp_path, "commit", "-qm", "first")
    head = _git(tmp_path, "rev-parse", "HEAD")
    return root, CampaignNamed("c", "gemm", "CK", "HIP", "repo", True, "optimize/c", head, {}, "", (), "")


def test_a_version_is_committed_once(project: tuple[Path, CampaignNamed]) -> None:
    """Below the top, new folders too, modes kept; the same event makes no second commit."""
    root, named = project
    files = {"ops/k.py": "x = 2\n", "new/deep/e.py": "", "run.sh": "false\n"}
    assert "optimize/c is " in commit_version(root, named, files, "V1: faster", "ab" * 32)
    assert "already" in commit_version(root, named, files, "V1: faster", "ab" * 32)
    commit_version(root, named, {"ops/k.py": "x = 3\n"}, "V2", "cd" * 32)
    assert _git(root, "log", "--format=%s", "optimize/c") == "V2\nV1: faster\nfirst"
    assert _git(root, "show", "optimize/c:a/b/ops/k.py") == "x = 3"
    assert _git(root, "ls-tree", "optimize/c", "run.sh").startswith("100755 ")
    assert _git(root, "show", "optimize/c:a/b/new/deep/e.py") == ""
    assert _git(root, "status", "--porcelain") == ""
    assert (root / "ops" / "k.py").read_text() == "x = 1\n"


def test_a_branch_that_is_checked_out_is_left_alone(project: tuple[Path, CampaignNamed], tmp_path: Path) -> None:
    """Also in another worktree; and where there is no repository, or the start is gone, the line says so."""
    root, named = project
    _git(root, "worktree", "add", "-q", "-b", "optimize/c", str(tmp_path.parent / f"{tmp_path.name}_wt"))
    assert "is checked out" in commit_version(root, named, {"ops/k.py": "x = 2\n"}, "V1", "ab" * 32)
    other = repository_around(tmp_path.parent / f"{tmp_path.name}_wt")
    assert other is not None
    assert other.text("rev-parse", "HEAD") == named.upstream
    gone = replace(named, git_branch="optimize/d", upstream="0" * 40)
    assert commit_version(root, gone, {"ops/k.py": "x"}, "V1", "ab" * 32).startswith("no branch shows V1: ")


def test_versions_stand_on_the_tree_that_was_tested(project: tuple[Path, CampaignNamed]) -> None:
    """Edited, new, removed and linked files are on the branch before the first version; ignored and strange ones not."""
    root, named = project
    (root / "bench.py").write_text("timed\n")
    (root / "link").symlink_to("bench.py")
    (root / "run.sh").write_text("false\n")
    (root.parent / "beside.py").write_text("not of the project\n")
    (root / ".gitignore").write_text("*.so\n")
    (root / "built.so").write_bytes(b"\0")
    (root / "data.bin").write_bytes(b"excluded")
    (root / "ops" / "old.py").write_text("x\n")
    _git(root, "add", "ops/old.py")
    _git(root, "commit", "-qm", "second")
    (root / "ops" / "old.py").unlink()
    before = replace(named, upstream=_git(root, "rev-parse", "HEAD"))
    status = _git(root, "status", "--porcelain")
    commit_version(root, before, {"ops/k.py": "x = 2\n"}, "V1", "ab" * 32, ("*.bin",))
    assert _git(root, "log", "--format=%s", "optimize/c") == "V1\nThe project as it was tested\nsecond\nfirst"
    assert _git(root, "ls-tree", "-r", "--name-only", "optimize/c", ".").split() == [
        ".gitignore", "bench.py", "link", "ops/k.py", "run.sh"
    ]  # fmt: skip
    assert _git(root, "show", "optimize/c:a/b/run.sh") == "false"
    assert [_git(root, "ls-tree", "optimize/c", one).split()[0] for one in ("link", "run.sh")] == ["120000", "100755"]
    assert _git(root, "ls-tree", "--full-tree", "--name-only", "optimize/c", "a/") == "a/b"
    assert _git(root, "status", "--porcelain") == status


def test_a_branch_of_another_campaign_is_left_alone(project: tuple[Path, CampaignNamed]) -> None:
    """Two campaigns that were given one branch: the second's versions are not put on the first's."""
    root, named = project
    commit_version(root, named, {"ops/k.py": "x = 2\n"}, "V1", "ab" * 32)
    tip = _git(root, "rev-parse", "optimize/c")
    said = commit_version(root, replace(named, name="d"), {"ops/k.py": "x = 3\n"}, "V1", "cd" * 32)
    assert said == "no branch shows V1: the last commit of optimize/c is not of campaign d"
    assert _git(root, "rev-parse", "optimize/c") == tip
