"""What the journal says held against what it names: blobs, kernel.py, outputs of runs, and the commits of git."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from kopt_kb.base.errors import BadInput, MissingTool
from kopt_kb.base.wire import WireError
from kopt_kb.launch.candidate.answers import Answer, Check, KeptRun, Timing, kept_run
from kopt_kb.launch.project.bundle import CHECKED_OUT, checked_out
from kopt_kb.launch.project.file import read_project
from kopt_kb.sandbox.gitrun import GitError
from kopt_kb.workspace.anchors import commit_anchors
from kopt_kb.workspace.audit.findings import AuditFinding
from kopt_kb.workspace.journal.blobs import ObjectError, ObjectStore
from kopt_kb.workspace.journal.disk import read_regular
from kopt_kb.workspace.journal.events import Event
from kopt_kb.workspace.journal.round_events import GateJudged, Measured, RunFinished, RunStarted
from kopt_kb.workspace.layout import Layout
from kopt_kb.workspace.state import WorkspaceState

__all__ = ["blob_findings", "git_findings", "kernel_findings", "run_findings"]

_JOURNAL = "journal.jsonl"
_BLOBS: Mapping[str, tuple[str, ...]] = {
    "workspace_created": ("kernel", "kernel_test"),
    "round_started": ("incumbent",),
    "proposal_made": ("source",),
    "candidate_submitted": ("blob", "plan"),
    "run_finished": ("output",),
    "snapshot_taken": ("blob",),
    "bench_started": ("kernel",),
    "profile_read": ("report", "kernel"),
    "note_added": ("text",),
    "memory_noted": ("text",),
    "file_adopted": ("blob",),
}
"""Kind of event → its fields that name a blob; events of packs name theirs themselves."""

_FIX = "restore objects/ from a backup or the git history"


def blob_findings(events: tuple[Event, ...], state: WorkspaceState, store: ObjectStore) -> Iterator[AuditFinding]:
    """Yield a finding for each blob that the journal names and that is missing or damaged, at the first such event."""
    named: dict[str, tuple[int, str]] = {}
    for event in events:
        for field in _BLOBS.get(event.kind, event.data.blobs):
            sha = getattr(event.data, field, None)
            if sha:
                named.setdefault(sha, (event.seq, f"{event.kind}.{field}"))
    if state.problem.own is not None:  # the reference that a problem outside the list is judged by
        named.setdefault(state.problem.own.reference, (1, "workspace_created.problem.own.reference"))
    if state.task.project is not None:
        named.setdefault(state.task.project.blob, (1, "workspace_created.problem.task.project.blob"))
    for sha, (seq, what) in named.items():
        try:
            store.get(sha)
        except ObjectError as error:
            yield AuditFinding("object", _JOURNAL, seq, f"{what}: {error.where}: {error.what}", error.fix or _FIX)


def kernel_findings(layout: Layout, state: WorkspaceState, store: ObjectStore) -> Iterator[AuditFinding]:
    """Yield a finding when kernel.py is not the best version; before one was accepted it may be anything."""
    best = state.best
    if best is None or best.snapshot is None:
        return
    if state.task.project is not None:
        yield from _project_findings(layout, state, (state.task.project.blob, best.snapshot.blob), best.number, store)
        return
    fix = f"`kb tune` and `kb bench` start from v{best.number}: keep your edit elsewhere and check that version out"
    try:
        data = read_regular(layout.kernel)
        if data is None or data not in [store.get(sha) for sha in (best.snapshot.blob, *_accepted_since(state))]:
            what = "is missing" if data is None else f"is not v{best.number}, the last accepted version"
            yield AuditFinding(
                "kernel", layout.kernel.name, 0 if data is None else 1, f"{layout.kernel.name} {what}", fix
            )
    except ObjectError:
        return  # a finding of its own
    except OSError as error:
        yield AuditFinding(
            "kernel", layout.kernel.name, 0, f"{layout.kernel.name} can't be read: {error.strerror or error}", fix
        )


def _project_findings(
    layout: Layout, state: WorkspaceState, blobs: tuple[str, str], number: int, store: ObjectStore
) -> Iterator[AuditFinding]:
    """Yield a finding for each file of a workspace that is not the best version's; of which: project file, source."""
    project, best = blobs
    try:
        kernel = read_project(store.get(project), "project.toml").kernel_source
        versions = [checked_out(store.get(sha), kernel) for sha in (best, *_accepted_since(state))]
    except BadInput:
        return  # a finding of its own
    folder = layout.root / CHECKED_OUT
    there = {f"{CHECKED_OUT}/{one.relative_to(folder).as_posix()}" for one in folder.rglob("*") if not one.is_dir()}
    found = [
        [name for name in sorted({*version, *there}) if not _holds(layout.root / name, version.get(name))]
        for version in versions
    ]
    fix = f"`kb tune` starts from v{number}: keep your edit elsewhere and check that version out"
    for name in min(found, key=len):
        text = f"{name} is not that of v{number}, the last accepted version"
        yield AuditFinding("kernel", name, 0, text, fix)


