"""The verdict on a kernel: one primary bottleneck with its proof, the others ranked, what to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kopt_kb.analysis.rules.advice import Advice
from kopt_kb.analysis.rules.base import Evidence, Finding
from kopt_kb.analysis.rules.headroom import Headroom
from kopt_kb.analysis.rules.table import ROOT_CAUSES, BottleneckClass

__all__ = ["Verdict"]

_RANKS = ("High", "Medium", "Low")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What limits a kernel.

    Attributes:
        bottleneck: Class of the closed table (`class` in JSON).
        limiter: Limiter of the closed table.
        code: Rule that found it.
        evidence: Why, each with its threshold and the wiki row the threshold comes from.
        absent: Metrics that were not collected and could change or complete the verdict.
        advice: What to do, and the page that says so.
        others: What later rules found, in order.
        headroom: Rates of the run under the platform's roofs; empty without a platform.
        doubts: Numbers of the report that can't be.
        recording: Commands that record what a named limiter needs; empty when there is one.
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

    @property
    def root_cause(self) -> str:
        """One word for the loop that tunes; `scheduling` and `unknown` are escalated to the user."""
        return ROOT_CAUSES[self.limiter]

    def text(self) -> str:
        """Return the block of primary bottleneck, evidence and ranked recommendations."""
        proof = "; ".join(str(one) for one in self.evidence) or f"not collected: {', '.join(self.absent)}"
        lines = [f"Primary bottleneck: {self.bottleneck}", f"Evidence: {proof}", "Recommendations:"]
        for number, step in enumerate(self.advice.steps, 1):
            rank = _RANKS[min(number, len(_RANKS)) - 1]
            lines.append(f"{number}. [{rank}] {step} ({self.advice.page})")
        lines += [f"Headroom: {one}" for one in self.headroom]
        lines += [f"Doubt: {one}" for one in self.doubts]
        lines += [f"Record: {one}" for one in self.recording]
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """Return the contract's `verdict` object."""
        return {
            "class": self.bottleneck,
            "limiter": self.limiter,
            "code": self.code,
            "root_cause": self.root_cause,
            "evidence": [one.to_json() for one in self.evidence],
            "absent": list(self.absent),
            "advice": [{"text": step, "page": self.advice.page} for step in self.advice.steps],
            "others": [
                {
                    "class": one.bottleneck,
                    "limiter": one.limiter,
                    "code": one.code,
                    "evidence": [proof.to_json() for proof in one.evidence],
                }
                for one in self.others
            ],
            "headroom": [one.to_json() for one in self.headroom],
            "doubts": list(self.doubts),
            "recording": list(self.recording),
        }
