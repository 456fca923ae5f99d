"""Steers proposers by a plan: one recommendation at a time, in the plan's order, each tried once."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from kopt_kb.analysis.rules.categories import CATEGORIES
from kopt_kb.packs.coordination.routing.plan import Plan, RoutedStep, recommendation_of
from kopt_kb.tuning.proposals import EvidenceAsked, Proposal, Proposer, ProposerView, Tried

__all__ = ["AutopilotProposer", "left_out"]

_CATEGORY_WORDS: Mapping[str, str] = {
    "memory_traffic": r"traffic|bytes|reuse|fus|attention|recomput|precision|half|fp8|bf16",
    "memory_access": r"coalesc|vectoriz|sector|wider|align|contiguous|bank|access",
    "caching": r"cache|l2|shared memory|swizzle|tile",
    "latency_hiding": r"latency|prefetch|pipelin|async|stage|overlap|stall",
    "parallelism": r"occupan|parallel|split|more blocks|grid|waves?",
    "scheduling": r"schedul|persistent|order|balance|tail",
    "compute": r"tensor core|matrix|mma|mfma|instruction|compute|exp2?\b",
    "launch_configuration": r"tile|block size|num_warps|stage|config|registers?|autotune|occupan",
}


_BUILT_IN = frozenset({"package", "variants", "recipes", "knobs"})
"""Proposers that choose by category and read no words."""

_OF_KERNELS = frozenset(
    {"", "perf-profiling-specialist", "kernel-triton-specialist", "kernel-cute-specialist", "kernel-cutile-specialist"}
)
"""Specialists whose work a change of the kernel may be."""


def _categories(text: str) -> frozenset[str]:
    """Return the kinds of change that a recommendation speaks of."""
    return frozenset(name for name, words in _CATEGORY_WORDS.items() if re.search(words, text, re.IGNORECASE))


def _may_ask(proposer: Proposer, step: RoutedStep) -> bool:
    """Return whether a proposer is asked: one that reads no words only where they name a kind of change."""
    kernel = step.specialist in _OF_KERNELS and bool(_categories(step.recommendation.text))
    return kernel or proposer.name not in _BUILT_IN


def left_out(plan: Plan, tried: Sequence[Tried]) -> dict[str, str]:
    """Return step → why it is not tried: it was, nobody does it, or what it needs was not accepted."""
    ended = {identity: one.decision for one in tried if (identity := recommendation_of(one.claim))}
    found: dict[str, str] = {}
    for step in plan.steps:
        failed = [at for at in step.after if at in ended and not ended[at].startswith("accept")]
        if step.id in ended:
            found[step.id] = f"tried: {ended[step.id]}"
        elif step.availability == "not_available":
            found[step.id] = f"not available here: {step.specialist} does it"
        elif failed:
            found[step.id] = f"needs {', '.join(failed)}, which was not accepted"
    return found


@dataclass(frozen=True, slots=True)
class AutopilotProposer:
    """Asks others for the next step of the plan; their claims get its id in front."""

    plan: Plan
    others: tuple[Proposer, ...]
    name: str = "autopilot"

    def propose(self, view: ProposerView) -> Proposal | EvidenceAsked | None:
        """Return a hypothesis for the first step that is open and that somebody has one for; None after the last."""
        out = left_out(self.plan, view.tried)
        for step in self.plan.steps:
            if step.id not in out:
                made = self._asked(step, view)
                if made is not None:
                    return made
        return None

    def _asked(self, step: RoutedStep, view: ProposerView) -> Proposal | EvidenceAsked | None:
        text = step.recommendation.text
        others = frozenset(CATEGORIES) - (_categories(text) or frozenset(CATEGORIES))
        plain = tuple(replace(one, claim=_without_id(one.claim)) for one in view.tried)
        own = replace(
            view, avoid=view.avoid | others, tried=plain, step=f"{step.id} [{step.recommendation.impact}] {text}"
        )
        for other in self.others:
            made = other.propose(own) if _may_ask(other, step) else None
            if isinstance(made, Proposal):
                head = f"{step.id} [{step.recommendation.impact}] {text}: "
                if other.name in _BUILT_IN:  # of its kind, and not what the words ask for
                    head = f"{step.id} [{step.recommendation.impact}] {made.category} for {text!r}: "
                head = "" if recommendation_of(made.claim) == step.id else head
                return replace(made, claim=f"{head}{made.claim}", risk=made.risk or step.risk)
            if made is not None:
                return made
        return None


def _without_id(claim: str) -> str:
    """Return a claim as its proposer made it."""
    return re.sub(r"^R\d+ \[\w+\] .*?: ", "", claim, count=1)
