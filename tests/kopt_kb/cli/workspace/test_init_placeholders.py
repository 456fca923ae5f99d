"""Somebody at the terminal of `kb init`."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from kopt_kb.cli.main import main


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        """Say that a person is there."""
        return True


def test_a_person_is_asked_for_stand_ins(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer is recorded and no part of a target; a part without published peaks gets what is known."""
    monkeypatch.setattr("sys.stdin", _Terminal("5 TB/s, by word of mouth\n\n\n\n\n\n\n\n"))
    words = [
        "--platform",
        "MI308X",
        "--op",
        "gemm",
        "--shape",
        "4096x4096x4096",
        "--dtype",
        "bf16",
        "--parent",
        str(tmp_path),
    ]
    assert main(["init", "a", *words]) == 4
    assert "--allow-unknown makes a workspace of what is known" in capsys.readouterr().err
    monkeypatch.setattr("sys.stdin", _Terminal("5 TB/s, by word of mouth\n\n\n\n\n\n\n\n"))
    assert main(["init", "a", *words, "--allow-unknown"]) == 4
    out, error = capsys.readouterr()
    assert "memory_bandwidth: UNKNOWN (no source gives it)" in error and "not found" not in error
    assert "no target: what is known stands in README.md" in out
    readme = (tmp_path / "kernel_opt_a" / "README.md").read_text()
    assert "by word of mouth" in readme
    assert "cu_count" in readme or "sm_count" in readme
    assert "compute-bound target: UNKNOWN" in readme and "| 4096x4096x4096 |" not in readme
