"""A copy holds the candidate's files in place of the editable ones, and no way back to the project."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from kopt_kb.services.project.file import ProjectFile
from kopt_kb.services.project.paths import hash_files, select
from kopt_kb.services.project.scratch import make_scratch

Read = Callable[..., ProjectFile]


def test_a_copy(read: Read, project_root: Path, tmp_path: Path) -> None:
    """Modes stay, absolute links into the project lead into the copy, left-out editable files are left out."""
    script = project_root / "benchmark" / "bench_gemm.py"
    script.chmod(0o755)
    (project_root / "inside").symlink_to(project_root / "ops")
    (project_root / "outside").symlink_to("/usr")
    (project_root / ".git").mkdir()
    (project_root / ".git" / "HEAD").write_text("x")
    project = read()
    protected = hash_files(project_root, select(project, project_root).protected)
    copy = make_scratch(
        project, project_root, tmp_path / "copy", {"ops/gemm.py": "x = 1\n", "ops/new.py": ""}, protected
    )
    assert (copy.folder / "ops/gemm.py").read_text() == "x = 1\n" and (copy.folder / "ops/new.py").is_file()
    assert not (copy.folder / "ops/config.py").exists() and not (copy.folder / ".git").exists()
    assert (copy.folder / "benchmark/bench_gemm.py").stat().st_mode & 0o777 == 0o755
    assert (copy.folder / "inside").resolve() == (copy.folder / "ops").resolve()
    assert (copy.folder / "outside").readlink() == Path("/usr")
    assert copy.disturbed() == ()
    (copy.folder / "tests/check_gemm.py").write_text("pass\n")
    (copy.folder / "ops/gemm.py").write_text("x = 2\n")
    assert set(copy.disturbed()) == {"tests/check_gemm.py", "ops/gemm.py"}
