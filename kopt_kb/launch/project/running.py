"""A project's commands, run in a copy that is checked before and after: how each went, in words."""

from __future__ import annotations

import math
import os
import secrets
import shutil
import signal
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from errno import EACCES, ENOENT
from pathlib import Path

from kopt_kb.launch.candidate.answers import Check
from kopt_kb.launch.candidate.job import Ending, Job
from kopt_kb.launch.project.command import ProjectCommand
from kopt_kb.launch.project.copies import Copies
from kopt_kb.launch.project.results_csv import CsvProblemError, Rows, read_rows
from kopt_kb.launch.project.scratch import Scratch, UnwritableFilesError
from kopt_kb.launch.project.surroundings import cage_of, home_of, passed_on
from kopt_kb.sandbox import process
from kopt_kb.sandbox.caged import caged, held_by
from kopt_kb.sandbox.deadline import left_s
from kopt_kb.sandbox.isolation import Isolation
from kopt_kb.sandbox.process import MAX_PRINTED_BYTES, ChildLimits, Started, read_tail

__all__ = ["SEED", "CommandFailedError", "Commands", "RunningJob"]

SEED = "KOPT_SEED"
"""Variable of a number that is new in each run of a command, so that a benchmark can draw new inputs from it."""


class CommandFailedError(Exception):
    """A command did not do what it should: what, in words, how it ended, and what the job knows nevertheless."""

    def __init__(self, reason: str, ending: Ending | None = None) -> None:
        super().__init__(reason)
        self.what = reason
        self.ending = ending
        self.answer: Check | None = None


@dataclass(slots=True)
class RunningJob:
    """One job while it runs: its log, whether its start was told, what held its last command, when it has to end."""

    job: Job
    folder: Path
    started: Started
    told: bool = False
    wall_s: float = 0.0
    caged: bool = False
    held: Isolation | None = None
    ends_at: float = math.inf

    def tell(self, argv: tuple[str, ...], pid: int, ticks: int | None) -> None:
        """Pass the first child of the job on; later ones belong to the same run."""
        if not self.told:
            self.told = True
            self.started(argv, pid, ticks)

    @property
    def log(self) -> Path:
        """What all commands of the job printed."""
        return self.folder / "printed.txt"

    def say(self, line: str) -> None:
        """Add a line of this program to the log."""
        with self.log.open("ab") as file:
            file.write(f"kb: {line}\n".encode())

    def printed(self) -> str:
        """Return the end of the log."""
        return read_tail(self.log)

    def next_csv(self, side: str) -> Path:
        """Return a file that no benchmark has written yet, in a folder of its own."""
        return Path(tempfile.mkdtemp(prefix=f"{side}-", dir=self.folder)) / "results.csv"

    def keep_cage(self, held: Isolation, command: str) -> None:
        """Say once what the commands of this job were held by, and what was missing."""
        self.held = held
        if not self.caged:
            self.caged = True
            self.say(f"{command}: held by {', '.join(held.held) or 'nothing'}")
            for name, why in held.missing.items():
                self.say(f"{command}: not held by {name}: {why}")


