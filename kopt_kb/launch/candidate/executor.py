"""Executors that run candidates in a child process of their own, here or behind a command the user gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.candidate.answers import Answer, AnswerBasis, Check, ReportEvidence, Search, Timing, Trust, Unable
from kopt_kb.launch.candidate.exchange import answered, child_argv, give
from kopt_kb.launch.candidate.job import Ending, Job, JobKind, Outcome, Started
from kopt_kb.sandbox.caged import cage_here
from kopt_kb.sandbox.isolation import Isolation
from kopt_kb.sandbox.owned import owned_folder
from kopt_kb.sandbox.process import MAX_PRINTED_BYTES, ChildLimits, Finished, environment, read_tail, run

__all__ = ["PRINTED", "ChildProcessExecutor", "CommandExecutor", "fill", "outcome_of"]

PRINTED = "printed.txt"
"""File of what a child prints."""


@dataclass(frozen=True, slots=True)
class ChildProcessExecutor:
    """Runs each job in a fresh process with its own session, which dies with this one.

    Attributes:
        device: Device of the candidates; "cpu" for kernels that run there.
        wrapper: Words before the child's command line, such as a cluster's launcher; empty: here.
        env: Environment variables laid over this process's.
        trust: The process that runs a candidate takes its times too; a check says its own level.
    """

    device: str = "cuda"
    wrapper: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    simulated: bool = False
    trust: Trust = "reported"

    @property
    def name(self) -> str:
        """How records name it."""
        return "command" if self.wrapper else "child process"

    def close(self) -> None:
        """Keep nothing."""

    def run(self, job: Job, started: Started) -> Outcome:
        """Return how the job ended; a hang, a crash, or memory run out is an outcome, never an exception."""
        with owned_folder("kb-run-") as outer:
            folder = outer / "job"
            folder.mkdir()
            fill(folder, job)
            token = give(folder, job.kind, replace(job.body, device=job.body.device or self.device))
            with (folder / PRINTED).open("wb") as log:
                done = self._run(job, folder, log, started)
            return outcome_of(folder, job.kind, token, done, folder / PRINTED, elsewhere=bool(self.wrapper))

    def _run(self, job: Job, folder: Path, log: IO[bytes], started: Started) -> Finished:
        argv, limits = (*self.wrapper, *child_argv(folder)), ChildLimits(job.limits.wall_s, job.limits.resident_bytes)
        try:
            return run(argv, env=environment(self.env, ours=True), limits=limits, log=log, started=started)
        except OSError as error:
            what, fix = f"can't be started: {error.strerror or error}", "name a command that can be run here"
            raise BadInput(what, where=argv[0], fix=fix, code="KB126") from error


def CommandExecutor(command: tuple[str, ...], *, device: str = "cuda") -> ChildProcessExecutor:  # noqa: N802
    """Return an executor that puts a user's command before each child; it must share this machine's files."""
    return ChildProcessExecutor(device=device, wrapper=command)


def fill(folder: Path, job: Job) -> None:
    """Write a job's sources into its folder."""
    (folder / "candidate.py").write_bytes(job.candidate)
    (folder / "incumbent.py").write_bytes(job.incumbent or job.candidate)
    if job.reference:
        (folder / "reference.py").write_bytes(job.reference)
    if job.best:
        (folder / "best.py").write_bytes(job.best)


def outcome_of(
    folder: Path, kind: JobKind, token: str, done: Finished, log: Path, *, elsewhere: bool = False
) -> Outcome:
    """Return how a child ended, with its answer.

    Args:
        folder: The job's.
        kind: What it was asked.
        token: What its answer carries.
        done: How the process ended.
        log: What it printed.
        elsewhere: Whether a command of the user's stood before it.
    """
    printed, ending = read_tail(log), done.passed
    if ending == "limit":
        printed += f"\nkb: it printed more than {MAX_PRINTED_BYTES >> 20} MiB and was ended\n"
    result = None if ending else answered(folder, kind, token)
    out_of_memory = isinstance(result, Unable) and result.oom is not None
    whole: Ending = ending or ("oom" if out_of_memory else "ok" if done.code == 0 and result is not None else "crash")
    status, number = (done.code, None) if done.code >= 0 else (None, -done.code)
    return Outcome(whole, status, number, done.wall_s, printed, _own(result, elsewhere) if whole == "ok" else None)


def _own(result: Answer | None, elsewhere: bool) -> Answer | None:
    """Return an answer without what a child can't know: its level of trust, a contest, the end of the call's budget."""
    if isinstance(result, Unable) and result.cut is not None:
        return Unable(unavailable=result.cut)
    if isinstance(result, Timing):
        return replace(result, basis=None, contest=None)
    if isinstance(result, Check):
        return replace(result, basis=_of_check(result.basis, elsewhere=elsewhere))
    return replace(result, basis=None) if isinstance(result, Search | ReportEvidence) else result


def _of_check(said: AnswerBasis | None, *, elsewhere: bool) -> AnswerBasis | None:
    """Return on what a check rests, held against what this process knows.

    A candidate that no cage held could have written the answer of the process that judged it: so a whole cage is
    believed only where one was just made on this machine for nobody.
    """
    if said is None:
        return None
    if elsewhere:
        return AnswerBasis("reported", "a command of the user started the judge: nothing here saw the cage")
    held = said.isolation or Isolation()
    return AnswerBasis.of_cage(held, held.lacks() or cage_here().lacks())
