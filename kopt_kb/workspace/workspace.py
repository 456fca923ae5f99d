"""A tuning workspace: created in one step from sourced values, opened from its journal."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kopt_kb.workspace.fold import folded
from kopt_kb.workspace.journal.blobs import ObjectStore
from kopt_kb.workspace.journal.events import Event
from kopt_kb.workspace.journal.reader import read_journal
from kopt_kb.workspace.layout import Layout, find_layout
from kopt_kb.workspace.state import WorkspaceState
from kopt_kb.workspace.targets.conditions import StopConditions

if TYPE_CHECKING:
    from kopt_kb.wiki.registry import Registry
    from kopt_kb.workspace.task import Task

__all__ = ["Workspace"]


@dataclass(frozen=True, slots=True)
class Workspace:
    """A workspace folder."""

    layout: Layout

    @classmethod
    def open(cls, path: str | Path) -> Workspace:
        """Return the workspace in a folder; raises `LayoutError` if there is none."""
        return cls(find_layout(Path(path)))

    @classmethod
    def create(cls, parent: str | Path, name: str, task: Task, registry: Registry) -> Workspace:
        """Create `kernel_opt_<name>` below `parent`; it appears complete or not at all.

        Raises:
            UnknownData: An input of a target is UNKNOWN and the task does not allow it.
            LayoutError: Something has that name already.
            WikiFaults: A row it needs does not load.
        """
        from kopt_kb.workspace.creation import create

        return cls(create(Path(parent), name, task, registry))

    def events(self) -> tuple[Event, ...]:
        """Return the journal's events; raises `JournalError` when it is corrupt."""
        return read_journal(self.layout.journal)

    def state(self, events: tuple[Event, ...] | None = None) -> WorkspaceState:
        """Return the state after the last event; a journal whose head did not move is folded once.

        Args:
            events: The journal's events where the caller has read them; None: they are read.
        """
        read = self.events() if events is None else events
        return folded(self.layout.journal, read, ObjectStore(self.layout.objects).get)

    def stop_conditions(self) -> StopConditions:
        """Return the conditions in force."""
        return StopConditions.of(self.state())
