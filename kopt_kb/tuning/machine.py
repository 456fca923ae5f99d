"""The machine that drives a campaign: what happens next, which state follows which, which reasons end it where."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, get_args

from kopt_kb.problem.shapes import format_shape
from kopt_kb.tuning.policy import ALWAYS, Policy
from kopt_kb.workspace.journal.campaign_events import CoreStopReason, StopReason
from kopt_kb.workspace.journal.pack_events import pack_of
from kopt_kb.workspace.rounds import Round
from kopt_kb.workspace.state import WorkspaceState

__all__ = [
    "EXITS",
    "NEXT",
    "STEPS",
    "MachineStep",
    "State",
    "StepName",
    "exits",
    "lacks_account",
    "lacks_noise",
    "lacks_reachable",
    "next_step",
    "owes",
    "state_of",
]


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

StepName = Literal[
    "rest", "end_at_targets", "define", "prepare", "read_tips", "begin_baseline", "measure_reachable", "measure_noise",
    "keep_version", "account_gap", "state_hypothesis", "submit", "validate", "next_round",
]  # fmt: skip
"""Functions of a campaign, one a step."""


@dataclass(frozen=True, slots=True)
class MachineStep:
    """One row of the machine.

    Attributes:
        name: The campaign's function that does it.
        when: Whether it is due, by the state and its open round.
        state: Where the campaign stands then, once there is a baseline; None: at the word of the last decision.
        does: What it does, for people.
        passing: Whether it is done on the way and says nothing of where the campaign stands.
        closes: Whether it belongs to the round before it: until it is done no budget ends the campaign, then views are
            rendered.
    """

    name: StepName
    when: Callable[[WorkspaceState, Round | None], bool]
    state: State | None
    does: str
    passing: bool = False
    closes: bool = False


def lacks_noise(state: WorkspaceState) -> bool:
    """Return whether rounds after the baseline would be decided without the noise of the machine in force."""
    shapes = {format_shape(shape) for shape in state.problem.shapes}
    return not state.simulated and state.baseline is not None and not shapes <= state.noise.keys()


def lacks_reachable(state: WorkspaceState) -> bool:
    """Return whether nobody looked yet what the machine in force reaches on the shapes of the targets."""
    if state.simulated or state.task.project is not None or state.open_round is not None:
        return False
    known = state.reachable_of(state.environment_seq)
    return any(one.shape not in known for one in state.rooflines)


def lacks_account(state: WorkspaceState) -> bool:
    """Return whether the best version was measured and nobody said where its time goes."""
    best = state.best
    if best is None or state.simulated or state.is_simulated(best) or state.open_round is not None:
        return False
    measured = {one.shape for one in state.rooflines} & best.times(best.name).keys()
    return not measured <= state.gaps_of(best).keys()


STEPS: tuple[MachineStep, ...] = (
    MachineStep("rest", lambda s, _: s.stopped is not None, State.REPORT, "nothing: only a new start leads on"),
    MachineStep(
        "end_at_targets", lambda s, _: s.route == "roofline", State.DEFINE_TARGET,
        "on the route roofline: record the campaign and end it with the targets",
    ),
    MachineStep("define", lambda s, _: s.campaign is None, State.DEFINE_TARGET, "record what was asked for"),
    MachineStep("prepare", lambda s, _: not s.environment_seq, State.PREPARE_ENVIRONMENT, "record the machine"),
    MachineStep("read_tips", lambda s, _: not s.tips_seq, State.READ_HISTORICAL_TIPS, "read earlier experience"),
    MachineStep(
        "measure_reachable", lambda s, _: lacks_reachable(s), None,
        "time a copy of the same bytes, or a fast kernel of the same shape", passing=True,
    ),
    # A kernel or project as it was given is the baseline; PyTorch logic needs a proposal.
    MachineStep(
        "begin_baseline", lambda s, _: not s.rounds and (s.route == "kernel" or s.task.project is not None),
        State.BASELINE,
        "begin round 0 with the kernel or project as it was given",
    ),
    MachineStep(
        "measure_noise", lambda s, _: lacks_noise(s), None,
        "time the best version against itself on a new machine", passing=True,
    ),
    MachineStep(
        "keep_version", lambda _, r: r is not None and r.decided is not None, None,
        "commit, record and check out the version that was accepted",
    ),
    MachineStep(
        "account_gap", lambda s, _: lacks_account(s), None,
        "say where the time of the best version above its roofs goes", passing=True, closes=True,
    ),
    MachineStep(
        "state_hypothesis",
        lambda _, r: r is not None and r.hypothesis is None and not (r.is_baseline and r.proposal is None),
        State.ANALYZE, "state the hypothesis of a round that was cut off before it",
    ),
    MachineStep(
        "submit", lambda _, r: r is not None and r.name not in r.submitted, State.OPTIMIZE,
        "run the round's search, if it has one, and submit its candidate",
    ),
    MachineStep("validate", lambda _, r: r is not None, State.VALIDATE, "judge the next gate, or decide"),
    MachineStep("next_round", lambda *_: True, None, "stop, or ask the proposers and begin the next round"),
)  # fmt: skip
"""The machine: the first step that is due is what happens next. Nothing else decides it."""


def next_step(state: WorkspaceState) -> MachineStep:
    """Return what happens next."""
    current = state.open_round
    return next(step for step in STEPS if step.when(state, current))


def owes(state: WorkspaceState) -> bool:
    """Return whether something that closes the last round is still to be done."""
    current = state.open_round
    return any(step.closes and step.when(state, current) for step in STEPS)


def state_of(state: WorkspaceState) -> State:
    """Return where a campaign stands: what the next step works on, or the word of the last decision."""
    current = state.open_round
    step = next(step for step in STEPS if step.when(state, current) and not step.passing)
    if step.state is not None and step.state in _BEFORE_ROUNDS:
        return step.state
    if state.baseline is None:
        return State.BASELINE
    decided = state.rounds[-1].decided
    return step.state or (_AFTER[decided.decision] if decided is not None else State.ANALYZE)


_BEFORE_ROUNDS = frozenset(
    {State.REPORT, State.DEFINE_TARGET, State.PREPARE_ENVIRONMENT, State.READ_HISTORICAL_TIPS}
)  # fmt: skip
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

_ALL: frozenset[StopReason] = frozenset(get_args(CoreStopReason))
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
"""State → reasons that lead from it to REPORT; `exits` narrows to the policy's, and straight after the baseline.

Where all do, those of packs do too.
"""

_STRAIGHT_AFTER_BASELINE: frozenset[StopReason] = frozenset({"user", "exhausted"})


def exits(state: WorkspaceState, policy: Policy) -> frozenset[StopReason]:
    """Return the reasons of the policy for which a campaign may end where it stands.

    Straight after the baseline only the user ends it, or that nobody has a hypothesis: then there is no round to do.
    """
    here = EXITS[state_of(state)]
    of_packs = {reason for reason in policy.stop_reasons if pack_of(reason)} if here == _ALL else set()
    allowed = (here | of_packs) & (ALWAYS | set(policy.stop_reasons))
    last = state.attempts[max(state.attempts)]
    straight = last.is_baseline and last.accepted and last.decided is not None
    return allowed & _STRAIGHT_AFTER_BASELINE if straight else allowed
