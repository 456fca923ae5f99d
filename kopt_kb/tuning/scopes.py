"""Quick or full: the shapes of quick validation, and when a round that passed them has to be validated on all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from kopt_kb.problem.problem import Problem
from kopt_kb.problem.shapes import format_shape
from kopt_kb.tuning.decision import Decision
from kopt_kb.workspace.journal.round_events import Measured
from kopt_kb.workspace.targets.conditions import AboveCeilingError, StopConditions

__all__ = ["FULL_BELOW_PCT", "Level", "choose_level", "met_on", "representative_shapes"]

FULL_BELOW_PCT = 5.0
"""A gain on the representative shapes below this is validated on all shapes (rule of the Primus-Turbo campaign)."""

_FEW, _MANY, _MANY_FROM = 3, 5, 8


@dataclass(frozen=True, slots=True)
class Level:
    """At which level a round is decided, and why."""

    level: Literal["quick", "full"]
    reason: str


def representative_shapes(problem: Problem, listed: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the shapes of quick validation in the problem's order: those listed, else small, median and large.

    Three, or five of eight and more shapes, spread evenly over the order of work (operations, then bytes); the same
    problem always gives the same ones. All shapes when there are no more than that.
    """
    order = [format_shape(one) for one in problem.shapes]
    if listed:
        return tuple(one for one in order if one in listed)
    count = _MANY if len(order) >= _MANY_FROM else _FEW
    if len(order) <= count:
        return tuple(order)
    by_work = sorted(problem.shapes, key=lambda one: (*_size(problem, one), one))
    last = len(by_work) - 1
    chosen = {format_shape(by_work[round(at * last / (count - 1))]) for at in range(count)}
    return tuple(one for one in order if one in chosen)


def _size(problem: Problem, shape: tuple[int, ...]) -> tuple[int, int]:
    work = problem.work(shape)
    return sum(one.useful.value for one in work.flops), sum(one.compulsory.value for one in work.bytes)


def choose_level(decision: Decision | None, *, risk: str, met: bool, last: str) -> Level:
    """Return where the round is decided, from what its quick validation says.

    Args:
        decision: What the policy says of the representative shapes; None: a gate failed there.
        risk: The proposal's own word.
        met: Whether the Stop Conditions hold on the representative shapes.
        last: Why no further round can come; empty when one can.
    """
    if decision is None:
        return Level("quick", "a gate failed on the representative shapes")
    if not decision.accepted:
        return Level("quick", f"{decision.rule} on the representative shapes: {decision.reason}")
    gain = decision.gain_pct or 0.0
    checks = (
        (risk == "high", "the proposal says that the risk is high"),
        (met, "the Stop Conditions hold on the representative shapes"),
        (bool(last), f"the direction is done: {last}"),
        (gain < FULL_BELOW_PCT, f"a gain of {gain:+.3f} % is under {FULL_BELOW_PCT:g} %"),
    )
    why = next((text for holds, text in checks if holds), "")
    return Level("full", why) if why else Level("quick", f"a gain of {gain:+.3f} % on the representative shapes")


def met_on(conditions: StopConditions, medians_s: Mapping[str, float], *, every_shape: bool) -> bool:
    """Return whether the conditions of these shapes hold with these times; above a roof counts as met, to be judged."""
    found = {
        shape: Measured(f"quick:{shape}", "quick", shape, 1, median_s, {}, "quick", 1)
        for shape, median_s in medians_s.items()
    }
    own = StopConditions(tuple(one for one in conditions.conditions if one.shape in found))
    try:
        judged = own.evaluate(found)
    except AboveCeilingError:
        return True
    return judged.all_met if every_shape else judged.aggregate_met
