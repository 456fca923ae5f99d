"""Commands that take a folder meet repositories of strangers: no program of theirs runs."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

import pytest

from kopt_kb.cli.main import main
from tests.kopt_kb.sandbox.test_gitdir import TRAPS, repository, trap

__all__ = ["repository", "trap"]

INIT = "--platform H20 --framework Triton --kernel-demo op:naive/rms_norm --op rms_norm --shape 512x512 --dtype bf16"


def _kb(*words: str) -> int:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        return main(list(words))


@pytest.mark.parametrize("name", TRAPS)
def test_reading_commands_run_nothing(name: str, repository: Path, trap: Path, repo_root: Path) -> None:
    """Folders whose files are judged: as a log, a kernel's folder, a text."""
    (repository / "kernel.py").write_bytes((repo_root / "kernels/cutile/rms_norm.py").read_bytes())
    TRAPS[name](repository, trap)
    mark = repository.parent / "sprung"
    mark.unlink(missing_ok=True)
    assert _kb("cutile", "check", str(repository)) in {0, 1}
    assert _kb("audit", str(repository)) in {0, 1, 2}
    assert _kb("audit", str(repository), "--rev", "HEAD") in {0, 1, 2}
    assert _kb("lint-text", str(repository / "notes.txt")) in {0, 1}
    assert not mark.exists()


@pytest.mark.parametrize("name", TRAPS)
def test_a_workspace_with_a_strangers_repository_runs_nothing(name: str, trap: Path, tmp_path: Path) -> None:
    """Its campaign goes on, its commits are made, and what the repository says to start is not started."""
    assert _kb("init", "w", *INIT.split(), "--parent", str(tmp_path)) == 0
    workspace = tmp_path / "kernel_opt_w"
    TRAPS[name](workspace, trap)
    mark = tmp_path / "sprung"
    mark.unlink(missing_ok=True)
    where = str(workspace)
    assert _kb("tune", "run", where, "--simulate", "--yes", "--budget-rounds", "1") in {0, 1}
    assert _kb("render", where) == 0
    assert _kb("tune", "status", where) in {0, 1}
    assert _kb("audit", where) in {0, 1}
    assert _kb("tune", "bundle", where, "--output", str(tmp_path / "w.kbb")) in {0, 1}
    assert not mark.exists()
