"""Runs a project's own commands on candidates, each in a copy of the project that is checked before and after."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import tempfile
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kopt_kb.errors import BadInput
from kopt_kb.owned import owned_folder, owner_prefix, remove_orphans
from kopt_kb.process import MAX_PRINTED_BYTES, Limits, read_tail, run
from kopt_kb.runners.candidate.job import Ending, Job, Outcome, Started
from kopt_kb.runners.project.bounded_read import read_bounded
from kopt_kb.runners.project.bundle import files_of
from kopt_kb.runners.project.command import Command
from kopt_kb.runners.project.file import ProjectFile
from kopt_kb.runners.project.host import host_environment
from kopt_kb.runners.project.results_csv import MAX_BYTES, STEP, CsvProblemError, Rows, read_rows, read_shapes
from kopt_kb.runners.project.scratch import Scratch, UnwritableFilesError, make_scratch

__all__ = ["ProjectExecutor"]

_BROKEN = {
    True: 'raise RuntimeError("kb: this kernel is broken on purpose")\n',
    False: "#error kb: broken on purpose\n)]}\n",
}
"""Text of a kernel that can't work, in Python and in any other language."""


class _CommandFailedError(Exception):
    """A command did not do what it should: what, in words, how it ended, and what the job knows nevertheless."""

    def __init__(self, reason: str, ending: Ending | None = None) -> None:
        super().__init__(reason)
        self.what = reason
        self.ending = ending
        self.answer: dict[str, Any] | None = None


@dataclass(slots=True)
class _Session:
    """One job while it runs: its log, and whether its start was told."""

    job: Job
    folder: Path
    started: Started
    told: bool = False
    wall_s: float = 0.0
    csvs: int = 0

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
        """Return a file that no benchmark has written yet."""
        self.csvs += 1
        return self.folder / f"{side}-{self.csvs}.csv"


