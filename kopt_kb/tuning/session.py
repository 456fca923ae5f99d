"""The loop's hands: appends events, stores blobs, checks the kernel out, runs jobs once and remembers them."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from kopt_kb.base.errors import BadInput, MissingTool
from kopt_kb.base.wire import plain
from kopt_kb.launch.candidate.answers import KeptRun, Unable, kept_run
from kopt_kb.launch.candidate.job import Executor, Job, Outcome
from kopt_kb.sandbox.deadline import left_s
from kopt_kb.sandbox.gitrun import GitError
from kopt_kb.tuning.jobs import NO_GPU_FIX, Ran, refuse_missing
from kopt_kb.tuning.options import BudgetSpentError
from kopt_kb.workspace.anchors import open_journal
from kopt_kb.workspace.fold import Fold
from kopt_kb.workspace.journal.blobs import ObjectStore
from kopt_kb.workspace.journal.campaign_events import Resumed
from kopt_kb.workspace.journal.disk import read_regular, replace_file
from kopt_kb.workspace.journal.events import EventData, abandoned_runs
from kopt_kb.workspace.journal.journal import Journal
from kopt_kb.workspace.journal.round_events import (
    CandidateSubmitted,
    RecordBound,
    RunFinished,
    RunStarted,
    SnapshotTaken,
)
from kopt_kb.workspace.journal.setup_events import BenchStarted, FileAdopted, WorkspaceCreated
from kopt_kb.workspace.layout import Layout, refuse_links
from kopt_kb.workspace.masks import hand_masked
from kopt_kb.workspace.rounds import ChildRun, Round
from kopt_kb.workspace.snapshot import commit_workspace
from kopt_kb.workspace.state import WorkspaceState

if TYPE_CHECKING:
    from kopt_kb.tuning.project import ProjectAdapter

__all__ = ["Session", "says_nothing"]

_MAX_ATTEMPTS = 3
_KEPT_CHARS = 20_000


@dataclass(slots=True)
class Session:
    """One open campaign.

    Attributes:
        layout: The workspace's files.
        journal: Its writer.
        store: Its blobs.
        executor: Runs jobs.
        fold: The state of the events taken up so far.
        project: Says what a candidate's blob holds when it is more than kernel.py.
        ends_at: Moment of `time.monotonic` by which whatever runs is ended.
    """

    layout: Layout
    journal: Journal
    store: ObjectStore
    executor: Executor
    fold: Fold
    project: ProjectAdapter | None = None
    ends_at: float = math.inf

    @classmethod
    def open(cls, layout: Layout, executor: Executor, project: ProjectAdapter | None = None) -> Session:
        """Return a session on the workspace's journal; runs that nobody waits for are named abandoned.

        Raises:
            JournalError: It is damaged, or lost the end that views or commits were made from.
            JournalBusyError: Somebody else writes it.
        """
        journal = open_journal(layout)
        lost = abandoned_runs(journal.events)
        if lost:
            journal.append(Resumed.kind, Resumed(0, lost))
        store = ObjectStore(layout.objects)
        return cls(layout, journal, store, executor, Fold(store.get), project)

    def state(self) -> WorkspaceState:
        """Return the state after the last event; rounds masked by hand in their file count as masked too."""
        self.fold.take(self.journal.events_after(self.fold.seq))
        state = self.fold.state()
        if state.unread:
            seq, why = next(iter(state.unread.items()))
            raise BadInput(
                f"event {seq} can't be read: {why}",
                where=str(self.layout.journal),
                fix="restore objects/ from a copy",
                code="KB304",
            )
        return replace(state, hand_masks=hand_masked(self.layout, state)) if state.rounds else state

    def append(self, data: EventData) -> int:
        """Append an event and return its sequence number."""
        return self.journal.append(data.kind, data).seq

    def checkout(self, sha: str) -> None:
        """Make kernel.py this blob, or the files of a project's blob what it holds.

        Raises:
            BadInput: A file holds an edit that is in no blob; nothing is overwritten.
        """
        for name, data in self._files(sha).items():
            self._put(self.layout.root / name, data)

    def _files(self, sha: str) -> dict[str, bytes]:
        data = self.store.get(sha)
        if self.project is None:
            return {self.layout.kernel.name: data}
        files = self.project.checked_out(data)
        for data in files.values():
            self.store.put(data)
        return files

    def _put(self, path: Path, wanted: bytes) -> None:
        refuse_links(self.layout.root, path.parent)
        path.parent.mkdir(parents=True, exist_ok=True)
        disk = read_regular(path)
        if disk == wanted:
            return
        known = disk is None or self._is_known(hashlib.sha256(disk).hexdigest())
        if not known or not replace_file(path, wanted, expected=disk):
            raise BadInput(
                f"{path.name} was edited by hand while a campaign holds it",
                where=str(path),
                fix="give the edit to `kb tune step --plan` as a hypothesis, or restore the file",
                code="KB403",
            )

    def _is_known(self, sha: str) -> bool:
        """Return whether a blob is kept; an edit that only a bench kept is still a person's edit of kernel.py."""
        own: set[str] = set()
        benched: set[str] = set()
        for data in (event.data for event in self.journal.events):
            if isinstance(data, BenchStarted) and data.version is None:
                benched.add(data.kernel)
            elif isinstance(data, CandidateSubmitted | FileAdopted):
                own.add(data.blob)
            elif isinstance(data, WorkspaceCreated) and data.kernel is not None:
                own.add(data.kernel)
        return self.store.has(sha) and (sha in own or sha not in benched)

    def run_once(self, current: Round, candidate: str, job: Job, attempt_limit: int = _MAX_ATTEMPTS) -> Ran:
        """Return the finished run of this job kind on a candidate; run it if it never finished.

        A run that was abandoned is tried again, up to a limit; then it counts as lost. One that found no GPU or tool,
        or was ended with its call's budget, says nothing of the candidate: the next start tries again, as often as it
        takes.

        Raises:
            MissingTool: What the run needs is absent where the executor runs.
            BudgetSpentError: The seconds of this call are over.
        """
        attempts = current.attempts(candidate, job.kind)
        finished = [self.recall(run) for run in attempts if run.finished is not None]
        done = next((ran for ran in finished if not says_nothing(ran)), None)
        if done is not None:
            return done
        abandoned = len(attempts) - len(finished)
        if abandoned >= attempt_limit:
            return Ran("lost", None, attempts[-1].started.run, f"{abandoned} runs were abandoned")
        run = f"{'sim-' if self.executor.simulated else ''}{candidate}.{job.kind}.{len(attempts) + 1}"
        outcome = self.execute(run, candidate, len(attempts) + 1, job)
        refuse_missing(outcome.result, NO_GPU_FIX)
        return Ran(outcome.outcome, outcome.result, run, outcome.printed)

    def recall(self, run: ChildRun) -> Ran:
        """Return a run as it was kept; raises `BadInput` where its blob holds no answer to such a job."""
        started, finished = run.started, run.finished
        if finished is None:
            return Ran("lost", None, started.run)
        kept = kept_run(started.gate, self.store.get(finished.output)) if finished.output else KeptRun()
        return Ran(finished.outcome, kept.answer, finished.run, kept.printed)

    def in_time(self, job: Job) -> Job:
        """Return a job that ends with this call at the latest: whatever an executor is given comes through here.

        Raises:
            BudgetSpentError: The seconds of this call are over.
        """
        try:
            wall_s = left_s(self.ends_at, job.limits.wall_s or math.inf)
        except TimeoutError:
            raise BudgetSpentError from None
        return job if math.isinf(wall_s) else replace(job, limits=replace(job.limits, wall_s=wall_s))

    def execute(self, run: str, candidate: str, attempt: int, job: Job) -> Outcome:
        """Run a job under this id and keep what it printed and answered.

        Raises:
            BudgetSpentError: The seconds of this call are over; what was running is ended.
        """
        asked_s, job = job.limits.wall_s, self.in_time(job)
        is_short = job.limits.wall_s != asked_s
        limits = {"wall_s": job.limits.wall_s, "resident_bytes": float(job.limits.resident_bytes)}

        def started(argv: tuple[str, ...], pid: int, ticks: int | None) -> None:
            self.append(RunStarted(run, candidate, job.kind, attempt, argv, limits, pid, ticks))

        outcome = self.executor.run(job, started)
        is_cut = is_short and outcome.outcome == "hang"
        if is_cut:
            outcome = replace(outcome, outcome="lost", result=Unable(cut="the budget of the call was spent"))
        kept = {"printed": outcome.printed[-_KEPT_CHARS:], "result": plain(outcome.result)}
        blob = self.store.put(json.dumps(kept, sort_keys=True).encode())
        records = tuple(sorted(self._kept(outcome)))
        self.append(RunFinished(run, outcome.outcome, outcome.exit, outcome.signal, outcome.wall_s, blob, records))
        self._tell_bound(run, outcome)
        if is_cut:
            raise BudgetSpentError
        return outcome

    def _tell_bound(self, run: str, outcome: Outcome) -> None:
        """Append what became of code objects that were made again, each once."""
        known = {(one.code, one.outcome) for one in self.state().bound.values()} if outcome.codes else set()
        for one in outcome.codes:
            if (one.code, one.source) not in known:
                self.append(RecordBound(one.code, run, one.kernel, one.source, one.files, one.options, one.versions))

    def _kept(self, outcome: Outcome) -> Iterator[str]:
        """Keep the launch records that an answer rests on, with their code objects; yield the records' blobs."""
        for record, *codes in outcome.records.values():
            for code in codes:
                self.store.put(code)
            yield self.store.put(record)

    def snapshot(self, accepted: Round, sha: str, subject: str) -> str:
        """Show an accepted round in git, record the version, and check it out.

        Returns:
            Why no commit shows it although the workspace has a repository; empty when one does, or there is none.
        """
        event = self.journal.event(accepted.decided_seq)
        try:
            commit, failure = commit_workspace(self.layout, event, subject, self._files(sha), self.fold.state()), ""
        except (GitError, MissingTool) as error:
            commit, failure = None, str(error) if (self.layout.root / ".git").exists() else ""
        self.append(SnapshotTaken(accepted.number, sha, commit))
        self.checkout(sha)
        return failure

    def close(self) -> None:
        """Give the journal's lock back."""
        self.journal.close()


def says_nothing(ran: Ran) -> bool:
    """Return whether a run says nothing of the candidate: a tool was missing, or the budget of its call ended it."""
    result = ran.result
    return isinstance(result, Unable) and (result.missing is not None or result.cut is not None)
