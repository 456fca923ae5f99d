"""Shapes without a condition because their target would be shorter than a launch."""

from __future__ import annotations

from pathlib import Path

from kopt_kb.problem.problem import Problem
from kopt_kb.wiki.registry import Registry
from kopt_kb.workspace.targets.short import has_targets, too_short
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
