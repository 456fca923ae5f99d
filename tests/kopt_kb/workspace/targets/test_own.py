"""Stop Conditions without a workspace are those that a workspace writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.problem.problem import Problem
from kopt_kb.problem.work import Work, work
from kopt_kb.wiki.registry import Platform, Registry
from kopt_kb.workspace.targets.conditions import AboveCeilingError
from kopt_kb.workspace.targets.own import stop_conditions
from kopt_kb.workspace.task import Task
from kopt_kb.workspace.workspace import Workspace

SHAPES = ["1024x4096", "4096x4096", "8x8"]


@pytest.fixture
def part(wiki_root: Path) -> Platform:
    """The invented product."""
    return Registry.open(wiki_root).platform("T10")


def test_they_are_those_of_a_workspace(part: Platform, wiki_root: Path, tmp_path: Path) -> None:
    """Condition by condition, floors too; the tiny shape has none in either."""
    kernel = tmp_path / "kernel.py"
    kernel.write_text("pass\n")
    task = Task("T10", "Triton", kernel, Problem.of("softmax", SHAPES, "fp16"))
    written = Workspace.create(tmp_path, "softmax", task, Registry.open(wiki_root)).stop_conditions()
    own = stop_conditions([work("softmax", shape, "fp16") for shape in SHAPES], part)
    assert own.conditions == written.conditions and len(own.conditions) == 2
    assert [shape for shape, _ in own.left_out] == ["8x8"]


def test_times_are_judged(part: Platform) -> None:
    """At the target, below it, below the floor, and of a shape without a condition."""
    own = stop_conditions([work("softmax", shape, "fp16") for shape in SHAPES], part)
    first, second = own.conditions
    met = own.judge({first.shape: float(first.latency_s), second.shape: float(second.latency_s) / 0.99})
    assert [one.met for one in met.judged] == [True, False]
    with pytest.raises(AboveCeilingError):
        own.judge({first.shape: first.floor_s / 2})
    assert own.judge({first.shape: "1s"}).judged[0].met is False
    with pytest.raises(BadInput, match="not a time"):
        own.judge({first.shape: 0.0})
    with pytest.raises(BadInput, match="shorter than"):
        own.judge({"8x8": 1e-3})


def test_an_unknown_roof_leaves_none_and_says_which_row(part: Platform) -> None:
    """bf16 is UNKNOWN there."""
    own = stop_conditions(Work.given(10**9, 10**9, "bf16", "matrix"), part)
    assert own.conditions == () and "peak_compute" in dict(own.left_out)["given"]


def test_pieces_of_one_shape_are_told_apart(part: Platform) -> None:
    """By their operation; the same twice is refused."""
    both = [work(op, "1024x4096", "fp16") for op in ("softmax", "layer_norm")]
    assert [one.shape for one in stop_conditions(both, part).conditions] == [
        "softmax 1024x4096",
        "layer_norm 1024x4096",
    ]
    with pytest.raises(BadInput, match="are both softmax 1024x4096"):
        stop_conditions(both[:1] * 2, part)
    with pytest.raises(BadInput, match="no work"):
        stop_conditions([], part)
