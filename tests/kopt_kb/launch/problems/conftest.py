"""Reference files of small problems."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

torch = pytest.importorskip("torch")

from kopt_kb.launch.compile.loader import load_module  # noqa: E402
from kopt_kb.launch.problems.capsule import reference_file  # noqa: E402
from kopt_kb.launch.problems.find import read_problem  # noqa: E402
from kopt_kb.problem.tolerances import tolerance_of  # noqa: E402

KERNELBENCH = """
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, width, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.scale = nn.Linear(width, width)

    def forward(self, x, power):
        y = self.scale(x)
        return y / torch.sqrt(torch.mean(y ** power, dim=1, keepdim=True) + self.eps)


def get_inputs():
    return [torch.rand(8, 32), 2]


def get_init_inputs():
    return [32]
"""

ROPE = """
import torch


def reference(x, cos, sin):
    a, b = x.float().chunk(2, dim=-1)
    return torch.cat((a * cos - b * sin, a * sin + b * cos), dim=-1).to(x.dtype)
"""

TOML = """
[problem]
name = "rope"
file = "rope.py"
form = "SxD"
shapes = ["4x8", "6x16"]
dtype = "bf16"

[constants]
half = "D // 2"

[inputs]
x = "SxD"
cos = { shape = "Sxhalf", dtype = "fp32", draw = "angle" }
sin = { shape = "Sxhalf", dtype = "fp32", draw = "angle" }
"""


@pytest.fixture
def bench_file(tmp_path: Path) -> Path:
    """A KernelBench problem with weights and a scalar."""
    path = tmp_path / "7_Norm_.py"
    path.write_text(KERNELBENCH)
    return path


@pytest.fixture
def rope_file(tmp_path: Path) -> Path:
    """A problem of one's own."""
    folder = tmp_path / "rope"
    folder.mkdir()
    (folder / "rope.py").write_text(ROPE)
    (folder / "problem.toml").write_text(TOML)
    return folder / "problem.toml"


def loaded(path: Path, at: Path) -> ModuleType:
    """Return the reference module of a problem; one of classes is made as whoever reads such files makes it."""
    if path.suffix == ".py":
        limits = tolerance_of("fp32")
        at.write_bytes(reference_file(path.read_text(), "torch_model.TorchModel", path.stem, limits))
    else:
        at.write_bytes(read_problem(path).text)
    return load_module(str(at))


def candidate(text: str, at: Path) -> ModuleType:
    """Return a candidate's module."""
    at.write_text(text)
    return load_module(str(at))
