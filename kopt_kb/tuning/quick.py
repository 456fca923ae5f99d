"""Quick validation of a round: check and timing on the representative shapes, and the level that follows from them."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import replace

from kopt_kb.runners.candidate.answers import Check, Timing
from kopt_kb.runners.candidate.job import JobKind
from kopt_kb.tuning.decision import Decision, GateResult, decide
from kopt_kb.tuning.gates import Ran
from kopt_kb.tuning.noise import noise_floor_pct
from kopt_kb.tuning.policy import Policy
from kopt_kb.tuning.scopes import Level, choose_level, met_on
from kopt_kb.workspace.rounds import Round
from kopt_kb.workspace.state import WorkspaceState
from kopt_kb.workspace.targets.conditions import StopConditions

__all__ = ["quick_level"]


def quick_level(policy: Policy, state: WorkspaceState, found: Round, run: Callable[[JobKind], Ran]) -> Level:
    """Return the level at which a round is decided, after validating it on the representative shapes.

    Args:
        policy: Decides on the representative shapes as it would on all.
        state: Noise and Stop Conditions.
        found: The open round.
        run: Runs a job of a kind at the quick level once and remembers it.
    """
    proposal = found.proposal
    if proposal is not None and proposal.confirms:
        return Level("full", "it confirms what quick rounds accepted")
    check = run("check")
    passed = check.outcome == "ok" and isinstance(check.result, Check) and check.result.passed
    timing = run("timing").result if passed else None
    if not isinstance(timing, Timing) or timing.problem:
        return choose_level(None, risk="", met=False, last="")
    sides = timing.shapes
    old, new = (
        {shape: [one.median_s for one in each[side]] for shape, each in sides.items()}
        for side in ("incumbent", "candidate")
    )
    steps = (one.step_pct for each in sides.values() for side in each.values() for one in side)
    noise = noise_floor_pct(state.noise, steps)
    gates = [GateResult(gate, "pass") for gate in policy.required_gates]  # they are judged right after
    trusting = replace(policy, suspicious_gain_pct=None)  # a gain too good to be believed is timed again at this level
    decision: Decision = decide(trusting, old, new, gates, noise_pct=noise)
    medians = {shape: statistics.median(times) for shape, times in new.items()}
    conditions = StopConditions.of(state)
    met = met_on(conditions, medians, every_shape=policy.stop_scope == "every_shape")
    done = sum(1 for one in state.rounds if one.number and one.seq > state.campaign_seq) >= (policy.max_rounds or 1e9)
    last = "it is the last round allowed" if done else ""
    return choose_level(decision, risk=proposal.risk if proposal is not None else "", met=met, last=last)
