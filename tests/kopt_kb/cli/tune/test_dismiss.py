"""`kb tune dismiss` on a workspace without a ledger."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.cli.main import main


def test_a_workspace_without_versions_has_nothing_to_dismiss(
    tmp_path: Path, repo_root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line, exit 2; an accepted dismissal is tested with the policy that asks for it."""
    monkeypatch.chdir(tmp_path)
    demo = str(repo_root / "kernels" / "naive" / "softmax.py")
    words = ["--platform", "H200_SXM", "--framework", "Triton", "--kernel-demo", demo, "--op", "softmax"]
    assert main(["init", "soft", *words, "--shape", "64x64", "--dtype", "bf16"]) == 0
    capsys.readouterr()
    assert main(["tune", "dismiss", "kernel_opt_soft", "--opportunity", "v0:verdict:dram", "--reason", "a"]) == 2
    assert "is in no ledger of the best version; none is open" in capsys.readouterr().err
