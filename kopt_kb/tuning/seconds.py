"""What runs of a campaign took so far, and what of a call's budget a round keeps for its decision."""

from __future__ import annotations

import math

from kopt_kb.launch.candidate.job import JobKind
from kopt_kb.tuning.policy import Policy, gates_of
from kopt_kb.workspace.rounds import Round
from kopt_kb.workspace.state import WorkspaceState

__all__ = ["decision_s", "last_s", "longest_s", "search_end_s", "spent_s"]

_LEAST_SHARE = 0.1
"""Of what is left, the share that a search gets where a decision may need all of it."""


def spent_s(current: Round) -> float:
    """Return the seconds that the finished runs of a round took together."""
    return sum(run.finished.wall_s for run in current.runs.values() if run.finished is not None)


def longest_s(state: WorkspaceState, *kinds: JobKind) -> float:
    """Return what the longest finished run of each kind took, in all; 0 for kinds that never finished well."""
    return sum(max(_took(state, kind), default=0.0) for kind in kinds)


def last_s(state: WorkspaceState, *kinds: JobKind) -> float:
    """Return what the last finished run of each kind took, in all; 0 for kinds that never finished well."""
    return sum((_took(state, kind) or [0.0])[-1] for kind in kinds)


def _took(state: WorkspaceState, kind: JobKind) -> list[float]:
    finished = [run for round_ in state.rounds for run in round_.runs.values() if run.started.gate == kind]
    return [one.finished.wall_s for one in finished if one.finished is not None and one.finished.outcome == "ok"]


def decision_s(state: WorkspaceState, policy: Policy) -> float:
    """Return the seconds that the gates of a round take, by what they took last; 0 before they ran."""
    return last_s(state, "check", "timing", *_launcher(policy))


def search_end_s(state: WorkspaceState, policy: Policy, left_s: float) -> float:
    """Return the seconds after which a search has to end, so that what it finds can be decided within a call.

    A contest has two sides, and what is checked may be recorded for the first time: both are given twice what they
    took at most, and the launcher what it took last.

    Args:
        state: What ran so far.
        policy: Which gates there are.
        left_s: Seconds that the call has left.
    """
    if not math.isfinite(left_s):
        return left_s
    kept_s = 2 * longest_s(state, "check", "timing") + last_s(state, *_launcher(policy))
    return max(left_s - kept_s, _LEAST_SHARE * left_s)


def _launcher(policy: Policy) -> tuple[JobKind, ...]:
    return ("launcher",) if "launcher" in gates_of(policy) else ()
