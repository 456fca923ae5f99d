"""The state of a workspace: a fold over its events, computed when needed and never stored."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from kopt_kb.analysis.roofline.recorded import RecordedRoofline, read_rooflines
from kopt_kb.errors import BadInput
from kopt_kb.problem.problem import Problem
from kopt_kb.workspace.journal.events import Event
from kopt_kb.workspace.journal.round_events import Measured
from kopt_kb.workspace.journal.setup_events import SpecRow, SpecsRegistered, TargetSet, UnknownRow, WorkspaceCreated
from kopt_kb.workspace.route import Route, route_of

__all__ = ["WorkspaceState", "apply_event", "fold", "new_state"]


@dataclass(slots=True)
class WorkspaceState:
    """What the events say up to `seq`.

    Attributes:
        created: The first event's data.
        specs: Registered rows by key, the latest registration of each.
        unknown: Needed values nobody publishes, by key.
        targets: The targets in force, and the sequence number of the event that set them.
        rooflines: The rooflines the targets in force were computed from, one a shape.
        measured: Measurement records by id.
    """

    seq: int
    head: str
    created: WorkspaceCreated
    specs: dict[str, SpecRow] = field(default_factory=dict)
    unknown: dict[str, UnknownRow] = field(default_factory=dict)
    targets: TargetSet | None = None
    targets_seq: int = 0
    rooflines: tuple[RecordedRoofline, ...] = ()
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
    def route(self) -> Route:
        """How the workspace enters the tuning loop."""
        return route_of(self.created.problem)

    @property
    def kernel(self) -> str:
        """Blob of the file the workspace starts from; raises `BadInput` when its route is the roofline only."""
        if self.created.kernel is None:
            raise BadInput(
                "this workspace has no kernel: its route is the roofline only",
                where=self.created.name,
                fix="make one to tune with kb init --kernel-demo",
                code="KB319",
            )
        return self.created.kernel


def fold(events: Iterable[Event]) -> WorkspaceState:
    """Return the state after these events; raises `BadInput` when the first is not workspace_created."""
    state: WorkspaceState | None = None
    for event in events:
        if state is None:
            state = new_state(event)
        apply_event(state, event)
    if state is None:
        raise BadInput("the journal is empty", fix="create the workspace with `kb init`", code="KB310")
    return state


def new_state(first: Event) -> WorkspaceState:
    """Return the state before a journal's first event is applied; raises `BadInput` unless it is workspace_created."""
    if not isinstance(first.data, WorkspaceCreated):
        raise BadInput(f"the journal begins with {first.kind}, not workspace_created", code="KB310")
    return WorkspaceState(first.seq, first.zh, first.data)


def apply_event(state: WorkspaceState, event: Event) -> None:
    """Take one more event up."""
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
        state.rooflines = read_rooflines(data.work.get("rooflines", ()), where=f"event {event.seq}: rooflines")
    elif isinstance(data, Measured):
        state.measured[data.id] = data
