"""Rendered files and blocks held against a fresh rendering of the journal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from kopt_kb.doors import table
from kopt_kb.workspace.anchors import latest_view
from kopt_kb.workspace.audit.absent import unchecked_views
from kopt_kb.workspace.audit.findings import AuditFinding
from kopt_kb.workspace.fold import fold
from kopt_kb.workspace.journal.blobs import BlobReader, ObjectStore
from kopt_kb.workspace.journal.disk import read_regular
from kopt_kb.workspace.journal.events import Event
from kopt_kb.workspace.layout import Layout
from kopt_kb.workspace.needs import AbsentPack
from kopt_kb.workspace.state import WorkspaceState
from kopt_kb.workspace.views.blocks import BlockError, parse_blocks
from kopt_kb.workspace.views.brought import headed_files, is_rendered, raw_files
from kopt_kb.workspace.views.files import RenderedFile, ViewError, block_difference, file_difference, read_file
from kopt_kb.workspace.views.profiles import edited_reports
from kopt_kb.workspace.views.render import Texts, texts_of

__all__ = ["raw_findings", "report_findings", "unrendered", "view_findings"]

_FIX = "write in plans/, notes/ or the README's free text; `kb render` keeps these bytes in objects/ and renders again"
_OTHER = "its own hash fits: another version of kb rendered it, or the hash was edited too; run `kb render`"
_MEND = "mend the pack, or install another version of it"
_IRREGULAR = "put a regular file in its place or remove it, then run `kb render`"


def report_findings(root: Path, state: WorkspaceState, store: ObjectStore) -> Iterator[AuditFinding]:
    """Yield every profiler report in profiles/ that is not the blob which the journal names."""
    for path, fault in edited_reports(root, state, store):
        yield AuditFinding(
            "edited-view", path, 0, fault, "`kb render` keeps these bytes in objects/ and writes the report again"
        )


def raw_findings(root: Path, state: WorkspaceState, store: ObjectStore) -> Iterator[AuditFinding]:
    """Yield every file without a header that the journal gives and that is there as something else."""
    try:
        files = raw_files(state, store.get)
    except ViewError as error:
        yield AuditFinding("unrendered", "journal.jsonl", 0, error.what, _MEND)
        return
    for path, data in files.items():
        disk = read_regular(root / path) if not (root / path).is_symlink() else b""
        if disk is not None and disk != data:
            fix = "`kb render` keeps these bytes in objects/ and writes the file again"
            yield AuditFinding("edited-view", path, 0, "is not the file that the journal names", fix)


def unrendered(root: Path, texts: Texts) -> Iterator[AuditFinding]:
    """Yield notes: files with the header of rendered ones that nothing installed renders, and views that fail."""
    for fault in texts.faults:
        yield AuditFinding("unrendered", "journal.jsonl", 0, fault, _MEND)
    left = [path for path in headed_files(root) if path not in texts.files and not is_rendered(path)]
    if left:
        absent = ", ".join(fault.name for fault in table.packs().faults if fault.absent)
        fix = "install the pack that renders them" + (f"; not installed: {absent}" if absent else "")
        files = "this rendered file" if len(left) == 1 else f"this and {len(left) - 1} more rendered files"
        yield AuditFinding("unrendered", left[0], 1, f"no pack that is installed renders {files}", fix)


def view_findings(
    root: Path, events: tuple[Event, ...], texts: Texts, blob: BlobReader, absent: tuple[AbsentPack, ...] = ()
) -> Iterator[AuditFinding]:
    """Yield every rendered file and block that differs from a fresh rendering.

    A file whose body is what the journal rendered at the event its header names is stale, not edited. A missing
    file counts once any other was rendered after the event that brought it about: a workspace that never
    rendered its views has none. Without a pack that the journal needs nobody can render its files again: then one
    that is intact and names an event of this journal is only noted.

    Args:
        root: The workspace.
        events: Its journal.
        texts: What the journal renders.
        blob: Reads a blob by its hash.
        absent: Packs that the journal needs and that can't be used here.
    """
    for path, bodies in texts.blocks.items():
        yield from _blocks(root, path, bodies)
    headers: dict[str, RenderedFile | None] = {}
    for path in texts.files:
        try:
            headers[path] = read_file(root, path)
        except ViewError as error:
            yield AuditFinding("edited-view", path, 0, error.what, _IRREGULAR)
    yield from _cut_journal(Layout(root), len(events))
    newest = max((one.head.seq for one in headers.values() if one is not None), default=0)
    past, unchecked = _Past(events, blob), list[str]()
    for path, header in headers.items():
        difference = file_difference(root, path, texts.files[path])
        if difference is None:
            continue
        if header is None and not (root / path).exists():
            if path in past.files(newest):
                yield AuditFinding("edited-view", path, 0, "the rendered file is missing", "run `kb render`")
        elif header is not None and past.rendered(path, header):
            text = f"shows event {header.head.seq}, the journal has {len(events)}"
            yield AuditFinding("stale-view", path, 1, text, "run `kb render`")
        elif header is not None and absent and header.intact and past.knows(header):
            unchecked.append(path)
        else:
            fix = _OTHER if header is not None and header.intact else _FIX
            yield AuditFinding("edited-view", path, difference.line, str(difference), fix)
    yield from unchecked_views(unchecked, absent)


def _cut_journal(layout: Layout, seq: int) -> Iterator[AuditFinding]:
    """Yield a finding when a file that nobody edited was rendered from a later event than the journal's last."""
    latest = latest_view(layout)
    if latest is not None and latest.head.seq > seq:
        text = f"the journal ends with event {seq}, yet {latest.name} was rendered from event {latest.head.seq}"
        yield AuditFinding("journal", "journal.jsonl", seq, text, "restore the journal from a backup or a commit")


