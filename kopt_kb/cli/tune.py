r"""Tune a workspace's kernel: rounds of one hypothesis each, gated, measured and decided by a policy.

kb tune run kernel_opt_norm --policy gpu-wiki --yes
kb tune run kernel_opt_norm --simulate --yes        a declared simulator; nothing is measured
kb tune step kernel_opt_norm --plan plan.json       one state further, with your own hypothesis
kb tune status|report kernel_opt_norm
kb tune stop kernel_opt_norm                        end the open campaign; run starts another on the same versions
kb tune patch kernel_opt_norm                       what the best version changes, for git apply
kb tune bundle kernel_opt_norm --output norm.kbb    all of it in one file, which kb audit verifies anywhere
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from kopt_kb.cli.output import add_author, add_common, add_wiki, open_registry, print_json
from kopt_kb.cli.tune_confirmed import as_confirmed, launch_of, settings_of
from kopt_kb.cli.tune_judge import JUDGES, MANY, Judge, executor_of, gated, judge_of, judged_policy
from kopt_kb.cli.tune_text import confirm, parameters_of, parameters_text, render
from kopt_kb.errors import BadInput, ExitCode
from kopt_kb.runners.candidate.job import Executor
from kopt_kb.runners.simulator import SimulatorExecutor
from kopt_kb.tuning.campaign import Campaign
from kopt_kb.tuning.options import Budget, CampaignOptions
from kopt_kb.tuning.policy import DEFAULT_POLICY, POLICIES, Policy, confirmed_policy, policy_named
from kopt_kb.tuning.proposals import Proposer
from kopt_kb.tuning.proposers import KnobsProposer, PackagedProposer, VariantsProposer
from kopt_kb.tuning.report import CampaignReport, report_of
from kopt_kb.wiki.names import UnknownPlatform
from kopt_kb.wire import Wire
from kopt_kb.workspace.journal.campaign_events import CampaignConfirmed
from kopt_kb.workspace.state import WorkspaceState
from kopt_kb.workspace.views.readme import render_blocks
from kopt_kb.workspace.workspace import Workspace

if TYPE_CHECKING:
    from kopt_kb.tuning.project import ProjectAdapter
    from kopt_kb.wiki.registry import Platform, Registry

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    texts = {
        "run": "start a campaign, or go on with the one that is open",
        "resume": "go on with the open campaign as it was confirmed",
        "step": "do the next thing only",
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
            _add_campaign(action)
            add_wiki(action)
        else:
            add_common(action)
        if name == "dismiss":
            action.add_argument("--opportunity", metavar="ID", required=True, help="as kb tune report --json names it")
            action.add_argument("--reason", metavar="TEXT", required=True, help="the evidence against it")
            add_author(action)
        if name == "bundle":
            action.add_argument("--output", metavar="FILE", required=True, help="a new file")


def _add_campaign(action: argparse.ArgumentParser) -> None:
    action.add_argument("--policy", choices=sorted(POLICIES), help="default gpu-wiki")
    action.add_argument("--core-shape", metavar="MxN", action="append", help="the regression limit protects only these")
    action.add_argument("--max-rounds", metavar="N", type=int, help="rounds after the baseline")
    scope = action.add_mutually_exclusive_group()
    scope.add_argument("--every-shape", action="store_true", help="stop when every shape's condition is met (default)")
    scope.add_argument("--aggregate", action="store_true", help="stop when their geometric mean is met")
    action.add_argument("--close-ledger", action="store_true", help="go on while an opportunity is open")
    action.add_argument("--no-stop", metavar="REASON", action="append", default=[], help="go on past this stop reason")
    action.add_argument("--budget-s", metavar="S", type=float, help="seconds of this call")
    action.add_argument("--budget-rounds", metavar="N", type=int, help="rounds of this call")
    action.add_argument("--samples", metavar="N", type=int, help="timed runs of each side")
    action.add_argument("--evaluations", metavar="N", type=int, help="of a search and shape")
    action.add_argument("--search-s", metavar="S", type=float, help="seconds of action search")
    action.add_argument("--prune-s", metavar="S", type=float, help="of these, to compile ahead")
    action.add_argument("--run-s", metavar="S", type=float, help="seconds action child may take")
    action.add_argument("--memory-bytes", metavar="N", type=int, help="host memory action child may hold")
    action.add_argument("--flush-bytes", metavar="N", type=int, help="written before each timed run")
    action.add_argument("--seed", metavar="N", type=int, help="of searches and inputs")
    action.add_argument("--proposer", metavar="CMD", action="append", default=[], help="ask this command first")
    action.add_argument("--plan", metavar="FILE", help="hypothesis to try, as JSON")
    action.add_argument("--tips", metavar="FILE", help="earlier experience")
    action.add_argument(
        "--judge", choices=JUDGES, help="who judges a kernel (default replay where it can be, else child)"
    )
    action.add_argument("--executor-command", metavar="CMD", help="put this before each child, such as srun")
    action.add_argument("--device", help="device of the candidates (default cuda)")
    action.add_argument("--devices", metavar="LIST", help="GPUs that judge, as 0,1: all rank, the first decides")
    action.add_argument(
        "--cluster", metavar="ADDRESS", help="GPUs of a Ray cluster rank too: auto, local or an address"
    )
    action.add_argument("--searchers", metavar="N", type=int, help="processes that search together, a GPU each")
    action.add_argument("--search-command", metavar="CMD", help="starts each of them, such as srun --gpus=1")
    action.add_argument("--simulate", action="store_true", help="times from a made-up model; every record says so")
    action.add_argument("--yes", action="store_true", help="start without asking")
    action.add_argument("--dry-run", action="store_true", help="print what would be done and write nothing")


def run(args: argparse.Namespace) -> int:
    """Run the chosen action; exit 1 when the campaign stopped without meeting a condition it could judge."""
    workspace = Workspace.open(args.workspace)
    state = workspace.state()
    if args.action in {"bundle", "patch", "dismiss"}:
        return _write(args, workspace, state)
    if args.action in {"status", "report"} or (state.route == "roofline" and state.stopped is not None):
        return _print(report_of(state, confirmed_policy(state.campaign)), args, state)
    if args.action == "stop":
        return _stop(args, workspace, state)
    _check_budget(args)
    _check_opened(args, state)
    if args.action in {"resume", "step"} and state.stopped is not None:
        return _print(report_of(state, confirmed_policy(state.campaign)), args, state)
    args = as_confirmed(args, _opened(state))
    project = _project(workspace, state)
    opened = _opened(state)
    judge, why = _judge(args, state, project)
    policy = confirmed_policy(opened) if opened is not None else judged_policy(_asked_policy(args, project), judge)
    fresh = state.campaign is None or state.stopped is not None
    if args.dry_run or (fresh and state.route != "roofline"):  # targets alone cost nothing and change nothing
        parameters = _parameters(args, state, policy, project, judge)
        if args.dry_run:
            print_json(parameters) if args.json else print(parameters_text(parameters))
            return ExitCode.OK
        confirm(args, parameters)
    if why:
        _say(why)
    with _campaign(args, workspace, state, policy, project, judge) as campaign:
        if state.stopped is not None and args.action == "run":
            campaign.restart()
        if args.action == "step":
            campaign.step()
            return _print(campaign.report(), args, state)
        return _print(campaign.run(Budget(args.budget_s, args.budget_rounds)), args, state)


def _write(args: argparse.Namespace, workspace: Workspace, state: WorkspaceState) -> int:
    """Write what a campaign came to, as a bundle or a patch, or what a person says of an opportunity."""
    if args.action == "dismiss":
        from kopt_kb.cli.tune_dismiss import dismiss

        return dismiss(args, workspace, state)
    if args.action == "bundle":
        from kopt_kb.cli.tune_bundle import write_bundle

        return write_bundle(args, workspace, state)
    from kopt_kb.cli.tune_project import print_patch

    return print_patch(args, workspace, state)


def _judge(args: argparse.Namespace, state: WorkspaceState, project: ProjectAdapter | None) -> tuple[Judge | None, str]:
    """Return who judges a kernel, and why no replay does; None where no kernel is measured.

    Raises:
        BadInput: `--judge` where no kernel is judged.
    """
    simulated = args.simulate or (args.action == "resume" and state.simulated)
    if project is None and not simulated and state.route != "roofline":
        return judge_of(args, _opened(state))
    given = next((flag for flag in ("judge", *MANY) if getattr(args, flag)), None)
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
    from kopt_kb.cli.tune_project import project_of

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


def _asked_policy(args: argparse.Namespace, project: ProjectAdapter | None) -> Policy:
    """Return the policy that the arguments ask for."""
    scope: Literal["", "aggregate", "every_shape"] = "aggregate" if args.aggregate else ""
    policy = policy_named(
        args.policy or DEFAULT_POLICY, core_shapes=tuple(args.core_shape) if args.core_shape else None,
        max_rounds=args.max_rounds, stop_scope="every_shape" if args.every_shape else scope, without_stops=args.no_stop,
        close_ledger=args.close_ledger,
    )  # fmt: skip
    return policy if project is None else project.policy(policy)


def _campaign(
    args: argparse.Namespace,
    workspace: Workspace,
    state: WorkspaceState,
    policy: Policy,
    project: ProjectAdapter | None,
    judge: Judge | None,
) -> Campaign:
    simulate = args.simulate or (args.action == "resume" and state.simulated)
    settings, tips = settings_of(args, _opened(state)), Path(args.tips) if args.tips else None
    options = CampaignOptions(tips=tips, say=_say, launch=launch_of(args))
    if not simulate or args.proposer:  # whoever is asked outside gets the pages to read
        options = replace(options, platform=_known_platform(open_registry(args), state.created.platform))
    if project is not None:
        from kopt_kb.cli.tune_project import device_names, project_campaign

        registry = open_registry(args)
        options = replace(options, product_of=device_names(registry), project=project)
        return project_campaign(args, workspace, project, policy, settings=settings, options=options)
    executor: Executor = SimulatorExecutor()
    if not simulate and state.route == "roofline":  # nothing is run
        from kopt_kb.runners.candidate.executor import ChildProcessExecutor

        executor = ChildProcessExecutor()
    elif not simulate:
        from kopt_kb.wiki.devices import product_of

        registry = open_registry(args)
        platform = registry.platform(state.created.platform)
        options = replace(options, product_of=partial(product_of, registry))
        executor = executor_of(args, judge, platform, policy)
        options = gated(options, executor, platform, state.problem)
    return Campaign(workspace, policy, _proposers(args), executor, settings=settings, options=options)


def _known_platform(registry: Registry, name: str) -> Platform | None:
    """Return a product, None where the wiki at hand lacks it: a project's own commands need no page to run."""
    try:
        return registry.platform(name)
    except UnknownPlatform:
        return None


