"""MI308X has no data sheet: a simulated campaign of it rests on AMD's own measurement, and says so everywhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.cli.main import main
from kopt_kb.workspace.workspace import Workspace

INIT = "init norm --platform MI308X --framework Triton --kernel-demo op:naive/rms_norm --op rms_norm --shape 8192x4096 --dtype bf16"


def test_a_simulated_campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From init to a clean audit; nine tenths of 2003.45 GB/s, never called documented."""
    monkeypatch.delenv("KOPT_GPU_WIKI", raising=False)
    assert main([*INIT.split(), "--parent", str(tmp_path)]) == 0
    root = tmp_path / "kernel_opt_norm"
    readme = (root / "README.md").read_text()
    assert "memory-bound target >= 1.8031 TB/s, on the vendor's own measurement: nothing is documented" in readme
    assert "dram 2.00345 TB/s (vendor's own measurement, measured)" in readme
    assert main(["tune", "run", str(root), "--simulate", "--yes", "--max-rounds", "1"]) == 0
    (condition,) = Workspace.open(root).stop_conditions().conditions
    assert (condition.target, condition.is_documented, condition.floor_s) == (">= 1.8031 TB/s", False, 0.0)
    assert main(["audit", str(root)]) == 0
