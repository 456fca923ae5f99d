"""test_kernel.py of a new workspace: what a campaign would judge, by pytest or by itself."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kopt_kb.cli.main import main

DEMO = """
OP = "softmax"
def make_inputs(shape, dtype, device="cuda", seed=0):
    import torch
    return {"x": torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float32)}
def reference(x):
    import torch
    return torch.softmax(x.double(), -1)
def launch(x, *, config=None, out=None):
    import torch
    out = torch.empty_like(x) if out is None else out
    raised = (x - x.amax(-1, keepdim=True)).exp()
    return out.copy_(raised / raised.sum(-1, keepdim=True))
"""


@pytest.mark.torch
def test_it_says_the_largest_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With PASS: the verdict is that of `kb verify kernel`."""
    demo = tmp_path / "demo.py"
    demo.write_text(DEMO)
    words = [
        "--platform",
        "H20",
        "--framework",
        "Other",
        "--shape",
        "4x8",
        "--dtype",
        "fp32",
        "--parent",
        str(tmp_path),
    ]
    assert main(["init", "s", *words, "--kernel-demo", str(demo)]) == 0, capsys.readouterr().err
    root = tmp_path / "kernel_opt_s"
    command = [sys.executable, str(root / "test_kernel.py"), "cpu"]
    good = subprocess.run(command, capture_output=True, text=True, check=False)
    assert good.returncode == 0, good.stderr[-500:]
    assert "4x8: max rel_err" in good.stdout
    assert "PASS" in good.stdout
    assert "FAIL" not in good.stdout
