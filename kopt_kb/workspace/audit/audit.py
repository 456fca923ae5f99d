"""The audit of a workspace: journal, cited rows, targets, blobs, rendered files and texts of people, each read once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

from kopt_kb.base.errors import BadInput, KoptError
from kopt_kb.base.wire import Wire
from kopt_kb.wiki.registry import Platform, Registry
from kopt_kb.wiki.version import NO_DATA, DataVersion, data_version
from kopt_kb.workspace.anchors import Anchor
from kopt_kb.workspace.audit.absent import absent_findings
from kopt_kb.workspace.audit.bundled import bundle_findings, is_bundle, statement_in
from kopt_kb.workspace.audit.captured import captured_findings
from kopt_kb.workspace.audit.findings import AUDIT_CODES, AuditFinding, line_of
from kopt_kb.workspace.audit.judged import judged_findings
from kopt_kb.workspace.audit.launchers import launchers_said
from kopt_kb.workspace.audit.prose import audit_prose, words_of_people
from kopt_kb.workspace.audit.recompiled import MadeAgain, made_again, recompile_findings
from kopt_kb.workspace.audit.records import git_findings, kernel_findings
from kopt_kb.workspace.audit.rendered import raw_findings, report_findings, unrendered, view_findings
from kopt_kb.workspace.audit.replayed import TimedAgain, replay_findings, timed_again
from kopt_kb.workspace.audit.sources import open_fields, other_wiki, row_findings, set_by, target_findings
from kopt_kb.workspace.audit.written import written_findings
from kopt_kb.workspace.journal.blobs import ObjectError, ObjectStore
from kopt_kb.workspace.journal.chain import Head, JournalError
from kopt_kb.workspace.journal.disk import read_regular
from kopt_kb.workspace.journal.events import Event
from kopt_kb.workspace.needs import absent_packs
from kopt_kb.workspace.retarget import registry_of
from kopt_kb.workspace.state import WorkspaceState
from kopt_kb.workspace.views.render import Texts, texts_of
from kopt_kb.workspace.workspace import Workspace

__all__ = ["AUDIT_CODES", "AuditFinding", "AuditReport", "audit"]


@dataclass(frozen=True, slots=True)
class AuditReport(Wire):
    """Result of an audit: whether everything in a workspace agrees, and what shows where it comes from.

    Agreement proves no origin: whoever writes a whole journal anew can make one that agrees with itself.

    Attributes:
        findings: What does not agree.
        notes: What a reader should know and makes nothing disagree (a row that moved).
        checked: Cited values that were read again.
        data: The wiki that the rows were read in again; a bundle's is the cited pages that it brings.
        anchored: Whether the journal goes on from a statement that was kept elsewhere.
        timed: What a replay of its records on this machine came to; None where nobody asked for one.
        made: What making its code objects again on this machine came to; likewise.
        launchers: Accepted version → whether its own launcher was seen to do what its record does.
    """

    WIRE: ClassVar = (
        "path", "clean", "verdict", "findings", "notes", "checked", "data", "anchored", "timed?", "made?", "launchers",
    )  # fmt: skip
    path: str
    findings: tuple[AuditFinding, ...]
    notes: tuple[AuditFinding, ...] = ()
    checked: int = 0
    data: DataVersion = NO_DATA
    anchored: bool = False
    timed: TimedAgain | None = None
    made: MadeAgain | None = None
    launchers: Mapping[str, str] = field(default_factory=dict)

    @property
    def clean(self) -> bool:
        """Whether nothing was found."""
        return not self.findings

    @property
    def verdict(self) -> str:
        """What the audit shows, in the words of docs/explanation/trust.md."""
        if not self.clean:
            return f"{len(self.findings)} finding(s)"
        shown = [*(["anchored"] if self.anchored else []), *(["timed again here"] if self.is_timed else [])]
        source = ["source bound again here"] if self.is_bound else []
        return ", ".join(["consistent", *(shown or ["origin unproven"]), *source])

    @property
    def is_timed(self) -> bool:
        """Whether its records were timed again here, and took what they say."""
        return self.timed is not None and self.timed.holds

    @property
    def is_bound(self) -> bool:
        """Whether its code objects were made again here from the source that it keeps, and are the same."""
        return self.made is not None and self.made.holds


def audit(
    path: str | Path,
    registry: Registry | None = None,
    anchor: str | Path | None = None,
    *,
    replay: bool = False,
    recompile: bool = False,
) -> AuditReport:
    """Return everything that does not hold in the workspace or bundle at `path`.

    Args:
        path: A workspace's folder, or a file of `kb tune bundle`.
        registry: The wiki; None: the one the workspace was made from if it is still there. A bundle brings its own, and
            is only compared with this one.
        anchor: A bundle, or a statement of one, that was kept elsewhere: the journal has to go on from there.
        replay: Whether the best version's records are timed again by a judge, on this machine's GPU.
        recompile: Whether the best version's code objects are made again from its source, by this machine's compiler.

    Raises:
        LayoutError: There is no workspace.
        BadInput: The anchor is none.
    """
    kept = _anchor(Path(anchor)) if anchor is not None else None
    if is_bundle(Path(path)):
        bundled = bundle_findings(Path(path), registry, replay=replay, recompile=recompile)
        found = (*bundled.all, *replay_findings(bundled.timed), *recompile_findings(bundled.made))
        report = _report(path, found, bundled.checked, bundled.data, (kept, bundled.events))
        return replace(report, timed=bundled.timed, made=bundled.made)
    workspace = Workspace.open(path)
    try:
        events = workspace.events()
        state = workspace.state(events)
    except JournalError as error:
        line = error.where.rpartition(":")[2]
        at = int(line) if line.isdigit() else 0
        return AuditReport(
            str(path), (AuditFinding("journal", "journal.jsonl", at, error.what, error.fix or _RESTORE),)
        )
    readme = _text(workspace.layout.readme)
    try:
        registry = registry or registry_of(state)
        platform = registry.platform(state.created.platform)
    except KoptError as error:
        gone = AuditFinding("missing", "README.md", line_of(readme, "platform:"), error.what, error.fix)
        return AuditReport(str(path), (gone,), data=data_version(registry.wikis) if registry else NO_DATA)
    found = tuple(_findings(workspace, events, state, (platform, registry), readme))
    store = ObjectStore(workspace.layout.objects)
    again = timed_again(events, state, store, registry) if replay else None
    made = made_again(events, state, store) if recompile else None
    found = (*found, *replay_findings(again), *recompile_findings(made))
    report = _report(path, found, len(state.specs), data_version(registry.wikis), (kept, events))
    return replace(report, timed=again, made=made)


def _report(
    path: str | Path,
    found: tuple[AuditFinding, ...],
    checked: int,
    data: DataVersion,
    history: tuple[Anchor | None, tuple[Event, ...]],
) -> AuditReport:
    found = tuple(dict.fromkeys((*found, *_unanchored(*history))))
    notes = tuple(one for one in found if one.code in _NOTES)
    findings = sorted((one for one in found if one.code not in _NOTES), key=lambda one: (one.file, one.line, one.code))
    said = launchers_said(history[1])
    return AuditReport(str(path), tuple(findings), notes, checked, data, history[0] is not None, launchers=said)


def _anchor(path: Path) -> Anchor:
    """Return the event that a statement names; raises `BadInput`."""
    try:
        head = statement_in(path).predicate.head
        return Anchor(Head(int(head["seq"]), str(head["zh"])), str(path))
    except (OSError, KeyError, ValueError, KoptError) as error:
        what = error.what if isinstance(error, KoptError) else str(error)
        fix = "give a file of kb tune bundle, or its statement.json"
        raise BadInput(f"is no anchor: {what}", where=str(path), fix=fix, code="KB111") from error


def _unanchored(anchor: Anchor | None, events: tuple[Event, ...]) -> Iterator[AuditFinding]:
    if anchor is not None and not anchor.is_in(events):
        text = f"{anchor.name} shows event {anchor.head.seq} of another journal"
        yield AuditFinding("anchor", "journal.jsonl", min(anchor.head.seq, len(events)), text, _RESTORE)


_RESTORE = "restore the journal"
_NOTES = frozenset(
    {"moved", "not-again", "set-by", "this-wiki", "other-wiki", "own-words", "reported", "unrendered", "absent-pack"}
)


def _text(path: Path) -> str:
    try:
        return (read_regular(path) or b"").decode("utf-8", "replace")
    except OSError:
        return ""


def _findings(
    workspace: Workspace, events: tuple[Event, ...], state: WorkspaceState, product: tuple[Platform, Registry],
    readme: str,
) -> Iterator[AuditFinding]:  # fmt: skip
    platform, registry = product
    store = ObjectStore(workspace.layout.objects)
    yield from absent_findings(state)
    yield from row_findings(state, platform, readme)
    yield from target_findings(state, platform, readme)
    texts: Texts | None = None
    try:
        texts = texts_of(state, store.get)
        people = words_of_people(events, store.get)
    except ObjectError:
        people = ""  # each lost blob is a finding below
    if texts is not None:
        yield from view_findings(workspace.layout.root, events, texts, store.get, absent_packs(state))
        yield from unrendered(workspace.layout.root, texts)
    yield from report_findings(workspace.layout.root, state, store)
    yield from raw_findings(workspace.layout.root, state, store)
    yield from kernel_findings(workspace.layout, state, store)
    yield from captured_findings(workspace.layout, state, store)
    yield from written_findings(workspace.layout, state)
    yield from judged_findings(events, state, store, platform, registry)
    yield from git_findings(workspace.layout, events)
    yield from set_by(state, readme)
    yield from other_wiki(state, platform, readme)
    yield from open_fields(state, readme)
    for one in audit_prose(workspace.layout, state, platform):
        # A number of a rendered file is judged only where a person's words brought it in.
        if texts is None or one.file not in texts.files or not one.number or one.number in people:
            yield one
