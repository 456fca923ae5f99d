"""An executor that judges recorded launches: a candidate's Python runs in makers only, its kernels in judges.

It answers the same jobs with the same types as the child executor, and says on what each answer rests.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from kopt_kb.base.errors import KoptError, MissingTool
from kopt_kb.base.installed import version_of
from kopt_kb.launch.candidate.answers import (
    Answer,
    AnswerBasis,
    Check,
    Environment,
    ReportEvidence,
    Sample,
    Search,
    ShapeSearch,
    Timing,
    Trust,
    Unable,
)
from kopt_kb.launch.candidate.job import Executor, Job, Outcome, Started, problem_of
from kopt_kb.launch.candidate.launcher_run import LauncherRun
from kopt_kb.launch.candidate.source_config import with_chosen
from kopt_kb.launch.judge.admission import facts_by, numbers_by
from kopt_kb.launch.judge.bound_sides import bound_sides
from kopt_kb.launch.judge.job_work import JobWork
from kopt_kb.launch.judge.judging import Judging, sample_of, samples_of
from kopt_kb.launch.judge.launchers import Elsewhere, LauncherRunners, asked_on, new_shapes, run_launcher
from kopt_kb.launch.judge.makers import Made, Makers
from kopt_kb.launch.judge.pool import DevicePool
from kopt_kb.launch.judge.search import SearchTools, Shared, search_shape
from kopt_kb.launch.judge.shelf import Asked, RecordTarget, Shelf
from kopt_kb.launch.kernel.declared import has_header
from kopt_kb.launch.recompile.binding import Binder
from kopt_kb.launch.record.bounds import unfit_result
from kopt_kb.launch.record.source import least_bound
from kopt_kb.problem.shapes import parse_shape
from kopt_kb.sandbox.deadline import LATE_S
from kopt_kb.sandbox.owned import owned_folder

__all__ = ["RecordExecutor"]

_MOST_LAUNCHES = 24
"""Launches of a side in a repeat: each has contents of its own, and a reference that is computed for them."""
_SETTLING = 4
"""Launches of a side before the first repeat."""
_FEWEST_LAUNCHES, _REPEAT_S = 6, 1.0
"""Launches of a side that every repeat has, and seconds that all of them may take: each has contents of its own, whose
reference may take long."""
_PACKAGES = ("cuda-bindings", "torch", "triton")


class _NotReplayableError(Exception):
    """A record that no replay can stand for; the text says why."""


class RecordExecutor:
    """Makes launch records of candidates and has them judged; close it.

    Args:
        judging: Checks and times records.
        target: For what records are made.
        makers: Who makes records; None: makers of its own, one a core, that end with it.
        fallback: Runs candidates that can't be recorded, or profiles them; None: such jobs are not done.
        least: Least level of trust that decisions accept: below `replayed`, the fallback judges what is not replayable.
        shared: Processes that search a space; None: this one does.
        launchers: Who runs a candidate's own launcher before it is accepted.
    """

    name = "replay"
    simulated = False
    trust: Trust = "replayed"

    def __init__(
        self,
        judging: Judging,
        target: RecordTarget,
        *,
        makers: Makers | None = None,
        fallback: Executor | None = None,
        least: Trust = "replayed",
        shared: Shared | None = None,
        launchers: LauncherRunners | None = None,
    ) -> None:
        self._launchers = launchers or LauncherRunners()
        self._judging, self._fallback, self._least, self._shared = judging, fallback, least, shared
        self._stack = ExitStack()
        makers = makers or self._stack.enter_context(Makers())
        folder = self._stack.enter_context(owned_folder("kb-replay-"))
        self._shelf, self._target, self._binder = Shelf(folder, makers, target), target, Binder()
        self._new: tuple[bytes, tuple[str, ...]] = (b"", ())
        makers.warm()

    def foresee_launchers(self) -> None:
        """Have processes of the next launcher wait from the first record on."""
        self._launchers = replace(self._launchers, foreseen=True)

    def close(self) -> None:
        """End makers and judges."""
        self._launchers.close()
        self._shelf.close()
        self._judging.close()
        self._stack.close()

    def run(self, job: Job, started: Started) -> Outcome:
        """Return how the job ended; what the candidate's launcher or kernels do is an outcome, never an exception."""
        begin = time.monotonic()
        kinds: Mapping[str, Callable[[JobWork], Answer]] = {
            "environment": self._environment, "check": self._check, "timing": self._timing, "search": self._search,
            "evidence": self._evidence, "launcher": self._launcher,
        }  # fmt: skip
        if job.kind not in kinds:
            started(("kb", "replay", job.kind), os.getpid(), None)
            return Outcome("ok", 0, None, 0.0, "", Unable(unavailable=f"no replay does {job.kind} yet"))
        work = JobWork(job, begin + job.limits.wall_s if job.limits.wall_s else math.inf)
        pid = self._judging.pid
        started(("kb", "replay", job.kind), pid or os.getpid(), None)
        try:
            answer = kinds[job.kind](work)
        except _NotReplayableError as error:
            return self._instead(work, job, str(error))
        except MissingTool as error:
            answer = Unable(missing=error.what)
        except TimeoutError as error:
            return Outcome("hang", None, None, time.monotonic() - begin, _text(work, str(error)))
        except KoptError as error:  # the reference or the device: what is wrong with a record is an answer
            return Outcome("lost", None, None, time.monotonic() - begin, _text(work, str(error)))
        codes = tuple(work.codes.values())
        return Outcome("ok", 0, None, time.monotonic() - begin, _text(work, ""), answer, work.kept, codes)

    def _instead(self, work: JobWork, job: Job, why: str) -> Outcome:
        """Return what the fallback says of a candidate that can't be replayed, if decisions may rest on that."""
        if self._fallback is None or self._least == "replayed":
            return Outcome("ok", 0, None, 0.0, why, Unable(unavailable=f"not replayable: {why}"))
        if math.isfinite(work.ends_at):
            wall_s = max(work.ends_at - time.monotonic(), LATE_S)  # recording it took the rest
            job = replace(job, limits=replace(job.limits, wall_s=wall_s))
        outcome = self._fallback.run(job, lambda *_: None)
        if isinstance(outcome.result, Check | Timing | Search):
            said = outcome.result.basis or AnswerBasis("reported")
            reason = "; ".join(filter(None, (f"not replayable: {why}", said.reason)))
            return replace(outcome, result=replace(outcome.result, basis=replace(said, reason=reason)))
        return outcome

    def recorded(
        self, source: bytes, ends_at: float, *, shapes: Sequence[str], dtype: str, problem: bytes = b""
    ) -> dict[str, Made]:
        """Return shape → what became of a source's record; the jobs on it find it again.

        Args:
            source: The candidate.
            ends_at: Moment of `time.monotonic`.
            shapes: Of the problem.
            dtype: Its storage type.
            problem: Reference file of a problem outside the list, which says how candidates are called.

        Raises:
            TimeoutError: They are not made by that moment of `time.monotonic`.
        """
        made = self._shelf.all([Asked(source, shape, dtype, problem=problem) for shape in shapes], ends_at)
        return dict(zip(shapes, made, strict=True))

    def _environment(self, work: JobWork) -> Environment:
        machine = self._judging.machine(work.ends_at)
        versions = {name: version_of(name) for name in _PACKAGES}
        return Environment(machine.name, machine.uuid, machine.driver, {}, versions)

    def _check(self, work: JobWork) -> Check:
        job = work.job
        made = self._made(work, {"candidate": job.candidate})["candidate"]
        for shape, one in made.items():
            if one.error is not None:
                return Check(build_error=f"{shape}: {one.error}", basis=work.basis())
        with self._bound(work, {"candidate": job.candidate}, {"candidate": made}):
            found = self._checked(work, made)
        return replace(found, basis=work.basis())

    def _checked(self, work: JobWork, made: Mapping[str, Made]) -> Check:
        job = work.job
        worst: dict[str, float] = {}
        count, problem = 0, ""
        for shape, one in made.items():
            found = unfit_result(one.stored())
            if not found:
                with work.part("check"):
                    checked = self._judging.check(
                        one.folder, self._reference(job), max(len(job.body.seeds), 1), work.ends_at
                    )
                count += checked.checks
                found = checked.problem
                if checked.rel_l2_err is not None:
                    worst[shape] = checked.rel_l2_err
            problem = problem or (f"{shape}: {found}" if found else "")
        return Check("", not problem, problem, max(worst.values(), default=None), worst, count)

    def _timing(self, work: JobWork) -> Timing:
        job = work.job
        sources = {"incumbent": job.incumbent or job.candidate, "candidate": job.candidate}
        if job.best:
            sources["best"] = job.best
        made = self._made(work, sources)
        for side, records in made.items():
            for shape, one in records.items():
                if one.error is not None:
                    return Timing(problem=f"{shape}: the {side} is not recorded: {one.error}", basis=work.basis())
        if sources["incumbent"] == sources["candidate"]:
            with self._bound(work, sources, made):
                self._ahead(job)
                alone = self._alone(work, made)
            return replace(alone, basis=work.basis())
        with self._bound(work, sources, made):
            self._ahead(job)
        return replace(self._contest(work, made), basis=work.basis())

    def _contest(self, work: JobWork, made: Mapping[str, Mapping[str, Made]]) -> Timing:
        job = work.job
        folders = {
            shape: {side: made[side][shape].folder for side in ("incumbent", "candidate")} for shape in job.body.shapes
        }
        threshold = math.log1p(job.body.threshold_pct / 100)
        with work.part("contest"):
            found = self._judging.contest(folders, self._reference(job), threshold, work.ends_at)
        if found.problem:
            return Timing(problem=found.problem)
        shapes = {
            shape: {side: samples_of(times, job.body.repeats) for side, times in found.times_s[shape].items()}
            for shape in job.body.shapes
        }
        if job.best:
            more = self._taken(work, {shape: [made["best"][shape].folder] for shape in job.body.shapes})
            if isinstance(more, str):
                return Timing(problem=f"best: {more}")
            shapes = {shape: {**sides, "best": more[shape][0]} for shape, sides in shapes.items()}
        return Timing(shapes, contest=found.verdict)

    def _alone(self, work: JobWork, made: Mapping[str, Mapping[str, Made]]) -> Timing:
        """Time a source against itself: what it seems to gain is noise, and no contest is to be won."""
        folders = {shape: [made[side][shape].folder for side in made] for shape in work.job.body.shapes}
        taken = self._taken(work, folders)
        if isinstance(taken, str):
            return Timing(problem=taken)
        return Timing({shape: dict(zip(made, samples, strict=True)) for shape, samples in taken.items()})

    def _taken(self, work: JobWork, folders: Mapping[str, Sequence[Path]]) -> dict[str, list[tuple[Sample, ...]]] | str:
        """Return samples of records in turn, each repeat with allocations of its own, or what was wrong."""
        body = work.job.body
        shapes: dict[str, list[tuple[Sample, ...]]] = {}
        for shape, records in folders.items():
            repeats: list[list[Sample]] = [[] for _ in records]
            most = min(body.samples, _MOST_LAUNCHES)
            for number in range(1 + body.repeats):  # what comes first is forgotten: clocks rise from rest
                with work.part("timing"):
                    if number == 1:
                        taken, most = self._first_repeat(work, records, most)
                    else:
                        taken = self._repeat(work, records, most if number else min(most, _SETTLING))
                if isinstance(taken, str):
                    return f"{shape}: {taken}"
                for times_s, samples in zip(taken, repeats, strict=True):
                    samples.extend([sample_of(times_s)] if number else [])
            shapes[shape] = [tuple(samples) for samples in repeats]
        return shapes

    def _repeat(self, work: JobWork, records: Sequence[Path], launches: int) -> list[list[float]] | str:
        """Return the times of so many launches of each record, or what was wrong."""
        timed = self._judging.time(records, self._reference(work.job), launches, work.ends_at)
        return next((one.problem for one in timed if one.problem), "") or [[*one.times_s] for one in timed]

    def _first_repeat(self, work: JobWork, records: Sequence[Path], most: int) -> tuple[list[list[float]] | str, int]:
        """Take a few launches, then as many as the time of a repeat holds; return them and how many those are."""
        begin = time.monotonic()
        taken = self._repeat(work, records, min(most, _FEWEST_LAUNCHES))
        afforded = int(_REPEAT_S * _FEWEST_LAUNCHES / max(time.monotonic() - begin, 1e-6))
        afforded = min(most, max(_FEWEST_LAUNCHES, afforded))
        if isinstance(taken, str) or afforded <= _FEWEST_LAUNCHES:
            return taken, afforded
        more = self._repeat(work, records, afforded - _FEWEST_LAUNCHES)
        return more if isinstance(more, str) else [a + b for a, b in zip(taken, more, strict=True)], afforded

    def _search(self, work: JobWork) -> Search:
        job, body = work.job, work.job.body
        end, found = min(time.monotonic() + body.seconds, work.ends_at), dict[str, ShapeSearch]()
        workers = self._judging.workers if isinstance(self._judging, DevicePool) else ()
        limits = None if body.pruning is None else body.pruning.limits
        tools = SearchTools(
            job.candidate, self._reference(job), self._shelf, self._judging, work.printed.append, work.spent,
            problem_of(job), workers, self._shared, None if limits is None else facts_by(limits),
            lambda *one: self._prepare(job, found, *one), numbers_by(limits) if limits is not None else lambda _: None,
        )  # fmt: skip
        with work.part("search"):
            for at, (shape, one) in enumerate(sorted(body.spaces.items())):
                now = time.monotonic()
                share = now + (end - now) / (len(body.spaces) - at)
                found[shape] = search_shape(shape, one, body, tools, share)
        return Search(found, work.basis())

    def _prepare(self, job: Job, found: Mapping[str, ShapeSearch], shape: str, config: Mapping[str, object]) -> None:
        """Begin the records of the file that the last shape's search may end with: its gates ask for them."""
        if len(found) + 1 == len(job.body.spaces):
            chosen = {name: one.config for name, one in found.items() if one.median_s is not None}
            source, _ = with_chosen(job.candidate, {**chosen, shape: config})
            for one in job.body.shapes:
                self._shelf.prepare(Asked(source, one, job.body.dtype, problem=problem_of(job)))

    def _evidence(self, work: JobWork) -> ReportEvidence | Unable:
        """Return the profiler's report of the candidate's largest shape: its bytes, none of its Python."""
        job = work.job
        shape = max(job.body.shapes, key=lambda text: math.prod(parse_shape(text)))
        work.job = replace(job, body=replace(job.body, shapes=(shape,)))
        one = self._made(work, {"candidate": job.candidate})["candidate"][shape]
        if one.error is not None:
            return Unable(unavailable=f"{shape}: not recorded: {one.error}")
        with work.part("evidence"):
            found = self._judging.profile(one.folder, self._reference(job), work.ends_at)
        work.seconds |= {f"evidence, {name}": seconds for name, seconds in found.seconds.items()}
        if found.problem:
            return Unable(unavailable=f"{shape}: {found.problem}")
        return ReportEvidence(found.csv, shape, found.kernels, work.basis())

    def _ahead(self, job: Job) -> None:
        """Begin the records that a launcher's run needs, on shapes that are drawn now, once a file."""
        if job.body.foresees_launcher and not has_header("", job.candidate):
            for one in asked_on(job, self._new_of(job)):
                self._shelf.prepare(one)

    def _new_of(self, job: Job) -> tuple[str, ...]:
        """Return the shapes outside its problem on which a candidate's launcher is run."""
        if self._new[0] != job.candidate:
            self._new = job.candidate, new_shapes(job.body.shapes)
        return self._new[1]

    def _launcher(self, work: JobWork) -> LauncherRun:
        """Return what the candidate's own launcher does where it is used, held against its records."""
        job = work.job
        made = self._made(work, {"candidate": job.candidate})["candidate"]
        records = {shape: one.stored() for shape, one in made.items()}
        drawn, self._new = self._new_of(job), (b"", ())  # another run has others
        elsewhere = Elsewhere(job, drawn, self._reference(job), self._shelf, self._judging, work.ends_at)
        try:
            with work.part("launcher"):
                return run_launcher(elsewhere, records, self._launchers)
        finally:
            self._launchers.prepare()  # the next one's

    @contextmanager
    def _bound(
        self, work: JobWork, sources: Mapping[str, bytes], made: Mapping[str, Mapping[str, Made]]
    ) -> Iterator[None]:
        """Have code objects made again beside what is done in the block, which waits for them at its end."""
        with ThreadPoolExecutor(1, thread_name_prefix="make again") as threads:
            again = threads.submit(bound_sides, self._binder, self._shelf, self._target, sources, made, work.ends_at)
            self._launchers.prepare()
            yield
            with work.part("make again"):
                found = again.result()
        work.codes = {one.code: one for codes in found.values() for one in codes}
        work.bound = {side: least_bound(one.source for one in codes) for side, codes in found.items()}

    def _reference(self, job: Job) -> Path:
        return self._shelf.reference_of(job.reference or job.candidate, job.body.op, job.body.tolerance)

    def _made(self, work: JobWork, sources: Mapping[str, bytes]) -> dict[str, dict[str, Made]]:
        """Return side → shape → what became of its record.

        Raises:
            MissingTool: No compiler.
            _NotReplayableError: A launcher computes what no record holds.
        """
        body = work.job.body
        asked = {
            (side, shape): Asked(source, shape, body.dtype, problem=problem_of(work.job))
            for side, source in sources.items()
            for shape in body.shapes
        }
        with work.part("record"):
            made = dict(zip(asked, self._shelf.all(list(asked.values()), work.ends_at), strict=True))
        for (side, shape), one in made.items():
            if isinstance(one.error, MissingTool):
                raise one.error
            if one.record is not None:
                if one.record.not_replayable:
                    raise _NotReplayableError(f"{shape}: {one.record.not_replayable}")
                work.rests_on(f"{side} {shape}", one.folder)
                work.isolation = one.isolation
        return {side: {shape: made[side, shape] for shape in body.shapes} for side in sources}


def _text(work: JobWork, last: str) -> str:
    return "\n".join([*work.printed, *([last] if last else [])])
