"""Results of projects that journals keep: whole, and compared with the reference once more where that can be done."""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import math
from collections.abc import Iterator

from kopt_kb.base.errors import KoptError
from kopt_kb.base.wire import WireError
from kopt_kb.launch.candidate.answers import Check, JudgedOutput, kept_run
from kopt_kb.launch.kernel.declared import packaged_reference
from kopt_kb.launch.project.file import read_project
from kopt_kb.launch.project.outputs import Cases, compare_again
from kopt_kb.problem.shapes import parse_shape
from kopt_kb.sandbox.owned import owned_folder
from kopt_kb.workspace.audit.findings import AuditFinding
from kopt_kb.workspace.journal.blobs import ObjectError, ObjectStore
from kopt_kb.workspace.journal.events import Event
from kopt_kb.workspace.journal.round_events import RunFinished, RunStarted
from kopt_kb.workspace.levels import level_words
from kopt_kb.workspace.state import WorkspaceState

__all__ = ["output_findings", "reported_findings"]

_JOURNAL = "journal.jsonl"
_AGAIN = "judge the candidate again; the run does not stand"
_MOST_WORK = 1 << 30
"""Product of a shape's extents above which nothing is computed again: the file may be a stranger's."""


def output_findings(events: tuple[Event, ...], state: WorkspaceState, store: ObjectStore) -> Iterator[AuditFinding]:
    """Yield a finding for each kept result that is not what its run says, a note for what is not compared again."""
    found = list(_checks(events, store))
    kept: list[tuple[int, str, JudgedOutput]] = []
    for seq, run, check in found:
        for one in check.outputs:
            if not one.content:
                continue
            wrong = _damage(one)
            if wrong:
                yield AuditFinding("record", _JOURNAL, seq, f"run {run}: {one.shape}, {one.trial}: {wrong}", _AGAIN)
            else:
                kept.append((seq, run, one))
        yield from _not_kept(seq, run, check)
    if kept:
        yield from _again(kept, state)


def reported_findings(state: WorkspaceState, store: ObjectStore) -> Iterator[AuditFinding]:
    """Yield the note on what a project's gains rest, and a finding where its file says otherwise than the journal."""
    project = state.task.project
    if project is None:
        return
    yield AuditFinding("reported", _JOURNAL, 1, f"gains rest on {level_words(state, ())}", "read what was accepted")
    try:
        compares = "outputs" in read_project(store.get(project.blob), "project.toml").commands
    except KoptError:
        return  # a lost blob is a finding of its own, and a file of an earlier form is none
    if project.compares and not compares:
        text = "the journal says that results were compared, and the project's file has no command outputs"
        yield AuditFinding("record", _JOURNAL, 1, text, _AGAIN)


def _checks(events: tuple[Event, ...], store: ObjectStore) -> Iterator[tuple[int, str, Check]]:
    kinds = {one.data.run: one.data.gate for one in events if isinstance(one.data, RunStarted)}
    for event in events:
        data = event.data
        if isinstance(data, RunFinished) and data.output is not None and kinds.get(data.run) == "check":
            try:
                answer = kept_run("check", store.get(data.output)).answer
            except (ObjectError, WireError):
                continue  # a finding of its own
            if isinstance(answer, Check) and answer.outputs:
                yield event.seq, data.run, answer


def _damage(one: JudgedOutput) -> str:
    """Return why the kept bytes are not those of the result, or may not be compared here."""
    try:
        data = base64.b64decode(one.content, validate=True)
        work = math.prod(parse_shape(one.shape))
    except (ValueError, KoptError):
        return "its bytes or its shape can't be read"
    if hashlib.sha256(data).hexdigest() != one.sha256:
        return "the kept bytes are not those that were compared"
    return "" if work <= _MOST_WORK and one.device == "cpu" else "it can't have been kept to be compared again"


def _not_kept(seq: int, run: str, check: Check) -> Iterator[AuditFinding]:
    rest = sum(not one.content for one in check.outputs)
    if rest:
        text = f"run {run} keeps {rest} of {len(check.outputs)} results as hashes: they can't be compared again"
        yield AuditFinding("not-again", _JOURNAL, seq, text, "nothing to do")


def _again(kept: list[tuple[int, str, JudgedOutput]], state: WorkspaceState) -> Iterator[AuditFinding]:
    """Compare the kept results with the package's own reference; a stranger's reference is never run."""
    file = packaged_reference(state.problem.op)
    missing = "torch is not installed" if importlib.util.find_spec("torch") is None else ""
    if file is None:
        missing = f"the package has no reference of {state.problem.op}"
    if missing or file is None:
        text = f"{len(kept)} kept results of the project were not compared again: {missing}"
        yield AuditFinding("not-again", _JOURNAL, kept[0][0], text, "audit it where torch is installed")
        return
    with owned_folder("kb-again-") as scratch, Cases(file, state.problem.op, state.problem.dtype) as cases:
        for seq, run, one in kept:
            try:
                for wrong in compare_again(cases, [one], scratch):
                    yield AuditFinding("record", _JOURNAL, seq, f"run {run}: {wrong}", _AGAIN)
            except KoptError as error:
                text = f"kept results were not compared again: {error.what}"
                yield AuditFinding("not-again", _JOURNAL, seq, text, error.fix or "audit it on another machine")
                return
