"""The kernel of the example is right, and so are the edits that the agent makes of it, in Triton's interpreter."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.torch, pytest.mark.triton]

_CHECK = """
import importlib.util, sys, torch
spec = importlib.util.spec_from_file_location("kernel", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
for shape in ((7, 33), (3, 128)):
    (x,) = module.make_inputs(shape, "fp32", "cpu", 1)
    out = torch.full_like(x, float("nan"))
    module.launch(x, out=out)
    assert (out.double() - module.reference(x)).norm() <= 1e-5 * module.reference(x).norm()
"""


def _agent(repo_root: Path):
    spec = importlib.util.spec_from_file_location("softmax_agent", repo_root / "examples" / "softmax_agent.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_kernel_and_edits_are_right(repo_root: Path, tmp_path: Path) -> None:
    """All edits that fit, one after the other: each changes the file, and the last file computes softmax."""
    pytest.importorskip("torch")
    pytest.importorskip("triton")
    agent = _agent(repo_root)
    text = (repo_root / "examples" / "softmax_single_pass.py").read_text()
    files = [text]
    for _, _, old, new in agent.EDITS:
        if old in text:
            text = text.replace(old, new, 1)
            files.append(text)
    assert len(files) == 4
    environment = {**os.environ, "TRITON_INTERPRET": "1"}
    for number, source in enumerate((files[0], files[-1])):
        file = tmp_path / f"kernel{number}.py"
        file.write_text(source)
        done = subprocess.run(
            [sys.executable, "-c", _CHECK, str(file)], env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr[-1500:]
