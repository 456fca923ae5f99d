"""Brings every rendered file and block of a workspace up to its journal, or says what stands in the way."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kopt_kb.errors import BadInput
from kopt_kb.workspace.adopted import README_VIEW
from kopt_kb.workspace.journal.blobs import ObjectStore
from kopt_kb.workspace.journal.chain import Head
from kopt_kb.workspace.journal.disk import read_regular
from kopt_kb.workspace.journal.events import Event
from kopt_kb.workspace.journal.round_events import HypothesisStated, MemoryMasked, MemoryUnmasked
from kopt_kb.workspace.journal.setup_events import FileAdopted, MemoryNoted, NoteAdded
from kopt_kb.workspace.state import new_state
from kopt_kb.workspace.views.bench import BENCH_VIEW
from kopt_kb.workspace.views.blocks import BlockError, block_conflicts, discard_blocks, replace_blocks, update_blocks
from kopt_kb.workspace.views.conflict import Conflict
from kopt_kb.workspace.views.header import RenderedFile, ViewError
from kopt_kb.workspace.views.memory import MEMORY_VIEW
from kopt_kb.workspace.views.memory_words import blob_text
from kopt_kb.workspace.views.reports import BASELINE_VIEW, OPTIMIZE_VIEW, ROUNDS_VIEW
from kopt_kb.workspace.views.trend import TREND_VIEW
from kopt_kb.workspace.views.views import (
    BlobReader,
    ViewRegistry,
    compare_view,
    discard_view,
    view_conflict,
    view_header,
    write_view,
)
from kopt_kb.workspace.workspace import Workspace

__all__ = [
    "VIEWS",
    "RenderReport",
    "Texts",
    "ViewFault",
    "render_texts",
    "render_workspace",
    "spoken_texts",
    "view_faults",
]

VIEWS = ViewRegistry([README_VIEW, MEMORY_VIEW, BASELINE_VIEW, ROUNDS_VIEW, TREND_VIEW, OPTIMIZE_VIEW, BENCH_VIEW])
"""All that is rendered in a workspace; `FILE#BLOCK` names a block of a file that people own."""

_ROOFLINE_VIEWS = ViewRegistry([README_VIEW])
"""All that is rendered where nothing is ever tried: there are no attempts."""


@dataclass(frozen=True, slots=True)
class Texts:
    """What a journal renders: whole files by path, and the blocks of each file that people own."""

    head: Head
    files: dict[str, str]
    blocks: dict[str, dict[str, str]]


@dataclass(frozen=True, slots=True)
class RenderReport:
    """What rendering did; with conflicts nothing was written.

    Attributes:
        head: End of the journal that was rendered.
        written: Files that changed, relative to the workspace.
        unchanged: Files that held their text already.
        discarded: File → blob that keeps its old bytes.
        conflicts: Edits that rendering would lose.
    """

    head: Head
    written: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    discarded: tuple[tuple[str, str], ...] = ()
    conflicts: tuple[Conflict, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the CLI's JSON."""
        conflicts = [
            {"file": str(one.path), "name": one.name, "line": one.line, "reason": one.reason, "diff": one.diff}
            for one in self.conflicts
        ]
        return {
            "seq": self.head.seq,
            "written": list(self.written),
            "unchanged": list(self.unchanged),
            "discarded": dict(self.discarded),
            "conflicts": conflicts,
        }


@dataclass(frozen=True, slots=True)
class ViewFault:
    """A rendered file that is not what the journal renders: edited or missing, or of an earlier journal."""

    path: str
    line: int
    text: str
    is_stale: bool


def render_texts(events: tuple[Event, ...], blob: BlobReader) -> Texts:
    """Return every rendered text of these events; the same events and blobs give the same bytes.

    Raises:
        BadInput: The events don't begin with workspace_created.
        ObjectError: A blob a text needs is missing or damaged.
    """
    files: dict[str, str] = {}
    blocks: dict[str, dict[str, str]] = {}
    views = _ROOFLINE_VIEWS if new_state(events[0]).route == "roofline" else VIEWS
    for key, text in views.render(events, blob).items():
        path, _, block = key.partition("#")
        if block:
            blocks.setdefault(path, {})[block] = text
        else:
            files[path] = text
    return Texts(Head(events[-1].seq, events[-1].zh), files, blocks)


def render_workspace(workspace: Workspace, *, discard: Collection[str] = ()) -> RenderReport:
    """Write every rendered file and block that changed, unless an edit would be lost.

    Args:
        workspace: The workspace; its journal is only read.
        discard: Rendered files, relative to the workspace, whose edits go to objects/ instead of being conflicts.

    Returns:
        What was written, or all conflicts with nothing written.

    Raises:
        BadInput: `discard` names a file that is not rendered, or a README marker is broken.
        ViewError: The disk refuses.
    """
    with _only_renderer(workspace.layout.root):
        return _render(workspace, discard)


@contextmanager
def _only_renderer(root: Path) -> Iterator[None]:
    """Wait until no other process renders this workspace: an older rendering can't replace a newer one.

    The lock is on the folder, not on the journal, which a campaign holds for hours.
    """
    fd = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


