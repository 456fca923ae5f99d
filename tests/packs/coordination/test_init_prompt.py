"""`kb init` with a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.cli.main import main


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
