"""Jobs say all of the problem; seeds follow from the source."""

from __future__ import annotations

from kopt_kb.problem.problem import Problem
from kopt_kb.tuning.jobs import JobFiles, job_of
from kopt_kb.tuning.options import Settings

PROBLEM = Problem.of("softmax", ["4x8"], "fp32")


def test_the_body_carries_problem_and_sizes() -> None:
    """Two seeds in a row, the limit of one run, fields of the problem."""
    sources = JobFiles(b"x = 1\n", b"r")
    job = job_of("check", PROBLEM, Settings(run_s=7.0, samples=9), 3, sources)
    body = job.body
    assert (body.op, body.shapes, body.dtype) == ("softmax", ("4x8",), "fp32")
    assert (body.repeats, body.samples, body.seeds[1] - body.seeds[0]) == (3, 9, 1)
    assert (job.limits.wall_s, job.incumbent, job.reference) == (7.0, b"", b"r")


def test_seeds_change_with_source_and_seed() -> None:
    """The same source and seed repeat them."""

    def seeds(source: bytes, seed: int) -> list[int]:
        return list(job_of("check", PROBLEM, Settings(seed=seed), 3, JobFiles(source, b"")).body.seeds)

    assert seeds(b"a", 0) == seeds(b"a", 0)
    assert len({seeds(b"a", 0)[0], seeds(b"b", 0)[0], seeds(b"a", 1)[0]}) == 3


def test_a_search_may_take_its_seconds_longer() -> None:
    """The wall limit of the child grows by the search's budget."""
    assert job_of("search", PROBLEM, Settings(run_s=5.0, search_s=60.0), 1, JobFiles(b"", b"")).limits.wall_s == 65.0