@dataclass(frozen=True, slots=True)
class Commands:
    """Runs the commands of the project that copies are made of."""

    copies: Copies

    def copy(self, job: Job, source: bytes) -> Scratch:
        """Return the copy of a version; raises like `Copies.of`, and `CommandFailedError` for files that can't lie."""
        try:
            return self.copies.of(source, job.body.protected)
        except UnwritableFilesError as error:
            raise CommandFailedError(str(error)) from error

    def measure(
        self, session: RunningJob, copy: Scratch, side: str, header: Sequence[str], seed: int | None = None
    ) -> tuple[str, Rows | None]:
        """Benchmark one copy; return its rows, or why there are none."""
        reason, report = self.benchmark(session, copy, side, seed)
        body = session.job.body
        try:
            rows = read_rows(
                report, self.copies.project.csv, shapes=body.shapes, amounts=body.amounts, header=header or None,
                combined=self.copies.project.scoring.metric == "combined",
            )  # fmt: skip
        except CsvProblemError as error:
            return "; ".join(filter(None, (reason, error.what))), None
        return reason, None if reason else rows

    def benchmark(self, session: RunningJob, copy: Scratch, side: str, seed: int | None = None) -> tuple[str, Path]:
        """Run the benchmark of the job's level; return why it failed, and the CSV it should have written."""
        report = session.next_csv(side)
        reason = self.build(session, copy)
        if reason:
            return reason, report
        quick = self.copies.project.quick_command() if session.job.body.is_quick else None
        return self.run(session, copy, quick or self.copies.project.commands["benchmark"], report, seed=seed), report

    def outputs(self, session: RunningJob, copy: Scratch, inputs: Path, outputs: Path) -> str:
        """Have a copy compute the cases in a folder; return why it failed, or nothing."""
        command = self.copies.project.commands["outputs"]
        # The folder of a report is what a command may write besides its copy.
        return self.run(session, copy, command, outputs / "report", inputs=str(inputs), outputs=str(outputs))

    def build(self, session: RunningJob, copy: Scratch) -> str:
        """Build a copy that is not built yet; return why that failed, or nothing."""
        command = self.copies.project.commands.get("build")
        if copy.built or command is None:
            return ""
        reason = self.run(session, copy, command)
        copy.built = not reason
        return reason

    def run(
        self, session: RunningJob, copy: Scratch, command: ProjectCommand, report: Path | None = None,
        shapes: tuple[str, ...] = (), seed: int | None = None, **places: str,
    ) -> str:  # fmt: skip
        """Run one command in a copy; return why it failed, or nothing. `places` fill in further placeholders.

        `shapes` are those that it is told; empty: all of the job. `seed`: None: one that no run had.

        Raises:
            CommandFailedError: It ran past a limit, its own or that of the job.
        """
        self._check_disturbed(copy, f"before the {command.name}")
        copy.forget_caches()
        job, building = session.job, command.name == "build"
        drawn = str(secrets.randbelow(1 << 31) if seed is None else seed)
        argv = command.argv(csv=str(report or ""), shapes=shapes or job.body.shapes, seed=drawn, **places)
        session.say(f"{command.name}: {command.shown()} (seed {drawn})")
        try:
            limits = ChildLimits(left_s(session.ends_at, command.limit_s), job.limits.resident_bytes)
        except TimeoutError:
            raise CommandFailedError(f"no time is left for the {command.name}", "hang") from None
        held = session.folder / "cage.json"
        cage = cage_of(
            copy.folder, held, report, network=self.copies.project.network, builds=True, shown=tuple(places.values()),
            memory_bytes=job.limits.resident_bytes,
        )  # fmt: skip
        try:
            variables = self.variables(copy, command) | {SEED: drawn}
            found = _program(argv[0], copy.folder, variables)
            with session.log.open("ab") as log:
                ended = process.run(
                    caged([found, *argv[1:]], cage), env=variables, limits=limits, log=log, started=session.tell,
                    folder=copy.folder,
                )  # fmt: skip
        except OSError as error:
            reason = f"{argv[0]} can't be run: {error.strerror or error}"
            session.say(reason)
            return f"the {command.name} did not start: {reason}"
        session.keep_cage(held_by(held), command.name)
        session.wall_s += ended.wall_s
        if ended.passed is not None:
            much = f"printed more than {MAX_PRINTED_BYTES >> 20} MiB"
            whats = {"hang": f"ran past {limits.wall_s:.4g} s", "limit": much}
            what = whats.get(ended.passed, "held too much memory")
            raise CommandFailedError(f"the {command.name} {what} and was ended; the score is 0", ended.passed)
        changed = copy.disturbed(building=building) or self.copies.meddled(copy)
        copy.settle(building=building)
        if changed:
            own = job.body.probe is not False and changed[0] not in copy.hashes  # no candidate ran yet
            hint = "; if that is meant, name it in [project] exclude" if own else ""
            return f"{changed[0]} was {copy.verb(changed[0])} while the {command.name} ran{hint}"
        return _failure(command, ended.code, session.printed())

    def variables(self, copy: Scratch, command: ProjectCommand) -> dict[str, str]:
        """Return the environment: the copy's Python folders first, and no way back to the project itself."""
        own = [str(copy.folder / one) for one in self.copies.project.python_path]
        for one in filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep)):
            inside = Path(one).is_relative_to(self.copies.root)
            own.append(str(copy.folder / Path(one).relative_to(self.copies.root)) if inside else one)
        paths = os.pathsep.join(dict.fromkeys(own))
        more = {"PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1", "PWD": str(copy.folder)}
        known = passed_on(self.copies.project.environment)
        return {**known, **home_of(copy.folder), **more, **command.environment()}

    def _check_disturbed(self, copy: Scratch, when: str) -> None:
        changed = copy.disturbed() or self.copies.meddled(copy)
        if changed:
            raise CommandFailedError(f"{changed[0]} was {copy.verb(changed[0])} {when}; the score is 0")


def _program(name: str, folder: Path, variables: Mapping[str, str]) -> str:
    """Return where a program is, as seen from the folder it runs in; raises `OSError` when it is nowhere."""
    if "/" in name:
        place = folder / name
        if not place.exists():
            raise FileNotFoundError(ENOENT, os.strerror(ENOENT), name)
        if place.is_dir() or not os.access(place, os.X_OK):
            raise PermissionError(EACCES, os.strerror(EACCES), name)
        return name
    path = os.pathsep.join(str(folder / one) for one in variables.get("PATH", os.defpath).split(os.pathsep))
    if shutil.which(name, path=path) is None:
        raise FileNotFoundError(ENOENT, os.strerror(ENOENT), name)
    return name


def _failure(command: ProjectCommand, code: int, printed: str) -> str:
    """Return why a command that ended by itself failed, with the last line it printed, or nothing."""
    if code == 0:
        return ""
    how = f"by {signal.Signals(-code).name}" if code < 0 else f"with {code}"
    echo = f"kb: {command.name}: "
    lines = [one.strip() for one in printed.splitlines() if one.strip() and not one.startswith(echo)]
    last = lines[-1][:200] if lines else ""
    return f"the {command.name} ended {how}" + (f": {last}" if last else "")
