"""Shapes without a condition because their target would be shorter than a launch."""

from __future__ import annotations

from pathlib import Path

from kopt_kb.problem.problem import Problem
from kopt_kb.wiki.registry import Registry
from kopt_kb.workspace.targets.short import has_targets, too_short, without_condition
from kopt_kb.workspace.task import Task
from kopt_kb.workspace.workspace import Workspace


def test_a_tiny_shape_has_no_condition_and_says_than_what_it_is_shorter(tmp_path: Path) -> None:
    """It counts as answered; the large one beside it has its condition; without targets nothing is short."""
    problem = Problem.of("rms_norm", ["16x128", "8192x4096"], "bf16")
    task = Task(platform="H20", framework="Triton", kernel_demo=None, problem=problem)
    state = Workspace.create(tmp_path, "w", task, Registry.open()).state()
    assert list(too_short(state.targets)) == ["16x128"]
    assert too_short(state.targets)["16x128"]
    assert has_targets(state)
    assert too_short(None) == {}


def test_a_shape_whose_bound_is_unknown_has_none_and_says_so(tmp_path: Path) -> None:
    """Nobody prints how fast an MI308X multiplies: its README stood with an empty table and no word."""
    task = Task("MI308X", "", None, Problem.of("gemm", ["512x512x512"], "bf16"), allow_unknown=True)
    state = Workspace.create(tmp_path, "w", task, Registry.open()).state()
    assert without_condition(state) == {"512x512x512": "a value that its bound needs is UNKNOWN"}
    (text,) = (one.read_text() for one in tmp_path.glob("*/README.md"))
    assert "No condition for 512x512x512: a value that its bound needs is UNKNOWN." in text
