"""Editable and protected files, paths that may not be written, hashes."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from kopt_kb.launch.project.file import ProjectFile
from kopt_kb.launch.project.paths import changed_files, hash_files, matches, path_fault, select, walk
from kopt_kb.launch.project.toml_file import ProjectFileError

Read = Callable[..., ProjectFile]


@pytest.mark.parametrize(
    ("glob", "path", "fits"),
    [
        ("ops/*.py", "ops/a.py", True),
        ("ops/*.py", "ops/deep/a.py", False),
        ("ops/**", "ops/deep/a.py", True),
        ("**/a.py", "a.py", True),
        ("**/a.py", "x/y/a.py", True),
        ("a?.py", "ab.py", True),
        ("a.py", "axpy", False),
    ],
)
def test_globs(glob: str, path: str, fits: bool) -> None:
    """`*` stays in a folder, `**` crosses folders, a dot is a dot."""
    assert matches((glob,), path) is fits


def test_walk_leaves_rubbish_and_workspaces_out(project_root: Path) -> None:
    """Caches, version control, tuning workspaces; a linked folder is one entry and is not entered."""
    for folder in (".git", "ops/__pycache__", "kernel_opt_x", "kernel_opt_mine"):
        (project_root / folder).mkdir()
        (project_root / folder / "file").write_text("x")
    (project_root / "kernel_opt_x" / "journal.jsonl").write_text("")
    (project_root / "linked").symlink_to(project_root / "ops")
    found = list(walk(project_root, ("benchmark/**",)))
    assert found == [
        "linked", "project.toml", "kernel_opt_mine/file", "ops/config.py", "ops/gemm.py", "ops/notes.txt",
        "tests/check_gemm.py",
    ]  # fmt: skip


def test_selection(read: Read, project_root: Path) -> None:
    """Files that commands name are protected although no glob says so."""
    found = select(read(('protected = ["tests/**", "benchmark/**"]', 'protected = ["project.toml"]')), project_root)
    assert found.editable == ("ops/config.py", "ops/gemm.py")
    assert found.protected == ("project.toml", "benchmark/bench_gemm.py", "tests/check_gemm.py")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"ops/*.py"', '"ops/*.cu"', "editable: ops/\\*.cu fits no file"),
        ('"tests/**"', '"test/**"', "protected: test/\\*\\* fits no file"),
        ('"ops/*.py"', '"**/*.py"', "is both editable and protected"),
        ('kernel_source = "ops/gemm.py"', 'kernel_source = "ops/absent.py"', "does not exist"),
        ("{python} tests/check_gemm.py", "{python} -m ops.config", "config.py is both .*a command or"),
        ("{python} tests/check_gemm.py", "{python} x.py --with=ops/config.py", "config.py is both .*a command or"),
        ('kernel_source = "ops/gemm.py"', 'kernel_source = "ops/notes.txt"', "is not editable"),
    ],
)
def test_what_a_selection_refuses(read: Read, project_root: Path, old: str, new: str, words: str) -> None:
    """Each names the key or the file."""
    with pytest.raises(ProjectFileError, match=words):
        select(read((old, new)), project_root)


def test_editable_files_are_plain_text(read: Read, project_root: Path) -> None:
    """No links, no bytes outside UTF-8, and a project that is there."""
    (project_root / "ops" / "link.py").symlink_to("gemm.py")
    with pytest.raises(ProjectFileError, match=r"link.py is editable and a link"):
        select(read(), project_root)
    (project_root / "ops" / "link.py").unlink()
    (project_root / "ops" / "raw.py").write_bytes(b"\xff")
    with pytest.raises(ProjectFileError, match=r"raw.py is editable and not UTF-8"):
        select(read(), project_root)
    with pytest.raises(ProjectFileError, match="does not exist"):
        select(read(), project_root / "absent")


def test_everything_below_a_named_folder_is_protected(read: Read, project_root: Path) -> None:
    """Except what is editable: kernels may lie beside their tests."""
    (project_root / "ops" / "data").mkdir()
    (project_root / "ops" / "data" / "golden.bin").write_text("x")
    found = select(read(("{python} tests/check_gemm.py", "pytest ops")), project_root)
    assert found.editable == ("ops/config.py", "ops/gemm.py")
    assert {"ops/data/golden.bin", "ops/notes.txt"} <= set(found.protected)


def test_what_a_protected_link_leads_to_is_protected(read: Read, project_root: Path, tmp_path: Path) -> None:
    """Files of the project by themselves; bytes outside are in the link's hash; an editable target is refused."""
    outside = tmp_path / "golden"
    outside.mkdir()
    (outside / "c.bin").write_text("right")
    (project_root / "data").mkdir()
    (project_root / "data" / "b.bin").write_text("x")
    (project_root / "tests" / "data").symlink_to("../data")
    (project_root / "tests" / "golden").symlink_to("../../golden")
    found = select(read(), project_root).protected
    assert {"data/b.bin", "tests/data", "tests/golden"} <= set(found)
    hashes = hash_files(project_root, found)
    assert changed_files(project_root, hashes) == ()
    (outside / "c.bin").write_text("wrong")
    assert changed_files(project_root, hashes) == ("tests/golden",)
    (project_root / "tests" / "kernel").symlink_to(project_root / "ops" / "gemm.py")
    with pytest.raises(ProjectFileError, match=r"ops/gemm.py is both editable and protected .* protected link"):
        select(read(), project_root)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("ops/gemm.py", ""),
        ("ops/new.py", ""),
        ("/etc/passwd", "no plain path"),
        ("ops/../tests/check_gemm.py", "no plain path"),
        ("./ops/gemm.py", "no plain path"),
        ("ops//gemm.py", "no plain path"),
        ("ops\\gemm.py", "no plain path"),
        ("ops/a\nb.py", "no plain path"),
        ("tests/check_gemm.py", "outside the editable paths"),
        (".git/hooks/x.py", "outside the editable paths"),
        ("ops/conftest.py", "how tests run"),
        ("linked/gemm.py", "through a link"),
        ("ops/gemm.py/x.py", "lies below a file"),
        ("ops/notes.txt/x.py", "lies below a file"),
        ("ops/deep.py", "is a folder"),
        (f"ops/{'x' * 260}.py", "too long"),
        (f"ops/{'é' * 130}.py", "too long"),
        ("ops/" + "x/" * 600 + "x.py", "too long"),
        ("ops/csv.py", "standard library's csv"),
        ("ops/run.py", "what a command runs"),
    ],
)
def test_paths_a_candidate_may_not_write(read: Read, project_root: Path, path: str, words: str) -> None:
    """Nothing outside, nothing that climbs, no link on the way, nothing that changes how tests run."""
    (project_root / "linked").symlink_to(project_root / "ops")
    (project_root / "ops" / "deep.py").mkdir()
    test = ("{python} tests/check_gemm.py", "PYTHONPATH=ops {python} -m run")
    project = read(('"ops/*.py"]', '"ops/**", "linked/*.py"]'), test)
    found = path_fault(project, path, ("ops/gemm.py",), project_root)
    assert (words in found) if words else not found


