"""What outside a journal knows of its end: rendered files and commits name the event they were made from.

The hash chain can't tell that whole lines were cut off the end; these can. Such a journal is not continued.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from kopt_kb.base.errors import MissingTool
from kopt_kb.sandbox.gitrun import Git, GitError
from kopt_kb.workspace.gitview import TRAILER
from kopt_kb.workspace.journal.chain import Head, JournalError
from kopt_kb.workspace.journal.events import Event
from kopt_kb.workspace.journal.journal import Journal
from kopt_kb.workspace.layout import Layout
from kopt_kb.workspace.views.brought import rendered_files
from kopt_kb.workspace.views.files import ViewError, read_file

__all__ = ["Anchor", "commit_anchors", "latest_view", "open_journal", "refuse_cut"]


@dataclass(frozen=True, slots=True)
class Anchor:
    """An event that something outside the journal names: its number and hash, and what names it."""

    head: Head
    name: str

    def is_in(self, events: tuple[Event, ...]) -> bool:
        """Return whether a journal holds that event."""
        seq = self.head.seq
        return 0 < seq <= len(events) and events[seq - 1].zh == self.head.zh


def latest_view(layout: Layout) -> Anchor | None:
    """Return the latest event that a rendered file names whose text nobody edited; None without such a file."""
    latest: Anchor | None = None
    for path in rendered_files(layout):
        name = path.relative_to(layout.root).as_posix()
        try:
            view = read_file(layout.root, name)
        except ViewError:
            continue  # the audit names what stands in a view's place
        if view is not None and view.intact and (latest is None or view.head.seq > latest.head.seq):
            latest = Anchor(view.head, name)
    return latest


def commit_anchors(layout: Layout) -> Iterator[Anchor]:
    """Yield the event that each commit of the workspace's own repository shows; none where there is no repository.

    Raises:
        GitError: The repository can't be read.
        MissingTool: git is not installed.
    """
    if not (layout.root / ".git").exists():
        return
    form = f"--format=%h %(trailers:key={TRAILER},valueonly,separator=%x20)"
    try:
        lines = Git(layout.root).text("log", form).splitlines()
    except GitError as error:
        if "does not have any commits yet" in error.what:
            return
        raise
    for line in lines:
        commit, _, trailer = line.partition(" ")
        seq, _, zh = trailer.strip().partition(":")
        if seq.isdigit():
            yield Anchor(Head(int(seq), zh), f"commit {commit}")


def refuse_cut(layout: Layout, events: tuple[Event, ...]) -> None:
    """Raise `JournalError` when a rendered file or a commit names an event that the journal does not hold."""
    view = latest_view(layout)
    try:
        anchors = [*([view] if view is not None else []), *commit_anchors(layout)]
    except (GitError, MissingTool):
        anchors = [view] if view is not None else []
    lost = next((anchor for anchor in anchors if not anchor.is_in(events)), None)
    if lost is not None:
        raise JournalError(
            f"the journal ends with event {len(events)}, yet {lost.name} shows event {lost.head.seq} of it"
            if lost.head.seq > len(events)
            else f"{lost.name} shows event {lost.head.seq} of another journal",
            where=f"{layout.journal}:{min(lost.head.seq, len(events))}",
            fix="restore the journal from a backup or a commit; kb audit names what else does not hold",
            code="KB314",
        )


def open_journal(layout: Layout) -> Journal:
    """Open a workspace's journal for writing; one that lost its end is refused, and not a byte of it changes.

    Raises:
        JournalError: It is damaged, or views or commits show more of it than it holds.
        JournalBusyError: Somebody else writes it.
    """
    return Journal.open(layout.journal, check=partial(refuse_cut, layout))
