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
from kopt_kb.launch.recompile.job import ANSWER, RecompileAnswer, Recompiled, RecompileJob
from kopt_kb.launch.record.code_request import OPTIONS, CodeRequest

__all__ = ["main", "recompiled"]

_MOST_DETAIL = 300


def recompiled(job: RecompileJob) -> RecompileAnswer:
    """Return what became of the requests of a job; each is made by its language, one language after another."""
    made = {number: found for number, one in enumerate(job.requests) if (found := _refused(one))}
    by_language: dict[str, list[int]] = {}
    for number, one in enumerate(job.requests):
        if number not in made:
            by_language.setdefault(one.language, []).append(number)
    versions: dict[str, str] = {}
    for name, numbers in by_language.items():
        language = language_named(name)
        if language is None or language.recompile is None:
            why = f"nothing makes code objects of {name[:40]} again"
            made |= dict.fromkeys(numbers, Recompiled("", "language", why))
            continue
        found, used = language.recompile(job, numbers)
        made |= found
        versions |= used
    return RecompileAnswer(tuple(made[number] for number in range(len(job.requests))), versions)


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
