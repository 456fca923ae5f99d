"""`kb init` with a sentence, and with somebody at the terminal."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from kopt_kb.cli.main import main


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        """Say that a person is there."""
        return True


def test_a_sentence_in_place_of_options(tmp_path: Path, repo_root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is missing is listed with what was understood; options fill the gaps and win."""
    demo = str(repo_root / "kernels" / "naive" / "rms_norm.py")
    text = "rms_norm on H20 in Triton, 64x128"
    assert main(["init", "a", "--prompt", text, "--parent", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert "missing --kernel-demo, --dtype" in error
    assert "understood --platform H20, --framework Triton, --op rms_norm, --shape 64x128" in error
    rest = ["--kernel-demo", demo, "--dtype", "bf16", "--parent", str(tmp_path)]
    assert main(["init", "a", "--prompt", text, *rest]) == 0
    assert "shapes: 64x128" in (tmp_path / "kernel_opt_a" / "README.md").read_text()
    assert main(["init", "b", "--prompt", "rms_norm on H100 in Triton 64x128", *rest]) == 2
    assert "platform: H100 may be" in capsys.readouterr().err


def test_a_person_is_asked_for_stand_ins(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer is recorded and no part of a target; a part without published peaks gets what is known."""
    monkeypatch.setattr("sys.stdin", _Terminal("5 TB/s, by word of mouth\n\n\n\n\n\n\n\n"))
    words = [
        "--platform",
        "MI308X",
        "--op",
        "rms_norm",
        "--shape",
        "64x128",
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
    assert "UNKNOWN (gpu-wiki not found)" in error
    assert "no target: what is known stands in README.md" in out
    readme = (tmp_path / "kernel_opt_a" / "README.md").read_text()
    assert "by word of mouth" in readme
    assert "cu_count" in readme or "sm_count" in readme
    assert "target >= " not in readme