def test_hashes_find_changes(project_root: Path) -> None:
    """Changed, gone, or turned into a link."""
    paths = ("ops/gemm.py", "ops/config.py", "ops/notes.txt", "project.toml")
    hashes = hash_files(project_root, paths)
    assert changed_files(project_root, hashes) == ()
    (project_root / "ops" / "gemm.py").write_text("x")
    (project_root / "ops" / "config.py").unlink()
    copy = project_root / "copy"
    (project_root / "ops" / "notes.txt").rename(copy)
    (project_root / "ops" / "notes.txt").symlink_to(copy)
    assert changed_files(project_root, hashes) == paths[:3]


def test_a_pipe_in_place_of_a_file_has_changed(tmp_path: Path) -> None:
    """Nobody waits for its writer."""
    (tmp_path / "a.py").write_text("x")
    hashes = hash_files(tmp_path, ["a.py"])
    (tmp_path / "a.py").unlink()
    os.mkfifo(tmp_path / "a.py")
    assert changed_files(tmp_path, hashes) == ("a.py",)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        (f"ops/{256 * 'a'}.py", "too long"),
        (f"ops/{'é' * 130}.py", "too long"),
        (f"ops/{'a/' * 1000}x.py", "too long"),
        ("ops/gemm.py/x.py", "lies below a file"),
        ("ops/deep", "is a folder"),
    ],
)
def test_paths_that_no_copy_can_hold(read: Read, path: str, words: str) -> None:
    """They would fail only once the round has begun."""
    project = read(('["ops/*.py"]', '["ops/**"]'))
    assert words in path_fault(project, path, ["ops/gemm.py", "ops/deep/a.py"])
    assert path_fault(project, "ops/deep/b.py", ["ops/gemm.py", "ops/deep/a.py"]) == ""
