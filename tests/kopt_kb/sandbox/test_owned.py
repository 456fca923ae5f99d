"""Folders of programs that were killed are removed by the next one; those of living ones stay."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from kopt_kb.sandbox.owned import owner_prefix, remove_orphans


def test_orphans_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of an ended process goes; ours, one of another machine and one of another program stay."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    code = (
        "import tempfile\nfrom kopt_kb.sandbox.owned import owner_prefix\n"
        f"print(tempfile.mkdtemp(prefix=owner_prefix('kb-audit-source-'), dir={str(tmp_path)!r}))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    orphan = Path(done.stdout.strip())
    (orphan / "project").mkdir()
    (orphan / "project" / "file").write_text("x")
    own = Path(tempfile.mkdtemp(prefix=owner_prefix("kb-project-")))
    strange = tmp_path / "kb-project-0123456789-1-1-abc"
    other = tmp_path / "kb-other"
    strange.mkdir()
    other.mkdir()
    remove_orphans()
    assert not orphan.exists()
    assert own.is_dir() and strange.is_dir() and other.is_dir()


def test_a_reused_pid_is_another_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The start time tells them apart."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    machine = owner_prefix("kb-run-").split("-")[2]
    folder = tmp_path / f"kb-run-{machine}-{os.getpid()}-1-abc"
    folder.mkdir()
    remove_orphans()
    assert not folder.exists()
