"""A problem outside the list keeps its shapes and work through a journal."""

from __future__ import annotations

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.problem.counts import Count, FlopCount, dram
from kopt_kb.problem.own import OwnProblem
from kopt_kb.problem.problem import Problem, recorded_problem
from kopt_kb.problem.tolerances import tolerance_of
from kopt_kb.problem.work import Work


def own() -> OwnProblem:
    """Two shapes, the second a lower bound."""
    works = tuple(
        Work("scan", shape, "bf16", (FlopCount("fp32", "vector", Count(shape[0], kind)),), dram(8, 4))
        for shape, kind in (((4, 2), "exact"), ((8, 2), "lower"))
    )
    return OwnProblem("problem.toml", "problem.toml", "MxN", "ab" * 32, "counted", works, notes=("no bytes",))


def test_it_is_the_same_after_it_was_written() -> None:
    """Works, bounds, notes and the reference's hash."""
    problem = Problem.of_own("scan", own(), "bf16", tolerance_of("bf16"))
    again = recorded_problem(problem.to_json())
    assert again == problem
    assert [one.flops[0].useful.exactness for one in again.works()] == ["exact", "lower"]


def test_only_its_own_shapes_have_work() -> None:
    """Nothing is known of another one; the fix names those that there are."""
    problem = Problem.of_own("scan", own(), "bf16", tolerance_of("bf16"))
    assert problem.with_shapes(["8x2"]).shape_names == ("8x2",)
    with pytest.raises(BadInput, match="no shape 16x2") as caught:
        problem.with_shapes(["16x2"])
    assert "4x2, 8x2" in caught.value.fix
    with pytest.raises(BadInput, match="twice"):
        problem.with_shapes(["8x2", "8x2"])
