"""The verdict on a kernel: one primary bottleneck with its proof, the others ranked, what to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from kopt_kb.analysis.evidence import Evidence
from kopt_kb.analysis.rules.advice import Advice
from kopt_kb.analysis.rules.base import Finding
from kopt_kb.analysis.rules.headroom import Headroom
from kopt_kb.analysis.rules.shown import verdict_blocks
from kopt_kb.analysis.rules.table import ROOT_CAUSES, BottleneckClass
from kopt_kb.analysis.rules.worth import Worth
from kopt_kb.base.markup.html import fragment
from kopt_kb.base.wire import Wire

__all__ = ["Recommendation", "Verdict"]

_ABSENT_SHOWN = 16
_RANKS = ("High", "Medium", "Low")


@dataclass(frozen=True, slots=True)
class Recommendation(Wire):
    """One action with the page that says so."""

    text: str
    page: str


@dataclass(frozen=True, slots=True)
class Verdict(Wire):
    """What limits a kernel.

    Attributes:
        bottleneck: Class of the closed table (`class` in JSON).
        limiter: Limiter of the closed table.
        code: Rule that found it.
        evidence: Why, each with its threshold and the wiki row the threshold comes from.
        absent: Metrics that were not collected and could change or complete the verdict.
        advice: What to do, and the page that says so.
        others: What later rules found, in order.
        headroom: Rates of the run under the roofs, that of the limiter first.
        doubts: Numbers of the report that can't be.
        recording: Commands that record what a named limiter needs; empty when there is one.
        worth: What removing a finding is worth, by its limiter.
    """

    bottleneck: BottleneckClass
    limiter: str
    code: str
    evidence: tuple[Evidence, ...]
    absent: tuple[str, ...]
    advice: Advice
    others: tuple[Finding, ...] = ()
    headroom: tuple[Headroom, ...] = ()
    doubts: tuple[str, ...] = ()
    recording: tuple[str, ...] = ()
    worth: Mapping[str, Worth] = field(default_factory=dict)

    WIRE: ClassVar = (
        "class=bottleneck", "limiter", "code", "root_cause", "evidence", "absent", "advice=recommendations", "others",
        "headroom", "doubts", "recording", "worth",
    )  # fmt: skip

    def __repr__(self) -> str:
        return f"Verdict({self.bottleneck}: {self.limiter}, rule {self.code})"

    def _repr_html_(self) -> str:
        return fragment(*verdict_blocks(self))

    @property
    def root_cause(self) -> str:
        """One word for the loop that tunes; `scheduling` and `unknown` are escalated to the user."""
        return ROOT_CAUSES[self.limiter]

    @property
    def recommendations(self) -> tuple[Recommendation, ...]:
        """The actions of the limiter's page."""
        return tuple(Recommendation(step, self.advice.page) for step in self.advice.steps)

    def text(self) -> str:
        """Return the block of primary bottleneck, evidence and ranked recommendations."""
        lines = [f"Primary bottleneck: {self.bottleneck}", f"Evidence: {self.proof}", *self.actions()]
        lines += [f"Worth: {one} {worth}" for one, worth in self.worth.items()]
        lines += [f"Headroom: {one}" for one in self.headroom]
        lines += [f"Doubt: {one}" for one in self.doubts]
        lines += [f"Record: {one}" for one in self.recording]
        return "\n".join(lines)

    @property
    def proof(self) -> str:
        """The evidence on one line, else what was not collected."""
        if self.evidence or len(self.absent) <= _ABSENT_SHOWN:
            return "; ".join(str(one) for one in self.evidence) or f"not collected: {', '.join(self.absent)}"
        shown = ", ".join(self.absent[:_ABSENT_SHOWN])
        return f"not collected: {shown} and {len(self.absent) - _ABSENT_SHOWN} more"

    def actions(self) -> list[str]:
        """Return the ranked recommendations, one a line."""
        ranks = [_RANKS[min(number, len(_RANKS) - 1)] for number in range(len(self.advice.steps))]
        steps = enumerate(zip(ranks, self.advice.steps, strict=True), 1)
        return ["Recommendations:", *(f"{at}. [{rank}] {step} ({self.advice.page})" for at, (rank, step) in steps)]
