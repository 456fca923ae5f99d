"""The ledger of a version: what became of each opportunity that its verdict and its gaps list."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from kopt_kb.base.wire import Wire
from kopt_kb.workspace.journal.direction_events import Opportunity, OpportunityState
from kopt_kb.workspace.rounds import Round

__all__ = ["OPEN", "LedgerEntry", "ledger_of"]

_UNTRIED = frozenset(f"gate {gate}" for gate in ("lint", "limits", "build", "correctness"))
"""Rules by which a candidate went before anybody could time it."""

OPEN: frozenset[OpportunityState] = frozenset({"untried", "unexplained", "hypothesis"})
"""States that still ask for something."""


@dataclass(frozen=True, slots=True)
class LedgerEntry(Wire):
    """An opportunity as it stands.

    Attributes:
        opportunity: Its last event.
        state: What became of it: a round that took it up has decided it.
        reason: Why.
    """

    WIRE: ClassVar = (
        "id=opportunity.id", "text=opportunity.text", "categories=opportunity.categories",
        "share_pct=opportunity.share_pct", "state", "round=opportunity.round", "reason",
        "evidence=opportunity.evidence",
    )  # fmt: skip
    opportunity: Opportunity
    state: OpportunityState
    reason: str

    @property
    def is_open(self) -> bool:
        """Whether nobody closed or dismissed it yet."""
        return self.state in OPEN

    def __str__(self) -> str:
        """One line: state, worth, text, reason."""
        one = self.opportunity
        worth = "" if one.share_pct is None else f", at most {one.share_pct:.0f} % of the time"
        by = f" (round {one.round})" if one.round is not None else ""
        return f"{self.state}{by}: {one.text}{worth}" + (f": {self.reason}" if self.reason else "")


def ledger_of(events: Mapping[int, Opportunity], rounds: Mapping[int, Round], version: int) -> tuple[LedgerEntry, ...]:
    """Return the opportunities of a version, largest share first.

    Args:
        events: Sequence number → event.
        rounds: Number → round.
        version: Whose ledger.
    """
    last: dict[str, Opportunity] = {}
    for event in events.values():
        if event.version == version:
            last[event.id] = event
    entries = [_entry(one, rounds) for one in last.values()]
    return tuple(sorted(entries, key=lambda one: -(one.opportunity.share_pct or 0.0)))


def _entry(opportunity: Opportunity, rounds: Mapping[int, Round]) -> LedgerEntry:
    """Return how it stands: the decision of the round that took it up is what became of it."""
    taken = rounds.get(opportunity.round) if opportunity.round is not None else None
    if opportunity.state != "hypothesis" or taken is None or taken.decided is None:
        return LedgerEntry(opportunity, opportunity.state, opportunity.reason)
    evidence = replace(opportunity, evidence=(*opportunity.evidence, taken.decided_seq))
    if taken.accepted:
        return LedgerEntry(evidence, "closed", f"accepted: {taken.decided.rule}")
    said = f"{taken.decided.decision}: {taken.decided.rule}"
    if taken.decided.decision == "unverified" or (
        taken.decided.rule.removesuffix(" (quick)") in _UNTRIED and not taken.decided.measured
    ):
        return LedgerEntry(evidence, "untried", said)  # what could not be measured refutes nothing
    return LedgerEntry(evidence, "dismissed", said)