def _proposers(args: argparse.Namespace) -> tuple[Proposer, ...]:
    if args.plan or args.proposer:
        from kopt_kb.tuning.outside import CommandProposer, PlanProposer

        if args.plan:
            return (PlanProposer(Path(args.plan)),)
        asked: tuple[Proposer, ...] = tuple(CommandProposer(command) for command in args.proposer)
    else:
        asked = ()
    return (*asked, PackagedProposer(), VariantsProposer(), KnobsProposer())


def _parameters(
    args: argparse.Namespace,
    state: WorkspaceState,
    policy: Policy,
    project: ProjectAdapter | None,
    judge: Judge | None,
) -> Wire:
    if project is None:
        return parameters_of(args, state, policy, _proposers(args), judge=judge)
    from kopt_kb.cli.tune_project import project_parameters

    return project_parameters(args, state, policy, project)


def _say(line: str) -> None:
    print(f"kb: {line}", file=sys.stderr, flush=True)


def _print(report: CampaignReport, args: argparse.Namespace, state: WorkspaceState) -> int:
    if args.json:
        print_json(report)
    elif report.route == "roofline" and args.action != "status":
        print(render(report, full=False))
        blocks = render_blocks(state)
        print(f"\nRoofline\n\n{blocks['roofline']}\n\nStop Conditions\n\n{blocks['stop-conditions']}")
    else:
        print(render(report, full=args.action != "status"))
    return report.exit_code
