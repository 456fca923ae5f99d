"""`kb verify`: right, wrong, and cheating kernels."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kopt_kb.cli.main import main

KERNEL = """
import torch
OP = "softmax"
def make_inputs(shape, dtype, device="cuda", seed=0):
    return (torch.randn(*shape, generator=torch.Generator().manual_seed(seed)),)
def reference(x):
    return torch.softmax(x.double(), -1)
def launch(x, *, config=None, out=None):
    out = torch.empty_like(x) if out is None else out
    return out.copy_(torch.softmax(x, -1) * FACTOR)
"""
WORDS = ["--shape", "4x8", "--dtype", "fp32", "--device", "cpu", "--seeds", "2"]


@pytest.mark.torch
@pytest.mark.parametrize(("factor", "code"), [("1", 0), ("1.01", 1)])
def test_kernel(tmp_path: Path, capsys: pytest.CaptureFixture[str], factor: str, code: int) -> None:
    """A right kernel is 0, one that is 1 % off is 1 with the reason."""
    path = tmp_path / "k.py"
    path.write_text(KERNEL.replace("FACTOR", factor))
    assert main(["verify", "kernel", str(path), *WORDS, "--json"]) == code
    found = json.loads(capsys.readouterr().out)
    assert (found["passed"], bool(found["reason"])) == (code == 0, code == 1)


def test_source(tmp_path: Path, capsys: pytest.CaptureFixture[str], repo_root: Path) -> None:
    """Findings with file and line; the package's kernel has none."""
    path = tmp_path / "k.py"
    path.write_text("def launch(a, b):\n    return a @ b\n")
    assert main(["verify", "source", str(path)]) == 1
    assert f"{path}:2: " in capsys.readouterr().out
    assert main(["verify", "source", str(repo_root / "kernels" / "rms_norm.py")]) == 0
    assert "no findings" in capsys.readouterr().out
    assert main(["verify", "source", str(repo_root / "kernels" / "rms_norm.py"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["findings"] == []


def test_bad_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An absent file and a file without an operation are named, exit 2."""
    assert main(["verify", "kernel", str(tmp_path / "none.py"), *WORDS]) == 2
    (tmp_path / "k.py").write_text("x = 1\n")
    assert main(["verify", "kernel", str(tmp_path / "k.py"), *WORDS]) == 2
    assert "--op" in capsys.readouterr().err