def _holds(path: Path, wanted: bytes | None) -> bool:
    try:
        return wanted is not None and read_regular(path) == wanted
    except OSError:
        return False


def _accepted_since(state: WorkspaceState) -> Iterator[str]:
    """Yield the blob of a round that is accepted and whose version is not recorded yet: its commit shows it so."""
    last = state.incumbent
    if last.snapshot is None and last.chosen is not None and last.chosen.submitted is not None:
        yield last.chosen.submitted.blob


def run_findings(events: tuple[Event, ...], store: ObjectStore) -> Iterator[AuditFinding]:
    """Yield a finding for each record and each passed gate that the output of its run contradicts."""
    kinds = {one.data.run: one.data.gate for one in events if isinstance(one.data, RunStarted)}
    runs = {one.data.run: one.data for one in events if isinstance(one.data, RunFinished)}
    answers: dict[str, Answer | None] = {}
    for event in events:
        data = event.data
        if isinstance(data, Measured):
            run = runs.get(data.run)
            answer = _answer(run, kinds, store, answers) if run is not None else None
            yield from _measured(event.seq, data, run, answer)
        elif isinstance(data, GateJudged) and data.result == "pass":
            for run in (runs[name] for name in data.runs if name in runs):
                yield from _passed(event.seq, data, run, _answer(run, kinds, store, answers))


def _answer(
    run: RunFinished, kinds: Mapping[str, str], store: ObjectStore, known: dict[str, Answer | None]
) -> Answer | None:
    """Return what a run answered, read once; None where its output is no answer, or is gone (a finding of its own)."""
    if run.run not in known:
        try:
            kept = kept_run(kinds.get(run.run, ""), store.get(run.output)) if run.output is not None else KeptRun()
        except (ObjectError, WireError):
            kept = KeptRun()
        known[run.run] = kept.answer
    return known[run.run]


def _measured(seq: int, record: Measured, run: RunFinished | None, answer: Answer | None) -> Iterator[AuditFinding]:
    timed = answer.shapes.get(record.shape) if isinstance(answer, Timing) else None
    if timed is None:
        if run is None or run.output is None or answer is not None:  # else the output is lost: a finding of its own
            text = f"record {record.id} rests on run {record.run}, which timed nothing on {record.shape}"
            yield AuditFinding("record", _JOURNAL, seq, text, "time the kernel again; the record does not stand")
        return
    if record.median_s not in [sample.median_s for side in timed.values() for sample in side]:
        text = (
            f"record {record.id} says {record.median_s} s, its run {record.run} timed no such median on {record.shape}"
        )
        yield AuditFinding("record", _JOURNAL, seq, text, "time the kernel again; the record does not stand")


def _passed(seq: int, gate: GateJudged, run: RunFinished, answer: Answer | None) -> Iterator[AuditFinding]:
    wrong = ""
    if run.outcome != "ok":
        wrong = f"its run {run.run} ended as {run.outcome}"
    elif gate.gate == "correctness" and isinstance(answer, Check) and not answer.passed:
        wrong = f"its run {run.run} found the kernel wrong"
    if wrong:
        text = f"the gate {gate.gate} passed {gate.candidate}, but {wrong}"
        yield AuditFinding("record", _JOURNAL, seq, text, "judge the candidate again; the gate's word does not stand")


def git_findings(layout: Layout, events: tuple[Event, ...]) -> Iterator[AuditFinding]:
    """Yield a finding for each commit whose trailer names an event that the journal does not have.

    A commit is the anchor against a journal that was rewritten as a whole. Without git, or in a folder that is no
    repository of its own, nothing is compared; a repository that can't be read is a finding.
    """
    try:
        anchors = [anchor for anchor in commit_anchors(layout) if not anchor.is_in(events)]
    except MissingTool:
        return
    except GitError as error:
        text = f"the repository can't be read: {error.what}"
        yield AuditFinding("git", ".git", 0, text, "restore .git from a backup, or remove it")
        return
    for anchor in anchors:
        text = f"{anchor.name} shows event {anchor.head.seq} of another journal"
        at = min(anchor.head.seq, len(events))
        yield AuditFinding("git", _JOURNAL, at, text, "restore the journal the commits were made from")
