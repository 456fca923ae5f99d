"""Jobs on a problem, the same for a campaign's gates and for a bench: shapes, tolerance, fresh seeds, sizes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from kopt_kb.base.errors import MissingTool
from kopt_kb.base.wire import plain
from kopt_kb.launch.candidate.answers import Answer, Search, Unable
from kopt_kb.launch.candidate.job import Job, JobKind, Request, RunLimits
from kopt_kb.launch.candidate.source_config import with_chosen
from kopt_kb.problem.ops import trials as trials_of
from kopt_kb.problem.problem import Problem
from kopt_kb.problem.shapes import format_shape
from kopt_kb.tuning.options import Settings

__all__ = ["NO_GPU_FIX", "JobFiles", "Ran", "job_of", "refuse_missing", "winner_of"]

NO_GPU_FIX = "run on a machine with a GPU; --simulate needs another workspace, made with kb init"
"""What to do where nothing can be measured: simulated and measured rounds never share a workspace."""


@dataclass(frozen=True, slots=True)
class JobFiles:
    """Files of one job.

    Attributes:
        candidate: What is judged.
        reference: File whose inputs and reference judge, the workspace's first kernel; empty: the candidate's own.
        incumbent: What it is timed against; empty: itself.
    """

    candidate: bytes
    reference: bytes
    incumbent: bytes = b""


def job_of(
    kind: JobKind,
    problem: Problem,
    settings: Settings,
    repeats: int,
    sources: JobFiles,
) -> Job:
    """Return a job on a source; its seeds follow from the source and the campaign's seed.

    Args:
        kind: What to do.
        problem: Operation, shapes, storage type, tolerance.
        settings: Sizes of measurements.
        repeats: Medians a timing takes of each shape.
        sources: The candidate and the files it is held against.
    """
    trials = tuple(one.name for one in trials_of(problem.op))
    start = int.from_bytes(hashlib.sha256(sources.candidate + str(settings.seed).encode()).digest()[:4], "big")
    body = Request(
        op=problem.op,
        shapes=tuple(format_shape(shape) for shape in problem.shapes),
        dtype=problem.dtype,
        tolerance=problem.tolerance,
        seeds=tuple(start + at for at in range(settings.seeds)),
        repeats=repeats,
        samples=settings.samples,
        flush_bytes=settings.flush_bytes,
        evaluations=settings.evaluations,
        seconds=settings.search_s,
        seed=settings.seed,
        trials=trials if kind == "check" else None,
    )
    extra_s = settings.search_s if kind == "search" else 0.0
    limits = RunLimits(settings.run_s + extra_s, settings.resident_bytes)
    return Job(kind, sources.candidate, sources.incumbent, body, limits, sources.reference)


@dataclass(frozen=True, slots=True)
class Ran:
    """A finished run: how it ended, its answer if there is one, its id, what it printed."""

    outcome: str
    result: Answer | None
    run: str
    printed: str = ""

    def failure(self) -> str:
        """Return why there is no answer, or nothing."""
        if self.outcome == "ok":
            return ""
        last = self.printed.strip().splitlines()[-1][:200] if self.printed.strip() else ""
        return f"the run ended with {self.outcome}" + (f": {last}" if last else "")

    @property
    def unable(self) -> str:
        """Why the job was not done where it ran, or nothing."""
        return self.result.reason if isinstance(self.result, Unable) else ""


def refuse_missing(answer: Answer | None, fix: str = "run on a machine with a GPU") -> None:
    """Raise `MissingTool` when a job was not done because a tool or GPU is missing where it ran."""
    if isinstance(answer, Unable) and answer.missing is not None:
        raise MissingTool(answer.missing, fix=fix, code="KB122")


def winner_of(source: bytes, ran: Ran) -> tuple[bytes, Mapping[str, object]]:
    """Return the source with the best configuration of each shape, and what the search says of itself."""
    if not isinstance(ran.result, Search):
        return source, {"search": {"failed": ran.failure() or ran.unable}}
    chosen = {shape: best.config for shape, best in ran.result.shapes.items() if best.median_s is not None}
    file, configs = with_chosen(source, chosen)
    return file, {"configs": configs, "search": plain(ran.result.shapes)}
