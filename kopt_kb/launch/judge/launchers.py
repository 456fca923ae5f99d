"""A candidate's launcher held against its records: what it has to do, on which shapes, and who runs it.

The run itself is `candidate.launcher_check`'s: a judge in one process, the launcher in a caged one. Where there is no
GPU the launcher runs on Triton's interpreter, on shapes that it runs in seconds, and only its results count.
"""

from __future__ import annotations

import math
import secrets
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from kopt_kb.launch.candidate.answers import Unable
from kopt_kb.launch.candidate.executor import ChildProcessExecutor
from kopt_kb.launch.candidate.job import Executor, Job, problem_of
from kopt_kb.launch.candidate.launcher_check import INTERPRETED_ELEMENTS
from kopt_kb.launch.candidate.launcher_run import ExpectedRun, LauncherRun
from kopt_kb.launch.judge.judging import Judging
from kopt_kb.launch.judge.shelf import Asked, Shelf
from kopt_kb.launch.kernel.declared import has_header
from kopt_kb.launch.record.model import LaunchRecord
from kopt_kb.problem.shapes import format_shape, parse_shape
from kopt_kb.sandbox.deadline import LATE_S

__all__ = ["Elsewhere", "LauncherRunners", "expected_of", "halved", "run_launcher", "small_shapes"]

_NEW_TRIES = 2
"""Shapes outside the problem that are tried."""


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Records of a candidate on other shapes than its problem's, and the job as its judge is given it.

    Attributes:
        job: The job.
        reference: File that judges.
        shelf: Makes records.
        judging: Judges them.
        ends_at: When it has to be over.
    """

    job: Job
    reference: Path
    shelf: Shelf
    judging: Judging
    ends_at: float

    def judged_job(self) -> Job:
        """Return the job with the file that judges and what is left of its seconds."""
        left_s = max(self.ends_at - time.monotonic(), LATE_S)
        limits = replace(self.job.limits, wall_s=left_s if math.isfinite(left_s) else 0.0)
        return replace(self.job, limits=limits, reference=self.reference.read_bytes())

    def right(self, shape: str) -> LaunchRecord | None:
        """Return the record of another shape, where the launcher makes one and the judge finds its results right."""
        job = self.job
        asked = Asked(job.candidate, shape, job.body.dtype, problem=problem_of(job))
        made = self.shelf.all([asked], self.ends_at)[0]
        record = made.record
        if record is None or record.not_replayable:
            return None
        return None if self.judging.check(made.folder, self.reference, 1, self.ends_at).problem else record


def _interpreter() -> Executor:
    return ChildProcessExecutor("cpu", env={"TRITON_INTERPRET": "1"})


@dataclass(frozen=True, slots=True)
class LauncherRunners:
    """Who runs launchers: on a GPU, and where there is none; None: nobody."""

    on_gpu: Executor | None = field(default_factory=ChildProcessExecutor)
    interpreter: Executor | None = field(default_factory=_interpreter)


def expected_of(record: LaunchRecord, *, is_new: bool = False) -> ExpectedRun:
    """Return what a record does, in the words of a launcher's run; its times are not known here."""
    entries = Counter(one.entry for one in record.launches)
    return ExpectedRun(dict(entries), len(record.steps) - len(record.launches), is_new=is_new)


def halved(shape: str, chance: secrets.SystemRandom) -> str:
    """Return a shape with one extent halved, chosen by chance; empty where none is even."""
    extents = list(parse_shape(shape))
    even = [place for place, extent in enumerate(extents) if extent % 2 == 0]
    if not even:
        return ""
    extents[chance.choice(even)] //= 2
    return format_shape(tuple(extents))


def small_shapes(shapes: Sequence[str]) -> dict[str, bool]:
    """Return shapes that the interpreter runs in seconds, and whether each is new: the largest extents are halved."""
    found: dict[str, bool] = {}
    for shape in shapes:
        extents = list(parse_shape(shape))
        while math.prod(extents) > INTERPRETED_ELEMENTS and max(extents) % 2 == 0:
            extents[extents.index(max(extents))] //= 2
        if math.prod(extents) <= INTERPRETED_ELEMENTS:
            text = format_shape(tuple(extents))
            found[text] = found.get(text, True) and text not in shapes
    return found


def run_launcher(
    job: Job,
    records: Mapping[str, LaunchRecord],
    right: Callable[[str], LaunchRecord | None],
    runners: LauncherRunners,
) -> LauncherRun:
    """Return what became of the launcher's one run.

    Args:
        job: The job; `expected` of its request holds the contest's times.
        records: Shape of the problem → its record.
        right: Returns the record of another shape where the launcher makes one there and the judge finds it right.
        runners: Who runs launchers.

    Raises:
        TimeoutError: It is not over within the job's seconds.
    """
    if has_header("", job.candidate):
        return LauncherRun("no", reason="the file's header is the launch: no launcher of its own runs", is_own=False)
    chance = secrets.SystemRandom()
    expected = {shape: _with_times(expected_of(record), job, shape) for shape, record in records.items()}
    reason = "nobody here runs launchers"
    if runners.on_gpu is not None:
        new = {halved(chance.choice(list(records)), chance) for _ in range(_NEW_TRIES)} - {"", *records}
        for shape in sorted(new):
            record = right(shape)
            if record is not None:
                expected[shape] = expected_of(record, is_new=True)
        found = _ran(job, expected, runners.on_gpu)
        if isinstance(found, LauncherRun):
            return found
        reason = found.reason
        if found.missing is None:  # there is a GPU
            return LauncherRun("no", reason=reason)
    if runners.interpreter is None:
        return LauncherRun("no", reason=reason)
    return _simulated(job, runners.interpreter, records, reason)


def _simulated(job: Job, interpreter: Executor, records: Mapping[str, LaunchRecord], why: str) -> LauncherRun:
    """Return what the interpreter says; a wrong result on a shape that no record is of refutes nothing."""
    shapes = small_shapes(list(records))
    if not shapes:
        return LauncherRun("no", reason=f"{why}; no shape is small enough for the interpreter")
    expected = {shape: ExpectedRun({}, is_new=is_new) for shape, is_new in shapes.items()}
    found = _ran(job, expected, interpreter)
    if not isinstance(found, LauncherRun):
        return LauncherRun("no", reason=f"{why}; on the interpreter: {found.reason}")
    if found.problem and all(shapes.values()):
        return replace(found, problem="", reason=f"{why}; on the interpreter: {found.problem}")
    return found


def _with_times(expected: ExpectedRun, job: Job, shape: str) -> ExpectedRun:
    timed = job.body.expected.get(shape)
    return expected if timed is None else replace(expected, least_s=timed.least_s, most_s=timed.most_s)


def _ran(job: Job, expected: Mapping[str, ExpectedRun], by: Executor) -> LauncherRun | Unable:
    outcome = by.run(replace(job, body=replace(job.body, expected=expected, trials=None)), lambda *_: None)
    if isinstance(outcome.result, LauncherRun | Unable):
        return outcome.result
    if outcome.outcome == "hang":  # the job's seconds are over: its own outcome, and no word on the launcher
        raise TimeoutError("the launcher's run is not over in time")
    last = outcome.printed.strip().splitlines()[-1:] or [""]
    return Unable(unavailable=f"its judge ended with {outcome.outcome}: {last[0][:200]}".rstrip(": "))