def _render(workspace: Workspace, discard: Collection[str]) -> RenderReport:
    store, root = ObjectStore(workspace.layout.objects), workspace.layout.root
    texts = _current(workspace, store)
    _check_discard(texts, discard)
    conflicts = tuple(_conflicts(root, texts, discard))
    if conflicts:
        return RenderReport(texts.head, conflicts=conflicts)
    discarded = list(_discard(root, texts, discard, store))
    done: dict[str, bool] = {}
    for path, text in texts.files.items():
        result = write_view(root, path, text, texts.head)
        if result.conflict is not None:
            return RenderReport(texts.head, tuple(n for n in done if done[n]), conflicts=(result.conflict,))
        done[path] = result.status == "written" or path in discard
    for path, bodies in texts.blocks.items():
        done[path] = update_blocks(root / path, bodies).written or path in discard
    written = tuple(path for path, changed in done.items() if changed)
    unchanged = tuple(path for path, changed in done.items() if not changed)
    return RenderReport(texts.head, written, unchanged, tuple(discarded))


def _current(workspace: Workspace, store: ObjectStore) -> Texts:
    """Return the texts of the journal; refuse when a rendered file knows a later one."""
    texts = render_texts(workspace.events(), store.get)
    headers = (view_header(workspace.layout.root, path) for path in texts.files)
    if all(one is None or not one.intact or one.head.seq <= texts.head.seq for one in headers):
        return texts
    raise BadInput(
        "a rendered file names a later event than the journal holds",
        where=str(workspace.layout.journal),
        fix="restore the journal, or delete the rendered file",
        code="KB314",
    )


def _check_discard(texts: Texts, discard: Collection[str]) -> None:
    known = texts.files.keys() | texts.blocks.keys()
    for path in discard:
        if path not in known:
            raise BadInput("is not a rendered file", where=path, fix=f"one of {', '.join(sorted(known))}")


def _conflicts(root: Path, texts: Texts, discard: Collection[str]) -> Iterator[Conflict]:
    for path, text in texts.files.items():
        found = None if path in discard else view_conflict(root, path, text, texts.head)
        if found is not None:
            yield found
    for path, bodies in texts.blocks.items():
        data = read_regular(root / path)
        if data is None:
            raise BlockError("the file is missing", where=str(root / path), fix="restore it from git")
        replace_blocks(data, bodies, str(root / path))
        if path not in discard:
            yield from block_conflicts(data, bodies, root / path)


def _discard(root: Path, texts: Texts, discard: Collection[str], store: ObjectStore) -> Iterator[tuple[str, str]]:
    for path in dict.fromkeys(discard):
        if path in texts.files:
            sha = discard_view(root, path, texts.files[path], texts.head, store)
        else:
            sha = discard_blocks(root / path, texts.blocks[path], store)
        if sha is not None:
            yield path, sha


def view_faults(workspace: Workspace, events: tuple[Event, ...], texts: Texts) -> Iterator[ViewFault]:
    """Yield every rendered file that differs from a fresh rendering; README's blocks are not looked at.

    A file whose body is what the journal rendered at the event its header names is stale, not edited. A missing
    file counts once any other was rendered after the event that brought it about: a workspace that never
    rendered its views has none.
    """
    root = workspace.layout.root
    headers: dict[str, RenderedFile | None] = {}
    for path in texts.files:
        try:
            headers[path] = view_header(root, path)
        except ViewError as error:
            yield ViewFault(path, 0, error.what, is_stale=False)
    newest = max((one.head.seq for one in headers.values() if one is not None), default=0)
    past = _Past(events, ObjectStore(workspace.layout.objects).get)
    for path, header in headers.items():
        difference = compare_view(root, path, texts.files[path])
        if difference is None:
            continue
        if header is None and not (root / path).exists():
            if path in past.files(newest):
                yield ViewFault(path, 0, "the rendered file is missing", is_stale=False)
        elif header is not None and past.rendered(path, header):
            yield ViewFault(path, 1, f"shows event {header.head.seq}, the journal has {len(events)}", is_stale=True)
        else:
            found = f"{difference.found!r} stands where the journal renders {difference.expected!r}"
            yield ViewFault(path, difference.line, f"byte {difference.offset}: {found}", is_stale=False)


def spoken_texts(events: tuple[Event, ...], blob: BlobReader) -> Iterator[str]:
    """Yield every text that people or agents said and that rendered files repeat."""
    for event in events:
        data = event.data
        if isinstance(data, HypothesisStated):
            yield f"{data.claim}\n{data.expected}"
        elif isinstance(data, NoteAdded | MemoryNoted):
            yield blob_text(blob, data.text)
        elif isinstance(data, FileAdopted):
            yield blob_text(blob, data.blob)
        elif isinstance(data, MemoryMasked | MemoryUnmasked):
            yield data.reason


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
            self.known[seq] = render_texts(self.events[:seq], self.blob).files if there else {}
        return self.known[seq]

    def rendered(self, path: str, file: RenderedFile) -> bool:
        """Return whether a file is what the journal rendered at the event its header names."""
        seq = file.head.seq
        is_known = 0 < seq <= len(self.events) and self.events[seq - 1].zh == file.head.zh
        return is_known and self.files(seq).get(path, "").encode() == file.body
