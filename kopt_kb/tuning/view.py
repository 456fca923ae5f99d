"""From the state of a campaign to what proposers may know of it."""

from __future__ import annotations

from kopt_kb.problem.shapes import format_shape
from kopt_kb.tuning.proposals import View
from kopt_kb.workspace.state import WorkspaceState

__all__ = ["view_of"]


def view_of(state: WorkspaceState, incumbent: bytes, avoid: frozenset[str] = frozenset()) -> View:
    """Return what proposers may know of a state."""
    tried = tuple(
        {
            "round": one.number, "category": one.hypothesis.category, "claim": one.hypothesis.claim,
            "decision": "refuted" if one.refuted_by is not None else one.decided.decision, "rule": one.decided.rule,
        }
        for one in state.rounds
        if one.hypothesis is not None and one.decided is not None and one.number not in state.masked
    )  # fmt: skip
    problem, task = state.problem, state.task
    bound = state.targets.bound if state.targets is not None else "unknown"
    shapes = tuple(format_shape(one) for one in problem.shapes)
    number = state.rounds[-1].number + 1 if state.rounds else 0
    return View(
        problem.op,
        shapes,
        problem.dtype,
        str(task.get("target", "")),
        bound,
        state.limiter,
        number,
        incumbent,
        tried,
        avoid,
        str(task.get("framework", "")),
        "implement" if state.route == "pytorch" and state.baseline is None else "optimize",
    )
