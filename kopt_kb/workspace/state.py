"""The state of a workspace: a fold over its events, computed when needed and never stored."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from kopt_kb.errors import BadInput
from kopt_kb.problem.problem import Problem
from kopt_kb.workspace.events import Event
from kopt_kb.workspace.round_events import Measured
from kopt_kb.workspace.setup_events import SpecRow, SpecsRegistered, TargetSet, UnknownRow, WorkspaceCreated

__all__ = ["WorkspaceState", "fold"]


@dataclass(slots=True)
class WorkspaceState:
    """What the events say up to `seq`.

    Attributes:
        created: The first event's data.
        specs: Registered rows by key, the latest registration of each.
        unknown: Needed values nobody publishes, by key.
        targets: The targets in force, and the sequence number of the event that set them.
        measured: Measurement records by id.
    """

    seq: int
    head: str
    created: WorkspaceCreated
    specs: dict[str, SpecRow] = field(default_factory=dict)
    unknown: dict[str, UnknownRow] = field(default_factory=dict)
    targets: TargetSet | None = None
    targets_seq: int = 0
    measured: dict[str, Measured] = field(default_factory=dict)
    times: dict[int, str] = field(default_factory=dict)

    @property
    def problem(self) -> Problem:
        """The operation, dtype and tolerance of the start, with the shapes of the targets in force."""
        changed = self.targets.work.get("problem") if self.targets is not None else None
        return Problem.from_json(changed or self.created.problem)

    @property
    def task(self) -> dict[str, Any]:
        """What the user asked for besides the problem: framework, architecture, notes, reference project."""
        return dict(self.created.problem.get("task", {}))

    @property
    def rooflines(self) -> list[dict[str, Any]]:
        """The rooflines the targets in force were computed from, one a shape."""
        return list(self.targets.work.get("rooflines", ())) if self.targets is not None else []


def fold(events: Iterable[Event]) -> WorkspaceState:
    """Return the state after these events; raises `BadInput` when the first is not workspace_created."""
    state: WorkspaceState | None = None
    for event in events:
        if state is None:
            if not isinstance(event.data, WorkspaceCreated):
                raise BadInput(f"the journal begins with {event.kind}, not workspace_created", code="KB310")
            state = WorkspaceState(event.seq, event.zh, event.data)
        _apply(state, event)
    if state is None:
        raise BadInput("the journal is empty", fix="create the workspace with `kb init`", code="KB310")
    return state


def _apply(state: WorkspaceState, event: Event) -> None:
    state.seq, state.head = event.seq, event.zh
    state.times[event.seq] = event.t
    data = event.data
    if isinstance(data, SpecsRegistered):
        state.specs.update({row.key: row for row in data.rows})
        state.unknown.update({row.key: row for row in data.unknown})
        for row in data.rows:
            state.unknown.pop(row.key, None)
    elif isinstance(data, TargetSet):
        state.targets, state.targets_seq = data, event.seq
    elif isinstance(data, Measured):
        state.measured[data.id] = data
