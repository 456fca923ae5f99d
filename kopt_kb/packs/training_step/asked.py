"""Whether a campaign's policy holds gains to a training step; asked by views of every campaign, so it loads nothing."""

from __future__ import annotations

from kopt_kb.workspace.needs import policy_words
from kopt_kb.workspace.state import WorkspaceState

__all__ = ["has_ended", "is_asked"]


def is_asked(state: WorkspaceState) -> bool:
    """Return whether the policy requires the gate, by its name or by the switch of earlier journals."""
    return "training_step.transfer" in policy_words(state, "required_gates")


def has_ended(state: WorkspaceState) -> bool:
    """Return whether such a campaign has ended."""
    return state.stopped is not None and is_asked(state)
