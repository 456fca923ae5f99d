"""The audit of a workspace: journal, cited rows, targets, blobs, rendered files and texts of people, each read once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from kopt_kb.errors import KoptError
from kopt_kb.wiki.registry import Platform, Registry
from kopt_kb.wire import Wire
from kopt_kb.workspace.audit.findings import AUDIT_CODES, Finding, line_of
from kopt_kb.workspace.audit.prose import audit_prose, words_of_people
from kopt_kb.workspace.audit.records import blob_findings, git_findings, kernel_findings, run_findings
from kopt_kb.workspace.audit.rendered import view_findings
from kopt_kb.workspace.audit.sources import open_fields, row_findings, set_by, target_findings
from kopt_kb.workspace.journal.blobs import ObjectError, ObjectStore
from kopt_kb.workspace.journal.chain import JournalError
from kopt_kb.workspace.journal.disk import read_regular
from kopt_kb.workspace.journal.events import Event
from kopt_kb.workspace.retarget import registry_of
from kopt_kb.workspace.state import WorkspaceState
from kopt_kb.workspace.views.render import Texts, texts_of
from kopt_kb.workspace.workspace import Workspace

__all__ = ["AUDIT_CODES", "AuditReport", "Finding", "audit"]


@dataclass(frozen=True, slots=True)
class AuditReport(Wire):
    """Result of an audit; notes (a row that moved) do not make it unclean."""

    WIRE: ClassVar = ("path", "clean", "findings", "notes", "checked")
    path: str
    findings: tuple[Finding, ...]
    notes: tuple[Finding, ...] = ()
    checked: int = 0

    @property
    def clean(self) -> bool:
        """Whether nothing was found."""
        return not self.findings


def audit(path: str | Path, registry: Registry | None = None) -> AuditReport:
    """Return everything that does not hold in the workspace at `path`.

    Args:
        path: Its folder.
        registry: The wiki; None: the one the workspace was made from if it is still there.

    Raises:
        LayoutError: There is no workspace.
    """
    workspace = Workspace.open(path)
    try:
        events = workspace.events()
        state = workspace.state(events)
    except JournalError as error:
        line = error.where.rpartition(":")[2]
        at = int(line) if line.isdigit() else 0
        return AuditReport(str(path), (Finding("journal", "journal.jsonl", at, error.what, error.fix or _RESTORE),))
    readme = _text(workspace.layout.readme)
    try:
        platform = (registry or registry_of(state)).platform(state.created.platform)
    except KoptError as error:
        gone = Finding("missing", "README.md", line_of(readme, "platform:"), error.what, error.fix)
        return AuditReport(str(path), (gone,))
    found = tuple(dict.fromkeys(_findings(workspace, events, state, platform, readme)))
    notes = tuple(one for one in found if one.code in _NOTES)
    findings = sorted((one for one in found if one.code not in _NOTES), key=lambda one: (one.file, one.line, one.code))
    return AuditReport(str(path), tuple(findings), notes, len(state.specs))


_RESTORE = "restore the journal"
_NOTES = frozenset({"moved", "set-by"})


def _text(path: Path) -> str:
    try:
        return (read_regular(path) or b"").decode("utf-8", "replace")
    except OSError:
        return ""


def _findings(
    workspace: Workspace, events: tuple[Event, ...], state: WorkspaceState, platform: Platform, readme: str
) -> Iterator[Finding]:
    store = ObjectStore(workspace.layout.objects)
    yield from row_findings(state, platform, readme)
    yield from target_findings(state, platform, readme)
    texts: Texts | None = None
    try:
        texts = texts_of(state, store.get)
        people = words_of_people(events, store.get)
    except ObjectError:
        people = ""  # each lost blob is a finding below
    if texts is not None:
        yield from view_findings(workspace.layout.root, events, texts, store.get)
    yield from blob_findings(events, store)
    yield from kernel_findings(workspace.layout, state, store)
    yield from run_findings(events, store)
    yield from git_findings(workspace.layout, events)
    yield from set_by(state, readme)
    yield from open_fields(state, readme)
    for one in audit_prose(workspace.layout, state, platform):
        # A number of a rendered file is judged only where a person's words brought it in.
        if texts is None or one.file not in texts.files or not one.number or one.number in people:
            yield one
