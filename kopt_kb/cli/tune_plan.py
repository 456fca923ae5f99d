"""What `kb tune` makes of an analysis: a plan that is recorded with the campaign, and proposers that follow it."""

from __future__ import annotations

import argparse
from pathlib import Path

from kopt_kb.errors import BadInput
from kopt_kb.tuning.policy import Policy
from kopt_kb.tuning.proposals import Proposer
from kopt_kb.workspace.journal.campaign_events import PlanMade
from kopt_kb.workspace.state import WorkspaceState

__all__ = ["FORMS", "made_plan", "print_form", "steered"]

_MOST_BYTES = 4 << 20


def made_plan(args: argparse.Namespace, policy: Policy, state: WorkspaceState) -> PlanMade | None:
    """Return the plan of --analysis; None where the campaign follows none.

    Raises:
        BadInput: Policy autopilot without an analysis, an analysis under another policy, or one that can't be read.
    """
    opened = state.campaign is not None and state.stopped is None
    known = state.plan if opened else None
    if (policy.name == "autopilot") != bool(args.analysis or known):
        what = "policy autopilot without --analysis" if not args.analysis else f"--analysis under policy {policy.name}"
        fix = "give --policy autopilot and --analysis FILE together"
        raise BadInput(what, where="kb tune", fix=fix, code="KB103")
    if not args.analysis:
        return None
    if opened:
        what = "--analysis: the campaign was confirmed with a plan of its own"
        raise BadInput(what, where="kb tune", fix="leave it out, or end the campaign with kb tune stop", code="KB420")
    from kopt_kb.cli.main import COMMANDS
    from kopt_kb.files import read_words
    from kopt_kb.routing.analysis import read_analysis
    from kopt_kb.routing.plan import plan_of

    text = read_words(Path(args.analysis), _MOST_BYTES)
    made = plan_of(read_analysis(text, args.analysis), target=state.task.target, commands=COMMANDS)
    return PlanMade(args.analysis, made.to_json())


FORMS = ("optimization", "summary")
"""Reports as the coordination playbook writes them."""


def print_form(args: argparse.Namespace, state: WorkspaceState) -> int:
    """Print the report of the last round or of the whole campaign, as Markdown.

    Raises:
        BadInput: Nothing was tried yet, or another form of report is asked for too.
    """
    from kopt_kb.cli.output import printable_lines
    from kopt_kb.tuning.policy import confirmed_policy
    from kopt_kb.tuning.report import report_of
    from kopt_kb.tuning.summaries import optimization_report, summary_report

    if args.json or args.html or args.markdown:
        what = "--form, and --json, --html or --markdown"
        raise BadInput(what, where="kb tune report", fix="ask for one report", code="KB103")
    try:
        text = summary_report(state) if args.form == "summary" else optimization_report(state)
    except LookupError as error:
        fix = "run the campaign first"
        raise BadInput(str(error), where=args.workspace, fix=fix, code="KB431") from error
    print(printable_lines(text))
    return report_of(state, confirmed_policy(state.campaign)).exit_code


def steered(proposers: tuple[Proposer, ...], made: PlanMade | None, state: WorkspaceState) -> tuple[Proposer, ...]:
    """Return the proposers, behind the plan that was made or that the open campaign was confirmed with."""
    known = made or (state.plan if state.stopped is None else None)
    if known is None:
        return proposers
    from kopt_kb.routing.plan import Plan
    from kopt_kb.tuning.autopilot import AutopilotProposer
    from kopt_kb.wire import read

    return (AutopilotProposer(read(Plan, known.plan, where="plan"), proposers),)
