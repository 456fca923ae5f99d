"""The door `ProposerSource`: who is asked for hypotheses besides the core's own proposers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import argparse

    from kopt_kb.tuning.proposals import Proposer
    from kopt_kb.workspace.journal.campaign_events import PlanMade
    from kopt_kb.workspace.state import WorkspaceState

__all__ = ["ProposerContext", "ProposerPlace", "ProposerSource"]

ProposerPlace = Literal["first", "before_searches", "last"]
"""Before the core's own proposers, before those of them that search what a kernel declares, or behind all."""


@dataclass(frozen=True, slots=True)
class ProposerContext:
    """The campaign that hypotheses are for.

    Attributes:
        state: Of its workspace.
        policy: Name of its policy.
        options: Arguments of the command that runs it.
        plan: What was made of the arguments for this campaign; None where it follows no plan or is open already.
    """

    state: WorkspaceState
    policy: str
    options: argparse.Namespace
    plan: PlanMade | None = None

    @property
    def framework(self) -> str:
        """Language of the kernel, as the workspace was asked for."""
        return self.state.task.framework

    @property
    def plan_in_force(self) -> PlanMade | None:
        """The plan that was made now, or that the open campaign was confirmed with."""
        return self.plan or (self.state.plan if self.state.stopped is None else None)


@dataclass(frozen=True, slots=True)
class ProposerSource:
    """Proposers of a pack.

    Attributes:
        name: Stable name.
        what: The same in a reader's words, for messages.
        made: Returns its proposers for a campaign, none where they have nothing to say to it; not asked where a person
            gives the one hypothesis.
        place: Where they stand among the others.
        plan: Returns the plan that a campaign is to follow, which is recorded as it begins, or None; raises `BadInput`
            for arguments that contradict the policy.
        around: Called with all proposers of a campaign, in order; returns those that are asked in their place.
    """

    name: str
    what: str
    made: Callable[[ProposerContext], Sequence[Proposer]] | None = None
    place: ProposerPlace = "last"
    plan: Callable[[ProposerContext], PlanMade | None] | None = None
    around: Callable[[ProposerContext, tuple[Proposer, ...]], tuple[Proposer, ...]] | None = None
