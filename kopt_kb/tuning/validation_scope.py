"""Quick or full: the shapes of quick validation, and when a round that passed there has to be validated on all."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from kopt_kb.launch.candidate.answers import Check, Timing
from kopt_kb.launch.candidate.job import JobKind
from kopt_kb.problem.problem import Problem
from kopt_kb.problem.shapes import format_shape
from kopt_kb.tuning.decision import Decision, GateResult, decide
from kopt_kb.tuning.jobs import Ran
from kopt_kb.tuning.noise import noise_floor_pct
from kopt_kb.tuning.policy import Policy
from kopt_kb.workspace.journal.round_events import Measured
from kopt_kb.workspace.rounds import Round
from kopt_kb.workspace.state import WorkspaceState
from kopt_kb.workspace.targets.conditions import AboveCeilingError, StopConditions

__all__ = ["FULL_BELOW_PCT", "ValidationScope", "choose_scope", "met_on", "quick_validation", "representative_shapes"]

FULL_BELOW_PCT = 5.0
"""A gain on the representative shapes below this is validated on all shapes."""

_FEW, _MANY, _MANY_FROM = 3, 5, 8


@dataclass(frozen=True, slots=True)
class ValidationScope:
    """On which shapes a round is decided, and why: the representative ones, or all."""

    scope: Literal["quick", "full"]
    reason: str


def representative_shapes(problem: Problem, listed: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the shapes of quick validation in the problem's order: those listed, else small, median and large.

    Three, or five of eight and more shapes, spread evenly over the order of work (operations, then bytes); the same
    problem always gives the same ones. All shapes when there are no more than that.
    """
    order = [format_shape(shape) for shape in problem.shapes]
    if listed:
        return tuple(shape for shape in order if shape in listed)
    count = _MANY if len(order) >= _MANY_FROM else _FEW
    if len(order) <= count:
        return tuple(order)
    by_work = sorted(problem.shapes, key=lambda shape: (*_size(problem, shape), shape))
    last = len(by_work) - 1
    chosen = {format_shape(by_work[round(at * last / (count - 1))]) for at in range(count)}
    return tuple(shape for shape in order if shape in chosen)


def _size(problem: Problem, shape: tuple[int, ...]) -> tuple[int, int]:
    work = problem.work(shape)
    return sum(count.useful.value for count in work.flops), sum(count.compulsory.value for count in work.bytes)


def choose_scope(decision: Decision | None, *, risk: str, met: bool, last: str) -> ValidationScope:
    """Return where the round is decided, from what its quick validation says.

    Args:
        decision: What the policy says of the representative shapes; None: a gate failed there.
        risk: The proposal's own word.
        met: Whether the Stop Conditions hold on the representative shapes.
        last: Why no further round can come; empty when one can.
    """
    if decision is None:
        return ValidationScope("quick", "a gate failed on the representative shapes")
    if not decision.accepted:
        return ValidationScope("quick", f"{decision.rule} on the representative shapes: {decision.reason}")
    gain = decision.gain_pct or 0.0
    checks = (
        (risk == "high", "the proposal says that the risk is high"),
        (met, "the Stop Conditions hold on the representative shapes"),
        (bool(last), f"the direction is done: {last}"),
        (gain < FULL_BELOW_PCT, f"a gain of {gain:+.3f} % is under {FULL_BELOW_PCT:g} %"),
    )
    why = next((text for holds, text in checks if holds), "")
    if why:
        return ValidationScope("full", why)
    return ValidationScope("quick", f"a gain of {gain:+.3f} % on the representative shapes")


def met_on(conditions: StopConditions, medians_s: Mapping[str, float], *, every_shape: bool) -> bool:
    """Return whether the conditions of these shapes hold with these times; above a roof counts as met, to be judged."""
    records = {
        shape: Measured(f"quick:{shape}", "quick", shape, 1, median_s, {}, "quick", 1)
        for shape, median_s in medians_s.items()
    }
    own = StopConditions(tuple(condition for condition in conditions.conditions if condition.shape in records))
    try:
        judged = own.evaluate(records)
    except AboveCeilingError:
        return True
    return judged.all_met if every_shape else judged.aggregate_met


def quick_validation(
    policy: Policy, state: WorkspaceState, current: Round, run: Callable[[JobKind], Ran]
) -> ValidationScope:
    """Return the scope on which a round is decided, after validating it on the representative shapes.

    Args:
        policy: Decides on the representative shapes as it would on all.
        state: Noise and Stop Conditions.
        current: The open round.
        run: Runs a job of a kind on the representative shapes once and remembers it.
    """
    proposal = current.proposal
    if proposal is not None and proposal.confirms:
        return ValidationScope("full", "it confirms what quick rounds accepted")
    check = run("check")
    passed = check.outcome == "ok" and isinstance(check.result, Check) and check.result.passed
    timing = run("timing").result if passed else None
    if not isinstance(timing, Timing) or timing.problem:
        return choose_scope(None, risk="", met=False, last="")
    sides = timing.shapes
    old, new = (
        {shape: [sample.median_s for sample in each[side]] for shape, each in sides.items()}
        for side in ("incumbent", "candidate")
    )
    steps = (sample.step_pct for each in sides.values() for side in each.values() for sample in side)
    noise = noise_floor_pct(state.noise, steps)
    gates = [GateResult(gate, "pass") for gate in policy.required_gates]  # they are judged right after
    trusting = replace(policy, suspicious_gain_pct=None)  # a gain too good to be believed is timed again on this scope
    decision: Decision = decide(trusting, old, new, gates, noise_pct=noise)
    medians = {shape: statistics.median(times) for shape, times in new.items()}
    conditions = StopConditions.of(state)
    met = met_on(conditions, medians, every_shape=policy.stop_scope == "every_shape")
    done = sum(1 for round_ in state.rounds if round_.number and round_.seq > state.campaign_seq) >= (
        policy.max_rounds or 1e9
    )
    last = "it is the last round allowed" if done else ""
    return choose_scope(decision, risk=proposal.risk if proposal is not None else "", met=met, last=last)
