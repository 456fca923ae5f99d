"""From the arguments of `kb tune` to a campaign: its policy, its proposers, and who runs its candidates."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from kopt_kb.cli.kit.output import open_registry
from kopt_kb.cli.tune.confirmed import launch_of, settings_of
from kopt_kb.cli.tune.judge import JUDGES, JudgeChoice, executor_of, gated
from kopt_kb.doors.proposer_source import ProposerContext
from kopt_kb.launch.candidate.job import Executor
from kopt_kb.launch.candidate.simulator import SimulatorExecutor
from kopt_kb.tuning.campaign import Campaign
from kopt_kb.tuning.options import CampaignOptions
from kopt_kb.tuning.own_space import OwnSpaceProposer
from kopt_kb.tuning.policy import DEFAULT_POLICY, NeedsBound, Policy, policy_named
from kopt_kb.tuning.proposals import Proposer
from kopt_kb.tuning.proposer_sources import plan_of_packs, proposers_of_packs, steered
from kopt_kb.tuning.proposers import KnobsProposer, PackagedProposer, VariantsProposer
from kopt_kb.workspace.journal.blobs import ObjectStore
from kopt_kb.workspace.state import WorkspaceState
from kopt_kb.workspace.workspace import Workspace

if TYPE_CHECKING:
    from kopt_kb.tuning.project import ProjectAdapter
    from kopt_kb.wiki.registry import Platform, Registry

__all__ = ["add_campaign", "asked_policy", "campaign_of", "proposers_of"]


def add_campaign(action: argparse.ArgumentParser) -> None:
    """Declare what a campaign can be asked for."""
    action.add_argument("--policy", metavar="NAME", help=f"default {DEFAULT_POLICY}; packs bring others")
    action.add_argument("--core-shape", metavar="MxN", action="append", help="the regression limit protects only these")
    action.add_argument("--max-rounds", metavar="N", type=int, help="rounds after the baseline")
    scope = action.add_mutually_exclusive_group()
    scope.add_argument("--every-shape", action="store_true", help="stop when every shape's condition is met (default)")
    scope.add_argument("--aggregate", action="store_true", help="stop when their geometric mean is met")
    action.add_argument("--close-ledger", action="store_true", help="go on while an opportunity is open")
    action.add_argument(
        "--needs-bound", choices=get_args(NeedsBound), help="whether replayed code has to be made again from its source"
    )
    action.add_argument(
        "--accept-reported", action="store_true", help="let a project's own times decide where no result is compared"
    )
    action.add_argument("--no-stop", metavar="REASON", action="append", default=[], help="go on past this stop reason")
    action.add_argument("--budget-s", metavar="S", type=float, help="seconds of this call")
    action.add_argument("--budget-rounds", metavar="N", type=int, help="rounds of this call")
    action.add_argument("--samples", metavar="N", type=int, help="timed runs of each side")
    action.add_argument("--evaluations", metavar="N", type=int, help="of a search and shape")
    action.add_argument("--search-s", metavar="S", type=float, help="seconds of a search")
    action.add_argument("--prune-s", metavar="S", type=float, help="of these, to compile ahead")
    action.add_argument("--run-s", metavar="S", type=float, help="seconds a child may take")
    action.add_argument("--memory-bytes", metavar="N", type=int, help="host memory a child may hold")
    action.add_argument("--flush-bytes", metavar="N", type=int, help="written before each timed run")
    action.add_argument("--seed", metavar="N", type=int, help="of searches and inputs")
    action.add_argument("--proposer", metavar="CMD", action="append", default=[], help="ask this command first")
    action.add_argument("--no-package", action="store_true", help="propose no kernel of the package's own")
    action.add_argument("--plan", metavar="FILE", help="hypothesis to try, as JSON")
    action.add_argument("--tips", metavar="FILE", help="earlier experience")
    action.add_argument(
        "--judge", choices=JUDGES, help="who judges a kernel (default replay where it can be, else child)"
    )
    action.add_argument("--executor-command", metavar="CMD", help="put this before each child, such as srun")
    action.add_argument("--device", help="device of the candidates (default cuda)")
    action.add_argument("--devices", metavar="LIST", help="GPUs that judge, as 0,1: all rank, the first decides")
    action.add_argument("--simulate", action="store_true", help="times from a made-up model; every record says so")
    action.add_argument("--yes", action="store_true", help="start without asking")
    action.add_argument("--dry-run", action="store_true", help="print what would be done and write nothing")


def asked_policy(args: argparse.Namespace, project: ProjectAdapter | None) -> Policy:
    """Return the policy that the arguments ask for."""
    scope: Literal["", "aggregate", "every_shape"] = "aggregate" if args.aggregate else ""
    policy = policy_named(
        args.policy or DEFAULT_POLICY, core_shapes=tuple(args.core_shape) if args.core_shape else None,
        max_rounds=args.max_rounds, stop_scope="every_shape" if args.every_shape else scope, without_stops=args.no_stop,
        close_ledger=args.close_ledger,
    )  # fmt: skip
    if args.needs_bound:
        policy = replace(policy, needs_bound=args.needs_bound)
    if project is None:
        return policy
    return project.policy(replace(policy, accepts_reported=not project.compares))  # asked for before, by `reported`


def campaign_of(
    args: argparse.Namespace,
    workspace: Workspace,
    state: WorkspaceState,
    policy: Policy,
    project: ProjectAdapter | None,
    judge: JudgeChoice | None,
    say: Callable[[str], None],
) -> Campaign:
    """Return the campaign that the arguments ask for, or that the open one was confirmed as."""
    opened = state.campaign if state.stopped is None else None
    simulate = args.simulate or (args.action == "resume" and state.simulated)
    settings, tips = settings_of(args, opened), Path(args.tips) if args.tips else None
    context = ProposerContext(state, policy.name, args)
    context = replace(context, plan=plan_of_packs(context))
    options = CampaignOptions(tips=tips, say=say, launch=launch_of(args), plan=context.plan)
    if not simulate or args.proposer:  # whoever is asked outside gets the pages to read
        options = replace(options, platform=_known_platform(open_registry(args), state.created.platform))
    if project is not None:
        from kopt_kb.cli.tune.project import project_campaign
        from kopt_kb.wiki.devices import product_of

        options = replace(options, product_of=partial(product_of, open_registry(args)), project=project)
        return project_campaign(context, workspace, project, policy, settings=settings, options=options)
    executor: Executor = SimulatorExecutor()
    if not simulate and state.route == "roofline":  # nothing is run
        from kopt_kb.launch.candidate.executor import ChildProcessExecutor

        executor = ChildProcessExecutor()
    elif not simulate:
        from kopt_kb.wiki.devices import product_of

        registry = open_registry(args)
        platform = registry.platform(state.created.platform)
        options = replace(options, product_of=partial(product_of, registry))
        executor = executor_of(args, judge, platform, policy)
        options = gated(options, executor, platform, state.problem, ObjectStore(workspace.layout.objects))
    return Campaign(
        workspace,
        policy,
        steered(context, proposers_of(context)),
        executor,
        settings=settings,
        options=options,
    )


def _known_platform(registry: Registry, name: str) -> Platform | None:
    """Return a product, None where the wiki at hand lacks it: a project's own commands need no page to run."""
    from kopt_kb.wiki.names import UnknownPlatform

    try:
        return registry.platform(name)
    except UnknownPlatform:
        return None


def proposers_of(context: ProposerContext) -> tuple[Proposer, ...]:
    """Return who is asked for hypotheses, in order: a plan alone, else outside commands before the package's own."""
    args, asked = context.options, tuple[Proposer, ...]()
    if args.plan or args.proposer:
        from kopt_kb.tuning.outside import CommandProposer, PlanProposer

        if args.plan:
            return (PlanProposer(Path(args.plan)),)
        asked = tuple(CommandProposer(command) for command in args.proposer)
    searches = (VariantsProposer(packaged=not args.no_package), KnobsProposer(), OwnSpaceProposer())
    shelf = () if args.no_package else (PackagedProposer(),)
    own = (*shelf, *proposers_of_packs(context, "before_searches"), *searches)
    return (*asked, *proposers_of_packs(context, "first"), *own, *proposers_of_packs(context, "last"))
