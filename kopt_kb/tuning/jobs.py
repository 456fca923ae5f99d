"""Jobs on a problem, the same for a campaign's gates and for a bench: shapes, tolerance, fresh seeds, sizes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from kopt_kb.problem.problem import Problem
from kopt_kb.problem.shapes import format_shape
from kopt_kb.services.candidate_job import Job, JobKind, RunLimits
from kopt_kb.tuning.settings import Settings

__all__ = ["job_of"]


def job_of(
    kind: JobKind,
    problem: Problem,
    settings: Settings,
    repeats: int,
    source: bytes,
    incumbent: bytes = b"",
    more: Mapping[str, Any] | None = None,
) -> Job:
    """Return a job on a source; its seeds follow from the source and the campaign's seed.

    Args:
        kind: What to do.
        problem: Operation, shapes, storage type, tolerance.
        settings: Sizes of measurements.
        repeats: Medians a timing takes of each shape.
        source: The candidate.
        incumbent: What it is timed against; empty: itself.
        more: Further fields of the job's body.
    """
    start = int.from_bytes(hashlib.sha256(source + str(settings.seed).encode()).digest()[:4], "big")
    body = {
        "op": problem.op, "shapes": [format_shape(one) for one in problem.shapes], "dtype": problem.dtype,
        "tolerance": problem.tolerance.to_json(), "seeds": [start + at for at in range(settings.seeds)],
        "repeats": repeats, "samples": settings.samples, "flush_bytes": settings.flush_bytes,
        "evaluations": settings.evaluations, "seconds": settings.search_s, "seed": settings.seed, **(more or {}),
    }  # fmt: skip
    extra_s = settings.search_s if kind == "search" else 0.0
    return Job(kind, source, incumbent, body, RunLimits(settings.run_s + extra_s, settings.resident_bytes))
