"""Whom packs have asked for hypotheses besides the core's own proposers, and the plan that a campaign may follow."""

from __future__ import annotations

from collections.abc import Iterator

from kopt_kb.base.errors import BadInput, MissingTool
from kopt_kb.doors.proposer_source import ProposerContext, ProposerPlace, ProposerSource
from kopt_kb.doors.table import behind
from kopt_kb.tuning.proposals import Proposer
from kopt_kb.workspace.journal.campaign_events import PlanMade

__all__ = ["plan_of_packs", "proposers_of_packs", "steered"]


def _sources() -> Iterator[ProposerSource]:
    for _, part in behind("loop_parts"):
        yield from part.proposers


def proposers_of_packs(context: ProposerContext, place: ProposerPlace) -> tuple[Proposer, ...]:
    """Return the proposers that packs put in a place, in the order of the packs."""
    made = (one.made(context) for one in _sources() if one.place == place and one.made is not None)
    return tuple(proposer for some in made for proposer in some)


def plan_of_packs(context: ProposerContext) -> PlanMade | None:
    """Return the plan that a campaign is to follow from its beginning; None where it follows none.

    Raises:
        BadInput: Two packs make one, or a pack refuses the arguments.
    """
    made = {one.name: plan for one in _sources() if one.plan is not None and (plan := one.plan(context)) is not None}
    if len(made) > 1:
        what = f"two plans for one campaign: {' and '.join(made)}"
        raise BadInput(what, where="kb tune", fix="give the arguments of one", code="KB103")
    return next(iter(made.values()), None)


def steered(context: ProposerContext, proposers: tuple[Proposer, ...]) -> tuple[Proposer, ...]:
    """Return who is asked in place of all proposers: themselves where no pack stands around them.

    Raises:
        MissingTool: The campaign follows a plan, and no pack here follows any.
    """
    plan = context.plan_in_force
    if plan is not None and not any(one.plan is not None for one in _sources()):
        what = f"the campaign follows the plan of {plan.source}, and no pack that is installed follows plans"
        fix = "install the pack that it was begun with, or end it with kb tune stop"
        raise MissingTool(what, where="kb tune", fix=fix, code="KB120")
    for one in _sources():
        if one.around is not None:
            proposers = one.around(context, proposers)
    return proposers
