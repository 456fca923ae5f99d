r"""Tune a workspace's kernel: rounds of one hypothesis each, gated, measured and decided by a policy.

kb tune run kernel_opt_norm --policy gpu-wiki --yes
kb tune run kernel_opt_norm --simulate --yes        a declared simulator; nothing is measured
kb tune step kernel_opt_norm --plan plan.json       one state further, with your own hypothesis
kb tune status|report kernel_opt_norm
kb tune report kernel_opt_norm --html norm.html      one file to send round; --markdown norm.md for a pull request
kb tune stop kernel_opt_norm                        end the open campaign; run starts another on the same versions
kb tune patch kernel_opt_norm                       what the best version changes, for git apply
kb tune bundle kernel_opt_norm --output norm.kbb    all of it in one file, which kb audit verifies anywhere
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from kopt_kb.base.errors import BadInput, ExitCode, FindingError
from kopt_kb.base.wire import Wire
from kopt_kb.cli.kit.consent import allow, invoked, named_by, refuse_needless, reported, require
from kopt_kb.cli.kit.output import add_author, add_common, add_wiki, print_of, printable, say
from kopt_kb.cli.kit.pack_arguments import add_of_packs
from kopt_kb.cli.kit.page_output import add_report, check_report
from kopt_kb.cli.tune.campaign import add_campaign, asked_policy, campaign_of, proposers_of
from kopt_kb.cli.tune.confirmed import as_begun, as_confirmed, check_plan, launch_of, settings_of
from kopt_kb.cli.tune.form import add_form, print_form
from kopt_kb.cli.tune.judge import JudgeChoice, judge_of, judged_policy, many
from kopt_kb.cli.tune.text import confirm, parameters_of, parameters_text, render
from kopt_kb.doors.proposer_source import ProposerContext
from kopt_kb.launch.candidate.simulator import SimulatorExecutor
from kopt_kb.tuning.campaign import Campaign
from kopt_kb.tuning.options import Budget, CampaignOptions
from kopt_kb.tuning.parts import needs_pack
from kopt_kb.tuning.policy import Policy, confirmed_policy, refuse_absent
from kopt_kb.tuning.report import CampaignReport, report_of
from kopt_kb.workspace.journal.campaign_events import CampaignConfirmed
from kopt_kb.workspace.needs import absent_packs
from kopt_kb.workspace.state import WorkspaceState
from kopt_kb.workspace.views.readme import render_blocks
from kopt_kb.workspace.workspace import Workspace

if TYPE_CHECKING:
    from kopt_kb.tuning.project import ProjectAdapter

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    texts = {
        "run": "start a campaign, or go on with the one that is open",
        "resume": "go on with the open campaign as it was confirmed",
        "step": "do the next thing only, or all until a round is decided",
        "status": "where the campaign stands",
        "report": "rounds, times and Stop Conditions",
        "stop": "end the open campaign; rounds and versions stay",
        "dismiss": "close an opportunity of the best version, with a reason",
        "patch": "the difference between the baseline and the best version",
        "bundle": "journal, blobs and cited pages in one file under an in-toto statement",
    }
    for name, text in texts.items():
        action = actions.add_parser(name, help=text, allow_abbrev=False)
        action.add_argument("workspace", metavar="WORKSPACE")
        if name in {"run", "resume", "step"}:
            add_campaign(action)
            add_wiki(action)
        else:
            add_common(action)
        if name == "step":
            action.add_argument("--until-decided", action="store_true", help="go on until a round is decided")
        if name == "dismiss":
            action.add_argument("--opportunity", metavar="ID", required=True, help="as kb tune report --json names it")
            action.add_argument("--reason", metavar="TEXT", required=True, help="the evidence against it")
            add_author(action)
        if name == "bundle":
            action.add_argument("--output", "--out", metavar="FILE", required=True, help="a new file")
        if name == "report":
            add_report(action)
            action.add_argument(
                "--picture", metavar="FILE", help="write its roofline: a new .svg, .html or .png (extra plot)"
            )
            add_form(action)
        add_of_packs(action, f"tune {name}")


def run(args: argparse.Namespace) -> int:
    """Run the chosen action; exit 1 when the campaign stopped without meeting a condition it could judge."""
    workspace = Workspace.open(args.workspace)
    state = workspace.state()
    if args.action in {"bundle", "patch", "dismiss", "report"}:
        return _write(args, workspace, state)
    if args.action == "status" or (state.route == "roofline" and state.stopped is not None):
        return _print(report_of(state, confirmed_policy(state.campaign)), args, state)
    if args.action == "stop":
        return _stop(args, workspace, state)
    _check_budget(args)
    _check_opened(args, state)
    check_plan(args, workspace, state)
    _refuse_absent(args, state)
    if args.action in {"resume", "step"} and state.stopped is not None:
        return _print(report_of(state, confirmed_policy(state.campaign)), args, state)
    args = _agreed(args, workspace, state)
    project = _project(workspace, state)
    opened = _opened(state)
    judge, why = _judge(args, state, project)
    policy = confirmed_policy(opened) if opened is not None else judged_policy(asked_policy(args, project), judge)
    refuse_absent(policy)
    fresh = state.campaign is None or state.stopped is not None
    if args.dry_run or (fresh and state.route != "roofline"):  # targets alone cost nothing and change nothing
        parameters = _parameters(args, state, policy, project, judge)
        if args.dry_run:
            print_of(parameters, state) if args.json else say(parameters_text(parameters))
            return ExitCode.OK
        confirm(args, parameters)
    if why:
        _say(why)
    with campaign_of(args, workspace, state, policy, project, judge, _say) as campaign:
        if state.stopped is not None and args.action == "run":
            campaign.restart()
        if args.action == "step":
            campaign.decide() if args.until_decided else campaign.step()
            return _print(campaign.report(), args, state)
        return _print(campaign.run(Budget(args.budget_s, args.budget_rounds)), args, state)


def _agreed(args: argparse.Namespace, workspace: Workspace, state: WorkspaceState) -> argparse.Namespace:
    """Return the arguments with what the open campaign was confirmed with, as far as this user lets it start that."""
    confirmed = as_begun(as_confirmed(args, _opened(state)), state)
    refuse_needless(args, state)
    if not args.dry_run:
        given = (*invoked(launch_of(args)), *(reported(state) if args.accept_reported else ()))
        require(workspace.layout.root, set(named_by(state)) - set(given), f"kb tune {args.action}")
        allow(workspace.layout.root, given)
    return confirmed


def _refuse_absent(args: argparse.Namespace, state: WorkspaceState) -> None:
    """Raise `MissingTool` where the open campaign's policy, or events since it was confirmed, need an absent pack."""
    for pack in absent_packs(state) if state.stopped is None else ():
        if pack.policy or pack.words or any(seq > state.campaign_seq for seq in pack.events):
            raise needs_pack(pack.name, "the open campaign", where=args.workspace)


