"""Operators of two runs; the command is in tests/packs/coordination/test_command_graph.py."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

from kopt_kb.packs.coordination.graph_steps import run_twice

SOURCE = """
import torch
def make_inputs(seed):
    return (torch.full((2, 2), float(seed)),)
def same(x):
    return x + 1
class Model:
    def __call__(self, x):
        return x[x > 0]
"""


@pytest.mark.torch
def test_what_two_runs_say(tmp_path: Path) -> None:
    """The same operators for two inputs; a class is made first; a mask gives shapes that differ."""
    file = tmp_path / "m.py"
    file.write_text(SOURCE)
    assert run_twice(str(file), "same") == {"operators": 1, "forbidden": {}, "changed": ""}
    assert run_twice(str(file), "Model")["operators"]
