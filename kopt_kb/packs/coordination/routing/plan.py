"""The order in which recommendations are tried: impact, risk, needs, interactions; and who does each."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal

from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import Wire
from kopt_kb.packs.coordination.routing.analysis import Analysis, RoutedAdvice
from kopt_kb.packs.coordination.routing.specialists import SAFETY_RULES, Availability
from kopt_kb.packs.coordination.routing.task import TaskRoute, route_task

__all__ = ["Plan", "RoutedStep", "plan_of", "planned", "recommendation_of"]

Risk = Literal["low", "medium", "high"]
_RISKS: tuple[Risk, ...] = ("low", "medium", "high")

_HIGH = re.compile(
    r"precision|fp8|fp16|bf16|fp4|quantiz|checkpoint|algorithm|rewrite|distributed|fsdp|\btp\b|atomics",
    re.IGNORECASE,
)
_LOW = re.compile(
    r"config|tile|block size|num_warps|num_stages|stages|unroll|autotune|launch|occupancy|vectoriz|wider|alignment"
    r"|record|enable|flag|pin(?:ned)?\b|profile",
    re.IGNORECASE,
)
_TOPICS: Mapping[str, str] = {
    "graph": r"cuda[\s_-]?graph|graph capture|capture the repeated", "shapes": r"static shapes?|padding|bucket",
    "pool": r"memory pool|pooling|allocat", "attention": r"flash[\s-]?attention|attention", "tileir": r"tile[\s-]?ir",
    "triton": r"\btriton\b", "precision": r"precision|fp8|fp16|bf16|quantiz", "fusion": r"\bfus(?:e|ed|ing|ion)",
    "checkpoint": r"checkpoint", "tiles": r"tile|block size|num_warps|stages",
}  # fmt: skip
_NEEDS: Mapping[str, tuple[str, ...]] = {
    "graph": ("shapes", "pool", "fusion"), "tileir": ("triton",), "tiles": ("precision", "fusion", "attention"),
}  # fmt: skip
"""Topic → topics that come before it where both are recommended: a graph fixes addresses and shapes, tiles depend on
types and on what is fused."""
_INTERACTS: Mapping[frozenset[str], str] = {
    frozenset({"attention", "pool"}): "a fused attention needs no buffers for what the pool would hold",
    frozenset({"attention", "checkpoint"}): "a fused attention recomputes already",
    frozenset({"graph", "pool"}): "a graph keeps addresses: the pool has to be there before capture",
    frozenset({"precision", "tiles"}): "tiles are chosen for a type: search them again after it changes",
    frozenset({"fusion", "graph"}): "fusion leaves fewer launches for a graph to save",
}
_IMPACT = {"High": 0, "Medium": 1, "Low": 2}


@dataclass(frozen=True, slots=True)
class RoutedStep(Wire):
    """One recommendation in its place.

    Attributes:
        id: How rounds name it, such as `R2`.
        recommendation: What it is.
        risk: How far it reaches, and how easily it is taken back.
        after: Steps that have to come before it.
        interacts: What it does together with other steps.
        specialist: Who does it; empty where no words say.
        availability: Whether kb does it, drives a command, or nobody does it.
        command: What to run.
    """

    id: str
    recommendation: RoutedAdvice
    risk: Risk
    after: tuple[str, ...]
    interacts: tuple[str, ...]
    specialist: str
    availability: Availability
    command: str


@dataclass(frozen=True, slots=True)
class Plan(Wire):
    """An order of steps, tried one at a time under the rules."""

    bottleneck: str
    evidence: str
    kernel: str
    steps: tuple[RoutedStep, ...]
    rules: tuple[str, ...] = SAFETY_RULES

    @property
    def open_order(self) -> tuple[str, ...]:
        """Ids of the steps that somebody does, in order."""
        return tuple(one.id for one in self.steps if one.availability != "not_available")


def plan_of(analysis: Analysis, *, target: str = "", commands: Collection[str] = ()) -> Plan:
    """Return the plan of an analysis: what others need first, then impact, then risk, then the analysis's own order."""
    topics = {one.number: _topics(one.text) for one in analysis.recommendations}
    after = {one.number: _after(one, analysis, topics) for one in analysis.recommendations}
    made = {one.number: _step(one, analysis, topics, after, target, commands) for one in analysis.recommendations}
    waiting = sorted(made, key=lambda at: (_IMPACT[made[at].recommendation.impact], _RISKS.index(made[at].risk), at))
    order: list[int] = []
    while waiting:
        free = next((at for at in waiting if set(after[at]) <= set(order)), waiting[0])
        waiting.remove(free)
        order.append(free)
    steps = tuple(made[at] for at in order)
    return Plan(analysis.bottleneck, analysis.evidence, analysis.kernel, steps)


def _topics(text: str) -> frozenset[str]:
    return frozenset(name for name, pattern in _TOPICS.items() if re.search(pattern, text, re.IGNORECASE))


def _after(advice: RoutedAdvice, analysis: Analysis, topics: Mapping[int, frozenset[str]]) -> tuple[int, ...]:
    needed = {name for topic in topics[advice.number] for name in _NEEDS.get(topic, ())} - topics[advice.number]
    return tuple(
        other.number for other in analysis.recommendations if other is not advice and topics[other.number] & needed
        and not {name for topic in topics[other.number] for name in _NEEDS.get(topic, ())} & topics[advice.number]
    )  # fmt: skip


def _risk(text: str) -> Risk:
    if _HIGH.search(text):
        return "high"
    return "low" if _LOW.search(text) else "medium"


def _step(
    advice: RoutedAdvice,
    analysis: Analysis,
    topics: Mapping[int, frozenset[str]],
    after: Mapping[int, tuple[int, ...]],
    target: str,
    commands: Collection[str],
) -> RoutedStep:
    together = []
    for other in analysis.recommendations:
        for pair, what in _INTERACTS.items():
            mine, theirs = pair & topics[advice.number], pair & topics[other.number]
            if other is not advice and mine and theirs and mine | theirs == pair and mine != theirs:
                together.append(f"R{other.number}: {what}")
    route = _route(advice.text, target, commands)
    first = route.steps[0] if route is not None else None
    return RoutedStep(
        f"R{advice.number}", advice, _risk(advice.text), tuple(f"R{at}" for at in after[advice.number]),
        tuple(dict.fromkeys(together)),
        first.specialist if first is not None else "", route.answer if route is not None else "outside",
        first.command if first is not None else "kb tune run WORKSPACE --proposer COMMAND",
    )  # fmt: skip


def _route(text: str, target: str, commands: Collection[str]) -> TaskRoute | None:
    try:
        return route_task(text, target=target, commands=commands)
    except BadInput:
        return None  # advice on a kernel names no specialist: whoever proposes does it


def recommendation_of(claim: str) -> str:
    """Return the id of the step that a claim is about: it begins with it, `R2: …`; empty for any other."""
    found = re.match(r"(R\d+)\b", claim)
    return found[1] if found else ""


def planned(plan: Plan, identity: str) -> RoutedStep | None:
    """Return a step of a plan by its id."""
    return next((one for one in plan.steps if one.id == identity), None)