def _refuse_unchecked(args: argparse.Namespace, workspace: Workspace, state: WorkspaceState) -> None:
    """Raise `FindingError` where a gate of the policy does not let the campaign's gains be published."""
    from kopt_kb.workspace.gains import gain_checks
    from kopt_kb.workspace.journal.blobs import ObjectStore

    store = ObjectStore(workspace.layout.objects)
    checks = gain_checks(state) if args.action == "report" else ()
    found = [why for check in checks for why in check.unpublished(state, store.get)]
    if found:
        fix = "run a round that takes it back; kb tune status shows where the campaign stands"
        raise FindingError(f"no report: {'; '.join(found)}", where=str(workspace.layout.root), fix=fix, code="KB462")


def _write(args: argparse.Namespace, workspace: Workspace, state: WorkspaceState) -> int:
    """Write what a campaign came to, as a bundle, a patch or a report, or what a person says of an opportunity."""
    if args.action == "report":
        check_report(args, args.picture)
        _refuse_unchecked(args, workspace, state)
        if args.form:
            return print_form(args, state)
        return _print(report_of(state, confirmed_policy(state.campaign)), args, state)
    if args.action == "dismiss":
        from kopt_kb.cli.tune.dismiss import dismiss

        return dismiss(args, workspace, state)
    if args.action == "bundle":
        from kopt_kb.cli.tune.bundle import write_bundle

        return write_bundle(args, workspace, state)
    from kopt_kb.cli.tune.project import print_patch

    return print_patch(args, workspace, state)


