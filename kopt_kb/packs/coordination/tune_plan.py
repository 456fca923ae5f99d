"""What `kb tune` makes of an analysis: a plan that is recorded with the campaign, and proposers that follow it."""

from __future__ import annotations

import argparse
from pathlib import Path

from kopt_kb.base.errors import BadInput
from kopt_kb.base.files import read_words
from kopt_kb.base.wire import read
from kopt_kb.cli.commands import all_commands
from kopt_kb.doors.proposer_source import ProposerContext
from kopt_kb.packs.coordination.autopilot import AutopilotProposer
from kopt_kb.packs.coordination.routing.analysis import read_analysis
from kopt_kb.packs.coordination.routing.plan import Plan, plan_of
from kopt_kb.tuning.proposals import Proposer
from kopt_kb.workspace.journal.campaign_events import PlanMade

__all__ = ["add_analysis", "following", "made_plan"]

_MOST_BYTES = 4 << 20


def add_analysis(parser: argparse.ArgumentParser) -> None:
    """Declare the argument that names an analysis."""
    parser.add_argument("--analysis", metavar="FILE", help="of policy autopilot: what to try, ranked (text or JSON)")


def made_plan(context: ProposerContext) -> PlanMade | None:
    """Return the plan of --analysis; None where the campaign follows none.

    Raises:
        BadInput: Policy autopilot without an analysis, an analysis under another policy, or one that can't be read.
    """
    state, analysis = context.state, context.options.analysis
    opened = state.campaign is not None and state.stopped is None
    known = state.plan if opened else None
    if (context.policy == "autopilot") != bool(analysis or known):
        what = "policy autopilot without --analysis" if not analysis else f"--analysis under policy {context.policy}"
        fix = "give --policy autopilot and --analysis FILE together"
        raise BadInput(what, where="kb tune", fix=fix, code="KB103")
    if not analysis:
        return None
    if opened:
        what = "--analysis: the campaign was confirmed with a plan of its own"
        raise BadInput(what, where="kb tune", fix="leave it out, or end the campaign with kb tune stop", code="KB420")

    text = read_words(Path(analysis), _MOST_BYTES)
    made = plan_of(read_analysis(text, analysis), target=state.task.target, commands=all_commands())
    return PlanMade(analysis, made.to_json())


def following(context: ProposerContext, proposers: tuple[Proposer, ...]) -> tuple[Proposer, ...]:
    """Return the proposers, behind the plan that was made or that the open campaign was confirmed with."""
    known = context.plan_in_force
    if known is None:
        return proposers
    return (AutopilotProposer(read(Plan, known.plan, where="plan"), proposers),)
