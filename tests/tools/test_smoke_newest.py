"""The smoke set is skipped in words when no registry answers, and never when one answers something strange."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest


@pytest.mark.parametrize(
    ("answer", "code", "words"),
    [
        ("echo 'ERROR: No matching distribution' >&2; exit 1", 0, "SKIPPED: the package registry can't be asked"),
        ("echo 'nothing of use'", 1, "no version of triton in: nothing of use"),
    ],
)
def test_only_a_silent_registry_skips(tmp_path: Path, repo_root: Path, answer: str, code: int, words: str) -> None:
    """An environment whose pip answers this."""
    python = tmp_path / "newest" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\ncase "$*" in *" index "*) {answer};; *) exit 1;; esac\n')
    python.chmod(0o755)
    script = repo_root / "tools" / "smoke_newest.sh"
    done = subprocess.run(["bash", script, tmp_path, python.parent.parent], capture_output=True, text=True, check=False)
    assert (done.returncode, words in done.stdout + done.stderr) == (code, True), done.stdout + done.stderr
