"""The second compiler: one process for one job, started with `python -I` in a cage; it ends with its answer.

It imports this program and Triton. Files of the candidate it reads as text only.
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

from kopt_kb.base.wire import canonical, parse, read
from kopt_kb.doors.languages import language_named
from kopt_kb.launch.recompile.cuda_source import recompile_cuda
from kopt_kb.launch.recompile.job import ANSWER, RecompileAnswer, Recompiled, RecompileJob
from kopt_kb.launch.recompile.triton_source import recompile_triton
from kopt_kb.launch.record.code_request import OPTIONS, CodeRequest

__all__ = ["main", "recompiled"]

_MOST_DETAIL = 300
_TRACED = frozenset({"Triton", "Gluon"})


def recompiled(job: RecompileJob) -> RecompileAnswer:
    """Return what became of the requests of a job; each is made by its language."""
    made = {number: found for number, one in enumerate(job.requests) if (found := _refused(one))}
    asked = [number for number, one in enumerate(job.requests) if number not in made]
    traced = [number for number in asked if job.requests[number].language in _TRACED]
    versions: dict[str, str] = {}
    if traced:
        versions = recompile_triton(job, traced, made)
    for number in asked:
        if number not in made:
            made[number] = _by_language(job, number, job.requests[number])
    return RecompileAnswer(tuple(made[number] for number in range(len(job.requests))), versions)


def _by_language(job: RecompileJob, number: int, request: CodeRequest) -> Recompiled:
    if request.language == "CUDA":
        return recompile_cuda(job, number, request)
    language = language_named(request.language)
    if language is None or language.recompile is None:
        return Recompiled("", "language", f"nothing makes code objects of {request.language[:40]} again")
    return language.recompile(job, number, request)


def _refused(request: CodeRequest) -> Recompiled | None:
    """Return the refusal of a request whose options may replace the code."""
    strange = [*request.refused, *(name for name in request.options if name not in OPTIONS)]
    return Recompiled("", "option", f"compiled with {', '.join(sorted(strange))}"[:_MOST_DETAIL]) if strange else None


def main() -> None:
    """Do the job that stdin holds, and write its answer into the job's folder."""
    job = read(RecompileJob, parse(sys.stdin.buffer.read(), where="job"), where="job")
    warnings.simplefilter("ignore")
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    (Path(job.folder) / ANSWER).write_bytes(canonical(recompiled(job).to_json()))


if __name__ == "__main__":
    main()