@dataclass(slots=True, weakref_slot=True)
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
    _folders: set[Path] = field(default_factory=set)
    _copies: dict[str, Scratch] = field(default_factory=dict)
    _ended: Callable[[], object] | None = None

    def run(self, job: Job, started: Started) -> Outcome:
        """Return how the job ended; what a command does wrong is an answer or an outcome, never an exception.

        Raises:
            BadInput: A protected file of the project itself is not what it was at the baseline, or the project can't
                be copied: no candidate is to blame, and nothing was run.
        """
        answers: Mapping[str, Callable[[_Session], dict[str, Any]]] = {
            "environment": self._environment, "check": self._check, "timing": self._timing, "evidence": self._evidence,
        }  # fmt: skip
        if job.kind not in answers:
            started(("kb", job.kind), os.getpid(), None)
            return Outcome("ok", 0, None, 0.0, "", {"unavailable": f"a project has no {job.kind}"})
        with owned_folder("kb-run-") as folder:
            session = _Session(job, folder, started)
            try:
                result = answers[job.kind](session)
            except _CommandFailedError as error:
                session.say(error.what)
                told = (session.wall_s, session.printed(), error.answer)
                return Outcome(error.ending or "crash", None, None, *told)
            session.tell(("kb", job.kind), os.getpid(), None)
            return Outcome("ok", 0, None, session.wall_s, session.printed(), result)

    def close(self) -> None:
        """Remove all copies."""
        self._copies.clear()
        _remove(self._folders)

    # ---- jobs ------------------------------------------------------------------------------------

    def _environment(self, _: _Session) -> dict[str, Any]:
        return host_environment()

    def _check(self, session: _Session) -> dict[str, Any]:
        """Build, then test; for the baseline also prove that the test and the benchmark read the copy's kernel."""
        job = session.job
        try:
            copy = self._copy(job, job.candidate)
        except _CommandFailedError as error:
            return {"build_error": error.what, "passed": False, "problem": ""}
        reason = self._build(session, copy)
        if reason:
            return {"build_error": reason, "passed": False, "problem": ""}
        try:
            reason = self._ran(session, copy, self.project.commands["test"])
            if not reason and job.body.get("probe"):
                reason = self._probe(session)
        except _CommandFailedError as error:  # it was built: its test is what failed
            error.answer = {"build_error": "", "passed": False, "problem": error.what}
            raise
        return {"build_error": "", "passed": not reason, "problem": reason}

    def _timing(self, session: _Session) -> dict[str, Any]:
        """Benchmark incumbent, candidate and a third side in turn; only the candidate's own failure is its fault."""
        job = session.job
        sources = {"incumbent": job.incumbent, "candidate": job.candidate, **({"best": job.best} if job.best else {})}
        self._drop(set(self._copies) - set(map(_sha, sources.values())))
        copies = {side: self._copy(job, source) for side, source in sources.items()}
        shapes: dict[str, dict[str, list[dict[str, Any]]]] = {}
        header = job.body.get("header")
        for _ in range(int(job.body["repeats"])):
            for side, copy in copies.items():
                blamed = side == "candidate" or copy is copies["candidate"]
                try:
                    reason, rows = self._measure(session, copy, side, header)
                except _CommandFailedError as error:
                    if blamed:
                        raise
                    reason, rows = error.what, None
                if rows is None and not blamed:
                    return {"unavailable": f"the {side} could not be timed: {reason}"}
                if rows is None:
                    return {"problem": f"{reason}; the score is 0"}
                header = header or rows.header
                for shape, seconds in rows.times_s.items():
                    one = {"n": 1, "median_s": seconds, STEP: rows.steps_pct[shape]}
                    shapes.setdefault(shape, {name: [] for name in copies})[side].append(one)
        return {"shapes": shapes, "header": list(header or ())}

    def _evidence(self, session: _Session) -> dict[str, Any]:
        command = self.project.commands.get("profile")
        if command is None:
            return {"unavailable": "the project names no profile command"}
        copy, report = self._copy(session.job, session.job.candidate), session.next_csv("profile")
        reason = self._build(session, copy) or self._ran(session, copy, command, report)
        if reason:
            return {"unavailable": reason}
        try:
            text = read_bounded(report, MAX_BYTES).decode(errors="replace")
        except FileNotFoundError:
            return {"unavailable": "the profile command wrote no {csv}"}
        except OSError as error:
            return {"unavailable": f"the {{csv}} of the profile command {error}"}
        return {"csv": text, "shape": "all"}

    def shapes(self, source: bytes, protected: Mapping[str, str]) -> tuple[str, ...]:
        """Return the shapes the benchmark prints, after one build and one run of it.

        Raises:
            BadInput: It does not run, or its CSV is not as the project file says.
        """
        with owned_folder("kb-run-") as folder:
            job = Job("timing", source, source, {"protected": dict(protected)})
            session = _Session(job, folder, lambda *_: None)
            try:
                reason, report = self._benchmark(session, self._copy(job, source), "baseline")
                if not reason:
                    return read_shapes(report, self.project.csv)
            except (_CommandFailedError, CsvProblemError) as error:
                reason = error.what
            fix = "list the shapes in [project] shapes, or make the benchmark run here"
            raise BadInput(reason, where=self.project.where, fix=fix, code="KB412")

    # ---- commands --------------------------------------------------------------------------------

    def _measure(
        self, session: _Session, copy: Scratch, side: str, header: Sequence[str] | None
    ) -> tuple[str, Rows | None]:
        """Benchmark one copy; return its rows, or why there are none."""
        reason, report = self._benchmark(session, copy, side)
        body = session.job.body
        try:
            rows = read_rows(
                report, self.project.csv, shapes=body["shapes"], amounts=body["amounts"], header=header,
                combined=self.project.scoring.metric == "combined",
            )  # fmt: skip
        except CsvProblemError as error:
            return "; ".join(filter(None, (reason, error.what))), None
        return reason, None if reason else rows

    def _benchmark(self, session: _Session, copy: Scratch, side: str) -> tuple[str, Path]:
        """Run the benchmark of the job's level; return why it failed, and the CSV it should have written."""
        report = session.next_csv(side)
        reason = self._build(session, copy)
        if reason:
            return reason, report
        quick = self.project.quick_command() if session.job.body.get("level") == "quick" else None
        return self._ran(session, copy, quick or self.project.commands["benchmark"], report), report

    def _build(self, session: _Session, copy: Scratch) -> str:
        command = self.project.commands.get("build")
        if copy.built or command is None:
            return ""
        reason = self._ran(session, copy, command)
        copy.built = not reason
        return reason

    def _probe(self, session: _Session) -> str:
        """Return why the commands don't seem to use the copy: they pass although its kernel is broken."""
        job = session.job
        files = {**files_of(job.candidate), self.project.kernel_source: _BROKEN[self.project.is_python]}
        copy = make_scratch(self.project, self.root, self._folder(), files, job.body["protected"])
        source = self.project.kernel_source
        try:
            self._build(session, copy)
            copy.built = True  # what it failed to build is not built again
            for text, reason in (
                ("test", self._ran(session, copy, self.project.commands["test"])),
                ("benchmark", self._measure(session, copy, "broken", None)[0]),
            ):
                if not reason:
                    return (
                        f"the {text} passes although {source} is broken: it does not use the copy of the project "
                        "(an installed package, or tests that are skipped?); docs/projects.md says what to do"
                    )
        finally:
            self._remove(copy)
        session.say(f"test and benchmark fail, as they should, when {source} is broken")
        return ""

    def _ran(self, session: _Session, copy: Scratch, command: Command, report: Path | None = None) -> str:
        """Run one command in a copy; return why it failed, or nothing.

        Raises:
            _CommandFailedError: It ran past a limit.
        """
        self._check_disturbed(copy, f"before the {command.name}")
        copy.forget_caches()
        job, building = session.job, command.name == "build"
        argv = command.argv(csv=str(report or ""), shapes=tuple(job.body.get("shapes") or ()))
        session.say(f"{command.name}: {command.shown()}")
        limits = Limits(command.limit_s, job.limits.resident_bytes)
        try:
            with session.log.open("ab") as log:
                ended = run(
                    argv, env=self._variables(copy, command), limits=limits, log=log, started=session.tell,
                    folder=copy.folder,
                )  # fmt: skip
        except OSError as error:
            reason = f"{argv[0]} can't be run: {error.strerror or error}"
            session.say(reason)
            return f"the {command.name} did not start: {reason}"
        session.wall_s += ended.wall_s
        if ended.passed is not None:
            much = f"printed more than {MAX_PRINTED_BYTES >> 20} MiB"
            whats = {"hang": f"ran past {command.limit_s:g} s", "limit": much}
            what = whats.get(ended.passed, "held too much memory")
            raise _CommandFailedError(f"the {command.name} {what} and was ended; the score is 0", ended.passed)
        changed = copy.disturbed(building=building) or self._meddled(copy)
        copy.settle(building=building)
        if changed:
            own = job.body.get("probe", True) and changed[0] not in copy.hashes  # no candidate ran yet
            hint = "; if that is meant, name it in [project] exclude" if own else ""
            return f"{changed[0]} was {copy.verb(changed[0])} while the {command.name} ran{hint}"
        return _failure(command, ended.code, session.printed())

    def _check_disturbed(self, copy: Scratch, when: str) -> None:
        changed = copy.disturbed() or self._meddled(copy)
        if changed:
            raise _CommandFailedError(f"{changed[0]} was {copy.verb(changed[0])} {when}; the score is 0")

    def _meddled(self, copy: Scratch) -> tuple[str, ...]:
        """Return what changed in the copies of other versions, none of which had a command running; drop them."""
        found = {sha: one.meddled() for sha, one in self._copies.items() if one is not copy}
        self._drop({sha for sha, paths in found.items() if paths})
        return tuple(f"{path} of another version's copy" for paths in found.values() for path in paths)

    def _variables(self, copy: Scratch, command: Command) -> dict[str, str]:
        """Return the environment: the copy's Python folders first, and no way back to the project itself."""
        own = [str(copy.folder / one) for one in self.project.python_path]
        for one in filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep)):
            inside = Path(one).is_relative_to(self.root)
            own.append(str(copy.folder / Path(one).relative_to(self.root)) if inside else one)
        paths = os.pathsep.join(dict.fromkeys(own))
        more = {"PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1", "PWD": str(copy.folder)}
        return {**os.environ, **more, **command.environment()}

    # ---- copies ----------------------------------------------------------------------------------

    def _folder(self) -> Path:
        """Return a folder to make for one copy, with nothing of any other copy beside it."""
        if self._ended is None:
            remove_orphans()
            self._ended = weakref.finalize(self, _remove, self._folders)
        made = Path(tempfile.mkdtemp(prefix=owner_prefix("kb-project-")))
        self._folders.add(made)
        return made / "project"

    def _copy(self, job: Job, source: bytes) -> Scratch:
        """Return the copy that holds these files; it is made once and used until something disturbed it.

        Raises:
            _CommandFailedError: No file system takes these files.
            BadInput: The project can't be copied, or is not what it was.
        """
        sha, protected = _sha(source), job.body["protected"]
        known = self._copies.get(sha)
        if known is not None and not known.disturbed() and not known.meddled():
            return known
        self._drop({sha})
        folder = self._folder()
        try:
            made = make_scratch(self.project, self.root, folder, files_of(source), protected)
        except UnwritableFilesError as error:
            _remove({folder.parent})
            raise _CommandFailedError(str(error)) from error
        except OSError as error:
            raise BadInput(f"the project can't be copied: {error}", where=str(self.root), code="KB415") from error
        changed = made.disturbed()
        if changed:
            raise BadInput(
                f"{changed[0]} is not what it was at the baseline", where=str(self.root / changed[0]),
                fix="restore it, or make another workspace", code="KB416",
            )  # fmt: skip
        self._copies[sha] = made
        return made

    def _drop(self, names: set[str]) -> None:
        for name in names & self._copies.keys():
            self._remove(self._copies.pop(name))

    def _remove(self, copy: Scratch) -> None:
        _remove({copy.folder.parent})
        self._folders.discard(copy.folder.parent)


def _remove(folders: set[Path]) -> None:
    """Remove folders, and what the set holds."""
    while folders:
        shutil.rmtree(folders.pop(), ignore_errors=True)


def _sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _failure(command: Command, code: int, printed: str) -> str:
    """Return why a command that ended by itself failed, with the last line it printed, or nothing."""
    if code == 0:
        return ""
    how = f"by {signal.Signals(-code).name}" if code < 0 else f"with {code}"
    echo = f"kb: {command.name}: "
    lines = [one.strip() for one in printed.splitlines() if one.strip() and not one.startswith(echo)]
    last = lines[-1][:200] if lines else ""
    return f"the {command.name} ended {how}" + (f": {last}" if last else "")
