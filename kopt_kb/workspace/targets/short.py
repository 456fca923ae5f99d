"""Shapes whose target would be shorter than a launch, and so have no condition: read from what was recorded."""

from __future__ import annotations

from collections.abc import Mapping

from kopt_kb.workspace.journal import setup_events as events
from kopt_kb.workspace.state import WorkspaceState

__all__ = ["has_targets", "too_short", "without_condition"]


def too_short(targets: events.TargetSet | None) -> dict[str, str]:
    """Return shape → what its target is shorter than, of shapes that have no condition for that reason."""
    held = targets.work.get("too_short") if targets is not None else None
    if not isinstance(held, Mapping):
        return {}
    return {str(shape): str(held.get("than", "")) for shape in held.get("shapes", ())}


def without_condition(state: WorkspaceState) -> dict[str, str]:
    """Return shape → why it has no condition: its target is too short to be timed, or its bound UNKNOWN."""
    short = too_short(state.targets)
    judged = {one.shape for one in state.targets.targets} if state.targets is not None else set()
    unknown = {
        one.shape: "a value that its bound needs is UNKNOWN" for one in state.rooflines if one.bound == "unknown"
    }
    return {shape: f"its target is shorter than {than}" for shape, than in short.items()} | {
        shape: why for shape, why in unknown.items() if shape not in short and shape not in judged
    }


def has_targets(state: WorkspaceState) -> bool:
    """Return whether each shape has a condition, but for those whose target would be shorter than a launch."""
    targets = state.targets.targets if state.targets is not None else ()
    judged = sum(one.quantity != events.AGGREGATE for one in targets)
    return judged + len(too_short(state.targets)) >= len(state.problem.shapes)
