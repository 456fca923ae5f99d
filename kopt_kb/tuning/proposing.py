"""How a round gets its hypothesis: opportunities are listed, a review is held, proposers asked, the choice said."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

from kopt_kb.base.errors import BadInput
from kopt_kb.tuning.insights import choice_of, open_entries, opportunities, review_due, review_of, taken_up
from kopt_kb.tuning.known import known_of
from kopt_kb.tuning.options import CampaignOptions
from kopt_kb.tuning.policy import ALWAYS, Policy
from kopt_kb.tuning.proposals import EvidenceAsked, Proposal, Proposer, RepeatedHypothesisError, view_of
from kopt_kb.tuning.session import Session
from kopt_kb.tuning.stops import Stop, stagnant_categories
from kopt_kb.workspace.journal.campaign_events import Blocked
from kopt_kb.workspace.journal.round_events import HypothesisStated
from kopt_kb.workspace.plans import plan_path, round_plan
from kopt_kb.workspace.state import WorkspaceState

__all__ = ["Proposing"]

EvidenceOf = Callable[[WorkspaceState, str], str]
_MOST_ASKED = 16
"""Times that proposers are asked again with new evidence: each shape once is enough."""


def _no_evidence(_: WorkspaceState, __: str) -> str:
    return "nobody takes profiles here"


@dataclass(frozen=True, slots=True)
class Proposing:
    """What happens between two rounds.

    Attributes:
        session: Where events are appended.
        policy: Thresholds and stop reasons.
        proposers: Asked in order.
        options: What the campaign has besides.
        ends_at: Moment of `time.monotonic` at which the call ends.
        evidence: Profiles the best version on a shape; returns why there is no new profile, or nothing.
    """

    session: Session
    policy: Policy
    proposers: tuple[Proposer, ...]
    options: CampaignOptions
    ends_at: float = math.inf
    evidence: EvidenceOf = _no_evidence

    def listed(self, state: WorkspaceState) -> None:
        """Append what the best version's evidence offers and the ledger does not have yet."""
        for one in opportunities(state):
            self.session.append(one)

    def reviewed(self, state: WorkspaceState) -> WorkspaceState:
        """List what the best version's evidence offers, and hold a review after rollbacks; return the state then."""
        session, platform = self.session, self.options.platform
        self.listed(state)
        if review_due(state, self.policy):
            review = review_of(state, self.policy, platform)
            session.append(review)
            directions = "; ".join(one.text for one in review.directions) or "none is known"
            self.options.say(f"review after rounds {', '.join(map(str, review.versions))}: {directions}")
        return session.state()

    def held_open(self, state: WorkspaceState, stop: Stop | None) -> Stop | None:
        """Return the reason to stop, None where the policy wants the ledger closed first and it is open."""
        if stop is None or not self.policy.close_ledger or stop[0] in ALWAYS or not open_entries(state):
            return stop
        self.options.say(f"{stop[0]}, but {len(open_entries(state))} opportunities are open: the campaign goes on")
        return None

    def refuse_open(self, state: WorkspaceState, stop: Stop | None) -> None:
        """Raise `BadInput` where the policy wants the ledger closed and nobody has a hypothesis for what is open."""
        entries = open_entries(state)
        if stop is not None or not self.policy.close_ledger or not entries:
            return
        self.session.append(Blocked(tuple(f"{one.opportunity.id}: {one.opportunity.text}" for one in entries)))
        raise BadInput(
            f"{len(entries)} opportunities of {state.best.name if state.best is not None else 'no version'} are open",
            where=str(self.session.layout.root),
            fix="propose a hypothesis for each, or dismiss it with kb tune dismiss and its evidence",
            code="KB461",
        )

    def ask(self, state: WorkspaceState, incumbent: str) -> Proposal | None:
        """Return the first proposal; categories that stagnated come last.

        A proposer that asks for evidence gets it and is asked again; where it can't be had the next one is asked.
        """
        for _ in range(_MOST_ASKED):
            found, is_new = self._asked(state, incumbent)
            if not is_new:
                return found
            state = replace(state, profiles=self.session.state().profiles)
        return None

    def _asked(self, state: WorkspaceState, incumbent: str) -> tuple[Proposal | None, bool]:
        """Return the first proposal, and whether there is new evidence instead, with which to ask again."""
        avoid, source = stagnant_categories(state, self.policy), self.session.store.get(incumbent)
        known = known_of(state, self.options.platform)
        for excluded in dict.fromkeys((avoid, frozenset[str]())):
            view = replace(view_of(state, source, excluded), project=self.options.project, known=known)
            view = replace(view, ends_at=self.ends_at)
            for proposer in self.proposers:
                proposal = proposer.propose(view)
                if isinstance(proposal, EvidenceAsked):
                    why_not = self.evidence(state, proposal.shape)
                    if not why_not:
                        return None, True
                    self.options.say(f"{proposer.name} asks for evidence: {why_not}")
                    continue
                if proposal is None or proposal.category in excluded:
                    continue
                earlier = view.earlier(proposal.category, proposal.claim)
                if earlier is not None:
                    raise RepeatedHypothesisError(
                        f"round {earlier} tried this already: {proposal.claim}",
                        where=f"proposer {proposer.name}",
                        fix="state another hypothesis, or mask that version",
                    )
                return proposal, False
        return None, False

    def state_hypothesis(self, number: int, proposal: Proposal) -> None:
        """Append what was proposed, why its category was chosen, and the hypothesis."""
        session = self.session
        blob = session.store.put(proposal.source)
        evidence = self.chosen(number, proposal.category, session.append(proposal.made(number, blob)))
        said = (proposal.category, proposal.claim, proposal.expected)
        session.append(HypothesisStated(number, *said, evidence, proposal.proposer))
        self.options.say(f"round {number} [{proposal.category}] {proposal.claim}")
        self._write_plan(number)

    def _write_plan(self, number: int) -> None:
        """Leave the plan of a round in plans/, unless somebody wrote one; a disk that refuses stops no campaign."""
        path = plan_path(self.session.layout, number)
        if not path.exists():
            with suppress(OSError):
                path.write_text(round_plan(self.session.state(), number), encoding="utf-8")

    def chosen(self, number: int, category: str, proposal: int) -> tuple[int, ...]:
        """Append why a round's category was chosen and which opportunities it takes up; return its evidence."""
        session = self.session
        state = session.state()
        if state.baseline is None:
            return (proposal,)
        seqs = [proposal]
        if state.choice_of(number) is None:
            seqs.append(session.append(choice_of(state, number, category)))
        for one in taken_up(state, number, category, proposal):
            session.append(one)
        return tuple(seqs)