def _blocks(root: Path, path: str, bodies: dict[str, str]) -> Iterator[AuditFinding]:
    try:
        data = read_regular(root / path)
    except OSError as error:
        yield AuditFinding("edited-block", path, 0, f"{path} can't be read: {error.strerror or error}", _IRREGULAR)
        return
    if data is None:
        yield AuditFinding("edited-block", path, 0, f"{path} is missing", "restore it from git")
        return
    try:
        found = {block.name: block for block in parse_blocks(data, path)}
    except BlockError as error:
        line = error.where.rpartition(":")[2]
        at = int(line) if line.isdigit() else 1
        yield AuditFinding("edited-block", path, at, error.what, error.fix or "restore the markers")
        return
    order = [name for name in found if name in bodies]
    if order != [name for name in bodies if name in found]:
        text = f"its blocks stand in the order {', '.join(order)}"
        yield AuditFinding(
            "edited-block", path, found[order[0]].line, text, "put them back in the order kb wrote them in"
        )
    for name, body in bodies.items():
        if name not in found:
            fix = "put its two markers back and run `kb render`"
            yield AuditFinding("edited-block", path, 1, f"block {name} is missing", fix)
            continue
        difference = block_difference(body, found[name])
        if difference is not None:
            fix = _FIX if found[name].edited else _OTHER
            yield AuditFinding("edited-block", path, difference.line, f"block {name} {difference}", fix)


@dataclass(slots=True)
class _Past:
    """What the journal rendered at earlier events, each rendered once."""

    events: tuple[Event, ...]
    blob: BlobReader
    known: dict[int, dict[str, str]] = field(default_factory=dict)

    def files(self, seq: int) -> dict[str, str]:
        """Return the files of an event; none for one the journal does not have."""
        if seq not in self.known:
            there = 0 < seq <= len(self.events)
            self.known[seq] = texts_of(fold(self.events[:seq], self.blob), self.blob).files if there else {}
        return self.known[seq]

    def knows(self, file: RenderedFile) -> bool:
        """Return whether the event that a file's header names is one of this journal."""
        seq = file.head.seq
        return 0 < seq <= len(self.events) and self.events[seq - 1].zh == file.head.zh

    def rendered(self, path: str, file: RenderedFile) -> bool:
        """Return whether a file is what the journal rendered at the event its header names."""
        return self.knows(file) and self.files(file.head.seq).get(path, "").encode() == file.body
