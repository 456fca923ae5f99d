"""Versions that a person masked in a rendered file: every reader leaves them out before an event says so."""

from __future__ import annotations

from kopt_kb.doors.view import views
from kopt_kb.workspace.layout import Layout
from kopt_kb.workspace.state import WorkspaceState

__all__ = ["hand_masked", "mask_files"]


def mask_files(layout: Layout, state: WorkspaceState) -> dict[int, str]:
    """Return version → file in which a person masked it, of versions that no event masks yet.

    The baseline, the incumbent and the fastest accepted version can't be masked, by hand neither.
    """
    said: dict[int, str] = {}
    for _, view in views():
        if view.hand_masks is not None:
            said |= view.hand_masks(layout.root, state)
    kept = state.unmaskable() | state.masked.keys() if said else frozenset()
    return {number: said[number] for number in sorted(said) if number in state.attempts and number not in kept}


def hand_masked(layout: Layout, state: WorkspaceState) -> dict[int, str]:
    """Return the versions that a person masked in a file and no event says yet, each with why."""
    return {number: f"masked is true in {file}, set by hand" for number, file in mask_files(layout, state).items()}
