"""Stored reference files import what has another name since."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

from kopt_kb.launch.compile.compat import MOVED, know_old_names
from kopt_kb.launch.compile.loader import load_module
from kopt_kb.launch.problems.torch_model import TorchModel

pytestmark = pytest.mark.torch

STORED = """class Model: ...
def get_inputs(): return []
def get_init_inputs(): return []

# ---- from here on: how kopt-kb makes a problem of the file above ----
from kopt_kb.kernels.problems.kernelbench import KernelBench as _kopt_kind

OP, make_inputs, reference, published, launcher, PROBLEM = _kopt_kind(dict(globals()), 'kernelbench_1').parts()
"""


def test_a_reference_file_of_before_is_loaded(tmp_path: Path) -> None:
    """Its last lines are as they were written."""
    (tmp_path / "reference.py").write_text(STORED)
    module = load_module(str(tmp_path / "reference.py"))
    assert module.OP == "kernelbench_1"
    assert isinstance(module.PROBLEM, TorchModel)


def test_every_old_name_leads_somewhere() -> None:
    """A rename that forgets this table fails here; the finder stands once."""
    for _ in range(2):
        know_old_names()
    assert sum(type(one).__name__ == "_OldNames" for one in sys.meta_path) == 1
    for module, names in MOVED.items():
        assert all(hasattr(importlib.import_module(module), name) for name in names)
