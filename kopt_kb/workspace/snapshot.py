"""The commit of an accepted round: kernel, journal, blobs, views and what people wrote, as of its decision."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from kopt_kb.sandbox.gitrun import Git
from kopt_kb.workspace.fold import fold
from kopt_kb.workspace.gitview import commit_event, commit_showing
from kopt_kb.workspace.journal.blobs import ObjectError, ObjectStore
from kopt_kb.workspace.journal.disk import read_regular
from kopt_kb.workspace.journal.events import Event
from kopt_kb.workspace.journal.reader import journal_bytes, parse_events
from kopt_kb.workspace.layout import Layout
from kopt_kb.workspace.state import WorkspaceState
from kopt_kb.workspace.views.blocks import BlockError, replace_blocks
from kopt_kb.workspace.views.files import with_header
from kopt_kb.workspace.views.render import Texts, texts_of
from kopt_kb.workspace.views.words import SANDBOX

__all__ = ["commit_workspace"]

_SHA = re.compile(r'"([0-9a-f]{64})"')


def commit_workspace(
    layout: Layout, event: Event, subject: str, kernel: Mapping[str, bytes], state: WorkspaceState | None = None
) -> str:
    """Commit a workspace as the view of an event.

    Journal, blobs and views are those of the events up to this one, so that repeating it after a kill gives the same;
    plans, notes and the README's free text are what stands on disk now. A blob that an earlier commit holds is not sent
    again; one that is missing is left out, and the audit names it.

    Args:
        layout: The workspace, which has a git repository of its own.
        event: The event to show, such as the decision that accepted a round.
        subject: First line of the message.
        kernel: File → bytes of the accepted kernel.
        state: The state at the event, where the caller has it; one of another event is folded anew.

    Returns:
        The commit id; of the commit that shows the event already, where there is one.

    Raises:
        MissingTool: git is not installed.
        GitError: The folder has no repository, or git failed.
    """
    made = commit_showing(layout.root, event)
    if made:
        return made
    lines = b"".join(journal_bytes(layout.journal).splitlines(keepends=True)[: event.seq])
    store = ObjectStore(layout.objects)
    if state is None or state.head != event.zh:
        state = fold(parse_events(lines, layout.journal), store.get)
    files: dict[str, bytes | None] = dict(_authored(layout))
    files |= dict(_blobs(layout, lines, store))
    files |= _rendered(layout, texts_of(state, store.get))
    files |= kernel
    files[layout.journal.name] = lines
    return commit_event(layout.root, event, subject, files)


def _authored(layout: Layout) -> Iterator[tuple[str, bytes]]:
    """Yield what people and agents wrote; what is no regular file is passed over."""
    for path in sorted([layout.gitignore, *layout.plans.rglob("*"), *layout.notes.rglob("*")]):
        if path.is_symlink() or not path.is_file():
            continue
        data = read_regular(path)
        if data is not None:
            yield path.relative_to(layout.root).as_posix(), data


def _blobs(layout: Layout, lines: bytes, store: ObjectStore) -> Iterator[tuple[str, bytes]]:
    """Yield the blobs that lines of the journal name and HEAD does not hold."""
    held = set(Git(layout.root).text("ls-tree", "--name-only", "HEAD", "objects/", missing="").split())
    for sha in dict.fromkeys(_SHA.findall(lines.decode("ascii", "replace"))):
        name = f"objects/{sha}"
        if name in held or not store.has(sha):
            continue
        try:
            yield name, store.get(sha)
        except ObjectError:
            continue


def _rendered(layout: Layout, texts: Texts) -> dict[str, bytes]:
    shown = {path: text for path, text in texts.files.items() if not path.startswith(SANDBOX)}
    found = {path: with_header(path, text, texts.head) for path, text in shown.items()}
    for path, bodies in texts.blocks.items():
        data = _read(layout.root / path)
        try:
            found[path] = replace_blocks(data, bodies, path)
        except BlockError:
            found[path] = data
    return found


def _read(path: Path) -> bytes:
    try:
        return read_regular(path) or b""
    except OSError:
        return b""
