"""The states of a campaign: which follows which, and which reasons lead from where to REPORT."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import get_args

from kopt_kb.tuning.policy import ALWAYS, Policy, StopReason
from kopt_kb.workspace.route import Route
from kopt_kb.workspace.state import WorkspaceState

__all__ = ["EXITS", "NEXT", "State", "exits", "may_follow", "state_of"]


class State(StrEnum):
    """Where a campaign stands."""

    DEFINE_TARGET = "DEFINE_TARGET"
    PREPARE_ENVIRONMENT = "PREPARE_ENVIRONMENT"
    READ_HISTORICAL_TIPS = "READ_HISTORICAL_TIPS"
    BASELINE = "BASELINE"
    ANALYZE = "ANALYZE"
    OPTIMIZE = "OPTIMIZE"
    VALIDATE = "VALIDATE"
    ACCEPT = "ACCEPT"
    ACCEPT_WITH_NOTE = "ACCEPT_WITH_NOTE"
    ROLLBACK = "ROLLBACK"
    REPORT = "REPORT"


_AFTER = {
    "accept": State.ACCEPT,
    "accept_with_note": State.ACCEPT_WITH_NOTE,
    "rollback": State.ROLLBACK,
    "unverified": State.ROLLBACK,
}


def state_of(state: WorkspaceState) -> State:
    """Return where a campaign stands: what the next step works on, or the word of the last decision."""
    if state.stopped is not None:
        return State.REPORT
    if state.campaign is None or state.route == "roofline":
        return State.DEFINE_TARGET
    if not state.environment_seq:
        return State.PREPARE_ENVIRONMENT
    if not state.tips_seq:
        return State.READ_HISTORICAL_TIPS
    if state.baseline is None:
        return State.BASELINE
    last = state.rounds[-1]
    if last.decided is not None:
        return _AFTER[last.decided.decision]
    if last.hypothesis is None:
        return State.ANALYZE
    return State.VALIDATE if last.name in last.submitted else State.OPTIMIZE


_DECIDED = frozenset({State.ACCEPT, State.ACCEPT_WITH_NOTE, State.ROLLBACK})
_ROUND = frozenset({State.ANALYZE, State.OPTIMIZE})

NEXT: Mapping[State, frozenset[State]] = {
    State.DEFINE_TARGET: frozenset({State.PREPARE_ENVIRONMENT}),
    State.PREPARE_ENVIRONMENT: frozenset({State.READ_HISTORICAL_TIPS}),
    # A campaign that was stopped and started again goes on where its rounds stand.
    State.READ_HISTORICAL_TIPS: frozenset({State.BASELINE, State.VALIDATE}) | _ROUND | _DECIDED,
    State.BASELINE: frozenset({State.ACCEPT}),
    State.ANALYZE: frozenset({State.OPTIMIZE}),
    State.OPTIMIZE: frozenset({State.VALIDATE}),
    State.VALIDATE: _DECIDED,
    State.ACCEPT: _ROUND,
    State.ACCEPT_WITH_NOTE: _ROUND,
    State.ROLLBACK: _ROUND,
    State.REPORT: frozenset({State.PREPARE_ENVIRONMENT}),
}
"""State → states that a step may reach from it besides itself and REPORT; from REPORT only a new start leads on."""

_ALL: frozenset[StopReason] = frozenset(get_args(StopReason))
_USER: frozenset[StopReason] = frozenset({"user"})

EXITS: Mapping[State, frozenset[StopReason]] = {
    State.DEFINE_TARGET: _USER,
    State.PREPARE_ENVIRONMENT: _USER,
    State.READ_HISTORICAL_TIPS: _USER,
    State.BASELINE: frozenset({"user", "budget", "exhausted", "aborted"}),
    State.ANALYZE: frozenset({"user", "exhausted"}),
    State.OPTIMIZE: _USER,
    State.VALIDATE: _USER,
    State.ACCEPT: _ALL,
    State.ACCEPT_WITH_NOTE: _ALL,
    State.ROLLBACK: _ALL,
    State.REPORT: frozenset(),
}
"""State → reasons that lead from it to REPORT; `exits` narrows to the policy's, and straight after the baseline."""

_STRAIGHT_AFTER_BASELINE: frozenset[StopReason] = frozenset({"user", "exhausted"})


def exits(state: WorkspaceState, policy: Policy) -> frozenset[StopReason]:
    """Return the reasons of the policy for which a campaign may end where it stands.

    Straight after the baseline only the user ends it, or that nobody has a hypothesis: then there is no round to do.
    """
    found = EXITS[state_of(state)] & (ALWAYS | set(policy.stop_reasons))
    last = state.attempts[max(state.attempts)]
    straight = last.is_baseline and last.accepted and last.decided is not None
    return found & _STRAIGHT_AFTER_BASELINE if straight else found


def may_follow(route: Route, before: State, after: State) -> bool:
    """Return whether a step, a stop or a new start may lead from one state to another."""
    if before is after:
        return True
    if route == "roofline":
        return (before, after) == (State.DEFINE_TARGET, State.REPORT)
    return after in NEXT[before] or (after is State.REPORT and bool(EXITS[before]))
