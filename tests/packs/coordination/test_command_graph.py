"""`kb graph` as a user types it; the script is only as good as a machine without a GPU can show."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from kopt_kb.cli.main import main

MODEL = """
import torch
def make_inputs(seed):
    return (torch.randn(4, 4, generator=torch.Generator().manual_seed(seed)),)
def forward(x):
    return torch.relu(x @ x)
def branches(x):
    return hidden(x, x.sum())
def hidden(x, total):
    return x * 2 if float(total) > 0 else x.exp() + 1
"""


@pytest.mark.torch
def test_what_text_and_operators_say(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A branch that no text shows is seen by its operators."""
    file = tmp_path / "model.py"
    file.write_text(MODEL)
    assert main(["graph", "check", str(file), "--function", "branches", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert "aten._local_scalar_dense.default" in found["operators"]["forbidden"]
    assert main(["graph", "check", str(file), "--function", "nothing"]) == 2


def test_the_script_says_that_there_is_no_gpu(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 3 with a result, and no file is overwritten."""
    file, out = tmp_path / "model.py", tmp_path / "graph.py"
    file.write_text(MODEL)
    assert main(["graph", "write", str(file), "--out", str(out)]) == 0
    assert main(["graph", "write", str(file), "--out", str(out)]) == 2
    env = {"PATH": "/usr/bin:/bin", "CUDA_VISIBLE_DEVICES": ""}
    words = [sys.executable, str(out), "--out", str(tmp_path / "r")]
    done = subprocess.run(words, capture_output=True, env=env, check=False)
    assert done.returncode == 3, done.stderr[-300:]
    result = json.loads((tmp_path / "r" / "result.json").read_text())
    assert (result["decision"], result["trust"]) == ("not measured", "reported")
