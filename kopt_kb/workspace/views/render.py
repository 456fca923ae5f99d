"""Brings every rendered file and block of a workspace up to its journal; what somebody edited is kept as a blob."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from kopt_kb.base.errors import BadInput, KoptError
from kopt_kb.base.wire import Wire
from kopt_kb.workspace.anchors import latest_view, open_journal
from kopt_kb.workspace.journal.blobs import BlobReader, ObjectStore
from kopt_kb.workspace.journal.chain import Head
from kopt_kb.workspace.journal.disk import sweep
from kopt_kb.workspace.journal.journal import Journal, JournalBusyError
from kopt_kb.workspace.journal.round_events import MemoryMasked
from kopt_kb.workspace.layout import Layout
from kopt_kb.workspace.masks import mask_files
from kopt_kb.workspace.state import WorkspaceState
from kopt_kb.workspace.views.brought import Brought, brought_texts, raw_files, written_folders
from kopt_kb.workspace.views.files import write_blocks, write_file
from kopt_kb.workspace.views.profiles import write_raw, write_reports
from kopt_kb.workspace.views.readme import render_blocks
from kopt_kb.workspace.workspace import Workspace

__all__ = ["RenderReport", "Texts", "render_saying", "render_workspace", "texts_of"]

_README = "README.md"


@dataclass(frozen=True, slots=True)
class Texts:
    """What a journal renders: whole files by path, and the blocks of each file that people own.

    Attributes:
        faults: What packs that are installed can't render, and why.
    """

    head: Head
    files: dict[str, str]
    blocks: dict[str, dict[str, str]]
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RenderReport(Wire):
    """What rendering did.

    Attributes:
        head: End of the journal that was rendered.
        written: Files that changed, relative to the workspace.
        unchanged: Files that held their text already.
        kept: Edited file → blob that keeps its bytes.
        masked: Versions whose mask was set by hand in their file and is an event now.
        waiting: Versions masked by hand whose mask can't be recorded while another process writes the journal; their
            files were left alone.
        faults: What packs that are installed can't render, and why.
    """

    WIRE: ClassVar = (
        "seq=head.seq", "written", "unchanged", "kept=_kept", "masked=_masked", "waiting=_waiting",
    )  # fmt: skip
    head: Head
    written: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    kept: tuple[tuple[str, str], ...] = ()
    masked: tuple[int, ...] = ()
    waiting: tuple[int, ...] = ()
    faults: tuple[str, ...] = ()

    @property
    def _kept(self) -> dict[str, str]:
        return dict(self.kept)

    @property
    def _masked(self) -> tuple[str, ...]:
        return tuple(f"v{number}" for number in self.masked)

    @property
    def _waiting(self) -> tuple[str, ...]:
        return tuple(f"v{number}" for number in self.waiting)

    @property
    def text(self) -> str:
        """The report for people: what was kept and masked, what was written."""
        written = [f"wrote {path}" for path in self.written]
        return "\n".join([*self.lines(), *(written or [f"{len(self.unchanged)} rendered files are up to date"])])

    def lines(self) -> list[str]:
        """Return the report for people, a line each."""
        lines = [f"v{number} is masked, as its file said" for number in self.masked]
        lines += [
            f"v{number} is masked by hand; `kb render` records it once no process writes the journal"
            for number in self.waiting
        ]
        lines += [f"{path} was edited: its bytes are objects/{sha}, it is rendered again" for path, sha in self.kept]
        return [*lines, *self.faults]


def texts_of(state: WorkspaceState, blob: BlobReader) -> Texts:
    """Return every rendered text of a state; the same events and blobs give the same bytes.

    Where the route is the roofline alone nothing is ever tried, and README.md is all there is.

    Raises:
        ObjectError: A blob a text needs is missing or damaged.
    """
    is_tried = state.route != "roofline"
    brought = brought_texts(state, blob) if is_tried else Brought()
    files = brought.texts
    if state.benches and is_tried:
        from kopt_kb.workspace.views.bench import bench_log

        files.update(bench_log(state, blob))
    bodies = {name: body if body.endswith("\n") else f"{body}\n" for name, body in render_blocks(state).items()}
    if state.adopted:
        from kopt_kb.workspace.views.adopted import with_adopted

        for path, text in files.items():
            if path.endswith(".md"):
                files[path] = with_adopted(text, state, path, None, blob)
        bodies = {name: with_adopted(body, state, _README, name, blob) for name, body in bodies.items()}
    return Texts(Head(state.seq, state.head), files, {_README: bodies}, tuple(brought.faults))


def render_workspace(workspace: Workspace, *, journal: Journal | None = None) -> RenderReport:
    """Write every rendered file and block that changed; bytes that somebody edited go to objects/ first.

    A mask that a person set in a rendered file is recorded before that file is rendered.

    Args:
        workspace: The workspace.
        journal: Its journal where the caller holds it already; else it is opened when there is a mask to record.

    Raises:
        BadInput: A marker of the README is broken, or a rendered file knows a later event than the journal.
        ViewError: The disk refuses.
    """
    with _only_renderer(workspace.layout.root):
        _sweep(workspace.layout)
        masked, waiting = _record_masks(workspace, journal)
        state = workspace.state(journal.events if journal is not None else None)
        return _render(workspace.layout, state, masked, waiting)


def render_saying(
    workspace: Workspace, say: Callable[[str], None], journal: Journal | None = None
) -> RenderReport | None:
    """Bring the views up to the journal and say what was kept; None, and why, where they can't be written.

    The journal is the truth: a view that stands in the way stops no campaign and loses no record.
    """
    try:
        report = render_workspace(workspace, journal=journal)
    except (KoptError, ModuleNotFoundError) as error:
        say(f"views are not rendered: {error}; kb render writes them")
        return None
    for line in report.lines():
        say(line)
    return report


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


def _sweep(layout: Layout) -> None:
    """Remove what writers of rendered files and blobs left when they were killed."""
    for folder in written_folders(layout):
        sweep(folder)


def _record_masks(workspace: Workspace, journal: Journal | None) -> tuple[tuple[int, ...], dict[int, str]]:
    """Return the versions whose hand-set mask became an event, and version → file of those that have to wait."""
    layout = workspace.layout
    if journal is not None:
        return _mask(journal, workspace), {}
    masked = mask_files(layout, workspace.state())
    if not masked:
        return (), {}
    try:
        with open_journal(layout) as opened:
            return _mask(opened, workspace), {}
    except JournalBusyError:
        return (), masked


def _mask(journal: Journal, workspace: Workspace) -> tuple[int, ...]:
    masked = mask_files(workspace.layout, workspace.state(journal.events))
    if masked:
        names = ", ".join(masked.values())
        journal.append(MemoryMasked.kind, MemoryMasked(tuple(masked), f"set by hand in {names}", None))
    return tuple(masked)


def _render(layout: Layout, state: WorkspaceState, masked: tuple[int, ...], waiting: dict[int, str]) -> RenderReport:
    store, root = ObjectStore(layout.objects), layout.root
    texts = texts_of(state, store.get)
    _check_order(layout, texts)
    untouched = set(waiting.values())
    # First the file whose markers people can break: where they are broken nothing is written.
    done = {path: write_blocks(root / path, bodies, store) for path, bodies in texts.blocks.items()}
    for path, text in texts.files.items():
        if path not in untouched:
            done[path] = write_file(root, path, text, texts.head, store)
    if any(attempt.profiles for attempt in state.rounds):
        done |= write_reports(root, state, store)
    raw = raw_files(state, store.get)
    if raw:
        done |= write_raw(root, raw, store)
    return RenderReport(
        texts.head,
        tuple(path for path, one in done.items() if one.changed),
        tuple(path for path, one in done.items() if not one.changed),
        tuple((path, one.kept) for path, one in done.items() if one.kept),
        masked,
        tuple(waiting),
        texts.faults,
    )


def _check_order(layout: Layout, texts: Texts) -> None:
    """Raise when a rendered file knows a later event than the journal holds."""
    latest = latest_view(layout)
    if latest is None or latest.head.seq <= texts.head.seq:
        return
    raise BadInput(
        f"{latest.name} names event {latest.head.seq}, a later event than the journal holds ({texts.head.seq})",
        where=str(layout.journal),
        fix="restore the journal, or delete the rendered file",
        code="KB314",
    )
