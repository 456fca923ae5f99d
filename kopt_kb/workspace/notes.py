"""Adds what people say: to the section of README.md that belongs to them, and as events."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kopt_kb.base.errors import BadInput
from kopt_kb.workspace.anchors import open_journal
from kopt_kb.workspace.journal.blobs import ObjectStore
from kopt_kb.workspace.journal.disk import read_regular, replace_file
from kopt_kb.workspace.journal.events import Event
from kopt_kb.workspace.journal.setup_events import EventData, NoteAdded
from kopt_kb.workspace.layout import Layout
from kopt_kb.workspace.masks import mask_files
from kopt_kb.workspace.state import WorkspaceState
from kopt_kb.workspace.views.render import render_workspace
from kopt_kb.workspace.workspace import Workspace

__all__ = ["add_note", "add_readme_notes", "append_events"]

_HEAD = "## Additional Notes"


def add_readme_notes(layout: Layout, text: str) -> None:
    """Add a paragraph to Additional Notes; the word none goes.

    Raises:
        BadInput: The README or the section is missing, the text holds a marker, or the file changed meanwhile.
    """
    where = str(layout.readme)
    old = read_regular(layout.readme)
    words = text.strip()
    if not words or "<!-- kb:" in words or words.startswith("#"):
        raise BadInput("these notes can't stand in a README", where="--notes", fix="give plain words", code="KB102")
    lines = (old or b"").decode("utf-8", "replace").split("\n")
    if _HEAD not in lines:
        raise BadInput(f"there is no section {_HEAD}", where=where, fix="put the heading back", code="KB306")
    at = lines.index(_HEAD) + 1
    end = next((n for n in range(at, len(lines)) if lines[n].startswith("## ")), len(lines))
    kept = "\n".join(lines[at:end]).strip()
    body = [words] if kept in {"", "none"} else [kept, "", words]
    new = "\n".join([*lines[:at], "", *body, "", *lines[end:]]).encode()
    if not replace_file(layout.readme, new, expected=old):
        raise BadInput("changed while it was written", where=where, fix="run it again", code="KB328")


def append_events(workspace: Workspace, make: Callable[[WorkspaceState], Sequence[EventData]]) -> tuple[Event, ...]:
    """Append what `make` returns for the state there is; it decides under the lock, so nothing comes between.

    Masks that people set in rendered files are recorded first, so that the events say all that is masked.
    """
    with open_journal(workspace.layout) as journal:
        if mask_files(workspace.layout, workspace.state(journal.events)):
            render_workspace(workspace, journal=journal)
        return tuple(journal.append(data.kind, data) for data in make(workspace.state(journal.events)))


def add_note(workspace: Workspace, topic: str, data: bytes, by: str) -> Event:
    """Capture a text as a blob and note it under a topic: search, tip, pitfall or user."""
    if not data.strip():
        raise BadInput("the note is empty", where="note", fix="give --text or a --file with words", code="KB102")
    blob = ObjectStore(workspace.layout.objects).put(data)
    return append_events(workspace, lambda _: (NoteAdded(topic, blob, by),))[0]  # type: ignore[arg-type]
