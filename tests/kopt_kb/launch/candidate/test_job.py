"""Jobs and outcomes are plain data."""

from __future__ import annotations

from dataclasses import replace

from kopt_kb.base.wire import plain, read
from kopt_kb.launch.candidate.job import Job, Outcome, PruningRules, Request, SpaceAsked
from kopt_kb.problem.tolerances import tolerance_of


def test_a_request_travels_as_json() -> None:
    """With its tolerance, spaces and rules; what a project's commands need stays here."""
    spaces = {"2x4": SpaceAsked({"a": 1}, {"a": (1, 2)})}
    asked = Request(
        "softmax", ("2x4",), "fp32", tolerance_of("fp32"), (1,), spaces=spaces, pruning=PruningRules("sm_00")
    )
    assert read(Request, plain(asked)) == asked
    assert read(Request, plain(replace(asked, protected={"a": "b"}))) == asked


def test_defaults_are_empty() -> None:
    """An environment job needs no source; an outcome without a result has none."""
    job = Job("environment")
    assert (job.candidate, job.incumbent, job.body) == (b"", b"", Request())
    assert Outcome("hang", None, 9, 1.0).result is None
