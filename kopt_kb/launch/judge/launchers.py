"""A candidate's launcher held against its records: what it has to do, on which shapes, and who runs it.

The run itself is `candidate.launcher_check`'s: a judge in one process, the launcher in a caged one. Where there is no
GPU the launcher runs on Triton's interpreter, on shapes that it runs in seconds, and only its results count.
"""

from __future__ import annotations

import math
import secrets
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from kopt_kb.launch.candidate.answers import Unable
from kopt_kb.launch.candidate.job import Executor, Job, problem_of
from kopt_kb.launch.candidate.launcher_check import INTERPRETED_ELEMENTS
from kopt_kb.launch.candidate.launcher_executor import LauncherExecutor
from kopt_kb.launch.candidate.launcher_run import ExpectedRun, LauncherRun
from kopt_kb.launch.judge.judging import Judging
from kopt_kb.launch.judge.makers import Made
from kopt_kb.launch.judge.shelf import Asked, Shelf
from kopt_kb.launch.kernel.declared import has_header
from kopt_kb.launch.record.model import LaunchRecord
from kopt_kb.problem.shapes import format_shape, parse_shape
from kopt_kb.sandbox.deadline import LATE_S

__all__ = [
    "Elsewhere",
    "LauncherRunners",
    "asked_on",
    "expected_of",
    "halvings",
    "new_shapes",
    "run_launcher",
    "small_shapes",
]

_NEW = 2
"""Most shapes outside the problem."""


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Records of a candidate on other shapes than its problem's, and the job as its judge is given it.

    Attributes:
        job: The job.
        new: The other shapes.
        reference: File that judges.
        shelf: Makes records.
        judging: Judges them.
        ends_at: When it has to be over.
    """

    job: Job
    new: tuple[str, ...]
    reference: Path
    shelf: Shelf
    judging: Judging
    ends_at: float

    def judged_job(self) -> Job:
        """Return the job with the file that judges and what is left of its seconds."""
        left_s = max(self.ends_at - time.monotonic(), LATE_S)
        limits = replace(self.job.limits, wall_s=left_s if math.isfinite(left_s) else 0.0)
        return replace(self.job, limits=limits, reference=self.reference.read_bytes())

    def records(self) -> dict[str, LaunchRecord]:
        """Return shape → its record, of the other shapes on which the launcher makes one."""
        found = {shape: one.record for shape, one in self._made(self.new).items()}
        return {shape: one for shape, one in found.items() if one is not None and not one.not_replayable}

    def is_right(self, shape: str) -> bool:
        """Return whether the judge finds the record of another shape right."""
        folder = self._made([shape])[shape].folder
        return not self.judging.check(folder, self.reference, 1, self.ends_at).problem

    def _made(self, shapes: Sequence[str]) -> dict[str, Made]:
        asked = asked_on(self.job, shapes)
        return dict(zip(shapes, self.shelf.all(asked, self.ends_at), strict=True))


def asked_on(job: Job, shapes: Sequence[str]) -> list[Asked]:
    """Return the records of a job's candidate on some shapes."""
    return [Asked(job.candidate, shape, job.body.dtype, problem=problem_of(job)) for shape in shapes]


def _interpreter() -> Executor:
    return LauncherExecutor("cpu", {"TRITON_INTERPRET": "1"})


@dataclass(frozen=True, slots=True)
class LauncherRunners:
    """Who runs launchers: on a GPU, and where there is none; None: nobody.

    Attributes:
        on_gpu: Runs them on a GPU.
        interpreter: Runs them where there is none.
        foreseen: Whether launchers will be run: processes for the next one wait from the first record on.
    """

    on_gpu: Executor | None = field(default_factory=LauncherExecutor)
    interpreter: Executor | None = field(default_factory=_interpreter)
    foreseen: bool = False

    def prepare(self) -> None:
        """Start processes for the next launcher, so that they have imported what they need when it is there."""
        if self.foreseen and isinstance(self.on_gpu, LauncherExecutor):
            self.on_gpu.prepare()

    def close(self) -> None:
        """End what waits."""
        for one in (self.on_gpu, self.interpreter):
            if one is not None:
                one.close()


def expected_of(record: LaunchRecord, *, is_new: bool = False) -> ExpectedRun:
    """Return what a record does, in the words of a launcher's run; its times are not known here."""
    entries = Counter(one.entry for one in record.launches)
    return ExpectedRun(dict(entries), len(record.steps) - len(record.launches), is_new=is_new)


def halvings(shape: str) -> set[str]:
    """Return the shapes that have one extent of a shape halved; none where no extent is even."""
    extents = parse_shape(shape)
    places = [place for place, extent in enumerate(extents) if extent % 2 == 0]
    return {format_shape((*extents[:one], extents[one] // 2, *extents[one + 1 :])) for one in places}


def new_shapes(shapes: Sequence[str]) -> tuple[str, ...]:
    """Return shapes outside a problem's, at most `_NEW`, by chance."""
    known = sorted({new for one in shapes for new in halvings(one)} - {*shapes})
    return tuple(secrets.SystemRandom().sample(known, min(_NEW, len(known))))


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


def run_launcher(elsewhere: Elsewhere, records: Mapping[str, LaunchRecord], runners: LauncherRunners) -> LauncherRun:
    """Return what became of the launcher's one run.

    What it does otherwise on another shape than its problem's counts where its record there is right: a kernel may be
    made for the shapes of its problem alone. Such a record is judged then, and not before.

    Args:
        elsewhere: The job, whose request holds the contest's times, and the candidate's records on other shapes.
        records: Shape of the problem → its record.
        runners: Who runs launchers.

    Raises:
        TimeoutError: It is not over within the job's seconds.
    """
    job = elsewhere.job
    if has_header("", job.candidate):
        return LauncherRun("no", reason="the file's header is the launch: no launcher of its own runs", is_own=False)
    expected = {shape: _with_times(expected_of(record), job, shape) for shape, record in records.items()}
    reason = "nobody here runs launchers"
    if runners.on_gpu is not None:
        new = {shape: expected_of(one, is_new=True) for shape, one in elsewhere.records().items()}
        found = _ran(elsewhere.judged_job(), {**expected, **new}, runners.on_gpu)
        if _may_be_the_records(found):
            right = {shape: one for shape, one in new.items() if elsewhere.is_right(shape)}
            if right != new:
                found = _ran(elsewhere.judged_job(), {**expected, **right}, runners.on_gpu)
        if isinstance(found, LauncherRun):
            return found
        reason = found.reason
        if found.missing is None:  # there is a GPU
            return LauncherRun("no", reason=reason)
    if runners.interpreter is None:
        return LauncherRun("no", reason=reason)
    return _simulated(elsewhere.judged_job(), runners.interpreter, records, reason)


def _may_be_the_records(found: LauncherRun | Unable) -> bool:
    """Return whether a launcher did something else on a new shape, where its record was not judged."""
    return isinstance(found, LauncherRun) and bool(found.problem and found.contents and found.contents[-1].is_new)


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