def _judge(
    args: argparse.Namespace, state: WorkspaceState, project: ProjectAdapter | None
) -> tuple[JudgeChoice | None, str]:
    """Return who judges a kernel, and why no replay does; None where no kernel is measured.

    Raises:
        BadInput: `--judge` where no kernel is judged.
    """
    simulated = args.simulate or (args.action == "resume" and state.simulated)
    if project is None and not simulated and state.route != "roofline":
        return judge_of(args, _opened(state))
    given = next((flag for flag in ("judge", *many()) if getattr(args, flag, None)), None)
    if given is not None:
        kind = "a project's own commands" if project is not None else "the simulator" if simulated else "nothing"
        what = f"--{given.replace('_', '-')}, and {kind} would be judged"
        raise BadInput(what, where=args.workspace, fix="leave it out", code="KB103")
    return None, ""


def _check_opened(args: argparse.Namespace, state: WorkspaceState) -> None:
    """Raise `BadInput` when there is nothing to resume, or a measured campaign is to go on simulated."""
    if args.action == "resume" and state.campaign is None:
        raise BadInput(
            "there is no campaign to resume", where=args.workspace, fix="start one with kb tune run", code="KB430"
        )
    if args.simulate and state.stopped is not None and not state.simulated and state.route != "roofline":
        raise BadInput(
            "the campaign was measured; simulated and measured rounds never share a workspace",
            where=args.workspace,
            fix="leave --simulate away, or make another workspace with kb init",
            code="KB421",
        )


def _project(workspace: Workspace, state: WorkspaceState) -> ProjectAdapter | None:
    """Return the workspace's project; what projects need is loaded where there is one."""
    if state.task.project is None:
        return None
    from kopt_kb.cli.tune.project import project_of

    return project_of(workspace, state)


def _opened(state: WorkspaceState) -> CampaignConfirmed | None:
    """Return what the open campaign was confirmed with, or None."""
    return state.campaign if state.stopped is None else None


def _stop(args: argparse.Namespace, workspace: Workspace, state: WorkspaceState) -> int:
    if state.campaign is None:
        raise BadInput(
            "there is no campaign to stop", where=args.workspace, fix="start one with kb tune run", code="KB430"
        )
    policy = confirmed_policy(state.campaign)
    with Campaign(
        workspace, policy, (), SimulatorExecutor(), options=CampaignOptions(say=_say)
    ) as campaign:  # nothing is run
        campaign.stop("user")
        return _print(campaign.report(), args, state)


def _check_budget(args: argparse.Namespace) -> None:
    for name, value in (("--budget-s", args.budget_s), ("--budget-rounds", args.budget_rounds)):
        if value is not None and not value >= 0:
            raise BadInput(f"{name} {value:g}", where="kb tune", fix="give 0 or more", code="KB105")


def _parameters(
    args: argparse.Namespace,
    state: WorkspaceState,
    policy: Policy,
    project: ProjectAdapter | None,
    judge: JudgeChoice | None,
) -> Wire:
    if project is None:
        settings = settings_of(args, _opened(state))
        asked = proposers_of(ProposerContext(state, policy.name, args))
        return parameters_of(args, state, policy, asked, judge=judge, settings=settings)
    from kopt_kb.cli.tune.project import project_parameters

    return project_parameters(args, state, policy, project)


def _say(line: str) -> None:
    print(f"kb: {line}", file=sys.stderr, flush=True)


def _print(report: CampaignReport, args: argparse.Namespace, state: WorkspaceState) -> int:
    lines: list[str] = []
    if args.action == "report" and (args.html or args.markdown or args.picture):
        from kopt_kb.cli.tune.shared import share

        lines = share(report, args, state)
    if args.json:
        print_of(report, state)
    elif report.route == "roofline" and args.action != "status":
        say(render(report, full=False))
        blocks = render_blocks(state)
        print(f"\nRoofline\n\n{blocks['roofline']}\n\nStop Conditions\n\n{blocks['stop-conditions']}")
    else:
        say(render(report, full=args.action != "status"))
    if lines and not args.json:
        print("\n" + "\n".join(map(printable, lines)))
    return report.exit_code
