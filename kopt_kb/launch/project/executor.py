"""Runs a project's own commands on candidates: each kind of job is a few commands in copies of the project."""

from __future__ import annotations

import base64
import math
import os
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from kopt_kb.launch.candidate.answers import (
    Answer,
    AnswerBasis,
    Check,
    Environment,
    ReportEvidence,
    Sample,
    Timing,
    Trust,
    Unable,
)
from kopt_kb.launch.candidate.job import Job, Outcome, Request, Started
from kopt_kb.launch.machine.report_file import pack_report
from kopt_kb.launch.project.copies import Copies
from kopt_kb.launch.project.file import ALL, ProjectFile
from kopt_kb.launch.project.host import host_environment
from kopt_kb.launch.project.outputs import judged_outputs
from kopt_kb.launch.project.probes import printed_shapes, unused_copy
from kopt_kb.launch.project.running import CommandFailedError, Commands, RunningJob
from kopt_kb.problem.shapes import parse_shape
from kopt_kb.sandbox.owned import owned_folder

__all__ = ["ProjectExecutor"]


@dataclass(slots=True)
class ProjectExecutor:
    """Answers environment, check, timing and evidence jobs; any other is unavailable.

    Attributes:
        project: Its commands, CSV and paths.
        root: The project's folder; it is only read.
    """

    project: ProjectFile
    root: Path
    name: str = "project commands"
    simulated: bool = False
    trust: Trust = "reported"
    commands: Commands = field(init=False)

    def __post_init__(self) -> None:
        """Make no copy yet."""
        self.commands = Commands(Copies(self.project, self.root))

    def run(self, job: Job, started: Started) -> Outcome:
        """Return how the job ended; what a command does wrong is an answer or an outcome, never an exception.

        Raises:
            BadInput: A protected file of the project itself is not what it was at the baseline, or the project can't
                be copied: no candidate is to blame, and nothing was run.
        """
        answers: Mapping[str, Callable[[RunningJob], Answer]] = {
            "environment": self._environment, "check": self._check, "timing": self._timing, "evidence": self._evidence,
        }  # fmt: skip
        if job.kind not in answers:
            started(("kb", job.kind), os.getpid(), None)
            return Outcome("ok", 0, None, 0.0, "", Unable(unavailable=f"a project has no {job.kind}"))
        with owned_folder("kb-run-") as folder:
            session = RunningJob(job, folder, started, ends_at=time.monotonic() + (job.limits.wall_s or math.inf))
            try:
                result = answers[job.kind](session)
            except CommandFailedError as error:
                session.say(error.what)
                told = (session.wall_s, session.printed(), error.answer)
                return Outcome(error.ending or "crash", None, None, *told)
            session.tell(("kb", job.kind), os.getpid(), None)
            return Outcome("ok", 0, None, session.wall_s, session.printed(), result)

    def close(self) -> None:
        """Remove all copies."""
        self.commands.copies.close()

    def shapes(self, source: bytes, protected: Mapping[str, str]) -> tuple[str, ...]:
        """Return the shapes the benchmark prints; raises `BadInput` like `printed_shapes`."""
        job = Job("timing", source, source, Request(protected=protected))
        with owned_folder("kb-run-") as folder:
            return printed_shapes(self.commands, RunningJob(job, folder, lambda *_: None))

    def _environment(self, _: RunningJob) -> Environment:
        return host_environment()

    def _check(self, session: RunningJob) -> Check:
        """Build, then test; for the baseline also prove that the test and the benchmark read the copy's kernel."""
        job = session.job
        try:
            copy = self.commands.copy(job, job.candidate)
        except CommandFailedError as error:
            return Check(build_error=error.what)
        reason = self.commands.build(session, copy)
        if reason:
            return Check(build_error=reason)
        try:
            reason = self.commands.run(session, copy, self.project.commands["test"])
            if not reason and job.body.probe:
                reason = unused_copy(self.commands, session)
            if not reason and "outputs" in self.project.commands:
                return judged_outputs(self.commands, session, copy)
        except CommandFailedError as error:  # it was built: its test is what failed
            error.answer = Check(problem=error.what)
            raise
        basis = AnswerBasis("reported", "the project's test exited 0; no result was compared")
        return Check(passed=not reason, problem=reason, basis=None if reason else basis)

    def _timing(self, session: RunningJob) -> Timing | Unable:
        """Benchmark incumbent, candidate and a third side in turn; only the candidate's own failure is its fault."""
        job = session.job
        sources = {"incumbent": job.incumbent, "candidate": job.candidate, **({"best": job.best} if job.best else {})}
        self.commands.copies.keep_only(sources.values())
        copies = {side: self.commands.copy(job, source) for side, source in sources.items()}
        shapes: dict[str, dict[str, list[Sample]]] = {}
        header = job.body.header
        for _ in range(job.body.repeats):
            seed = secrets.randbelow(1 << 31)  # of all sides: what they are given is no difference between them
            for side, copy in copies.items():
                blamed = side == "candidate" or copy is copies["candidate"]
                try:
                    reason, rows = self.commands.measure(session, copy, side, header, seed)
                except CommandFailedError as error:
                    if blamed:
                        raise
                    reason, rows = error.what, None
                if rows is None and not blamed:
                    return Unable(unavailable=f"the {side} could not be timed: {reason}")
                if rows is None:
                    return Timing(problem=f"{reason}; the score is 0")
                header = header or rows.header
                for shape, seconds in rows.times_s.items():
                    one = Sample(1, seconds, step_pct=rows.steps_pct[shape], forward_s=rows.forward_s.get(shape))
                    shapes.setdefault(shape, {name: [] for name in copies})[side].append(one)
        times = {shape: {side: tuple(found) for side, found in sides.items()} for shape, sides in shapes.items()}
        return Timing(times, header=tuple(header))

    def _evidence(self, session: RunningJob) -> ReportEvidence | Unable:
        command = self.project.commands.get("profile")
        if command is None:
            return Unable(unavailable="the project names no profile command")
        copy, report = (
            self.commands.copy(session.job, session.job.candidate),
            session.next_csv("profile").parent / "report",
        )
        shapes = session.job.body.shapes
        if command.takes("shapes"):  # as the judges do: launches of one shape, whose time they can be held against
            shapes = (max(shapes, key=lambda one: math.prod(parse_shape(one))),)
        reason = self.commands.build(session, copy) or self.commands.run(session, copy, command, report, shapes)
        if reason:
            return Unable(unavailable=reason)
        try:
            data = pack_report(report)
        except FileNotFoundError:
            return Unable(unavailable="the profile command wrote no {report}")
        except OSError as error:
            return Unable(unavailable=f"the {{report}} of the profile command {error}")
        shape = shapes[0] if len(shapes) == 1 else ALL
        try:
            return ReportEvidence(data.decode("utf-8"), shape)
        except UnicodeDecodeError:
            return ReportEvidence("", shape, packed=base64.b64encode(data).decode())
