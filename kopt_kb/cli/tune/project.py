"""What `kb tune` does on a workspace whose candidates are files of a project."""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, get_args

from kopt_kb.base.errors import BadInput, ExitCode
from kopt_kb.base.wire import Wire, inside
from kopt_kb.cli.kit.output import print_bytes, print_of
from kopt_kb.cli.tune.text import CampaignParameters, parameters_of
from kopt_kb.doors.proposer_source import ProposerContext, ProposerPlace
from kopt_kb.launch.project.backends import backend_of
from kopt_kb.launch.project.bundle import files_of, unified_diff
from kopt_kb.launch.project.executor import ProjectExecutor
from kopt_kb.tuning.campaign import Campaign
from kopt_kb.tuning.options import CampaignOptions, Settings
from kopt_kb.tuning.outside import CommandProposer, PlanProposer
from kopt_kb.tuning.policy import Policy
from kopt_kb.tuning.project import ProjectAdapter
from kopt_kb.tuning.proposals import Proposer
from kopt_kb.tuning.proposer_sources import proposers_of_packs, steered
from kopt_kb.tuning.versions import is_confirmed
from kopt_kb.workspace.journal.blobs import ObjectStore
from kopt_kb.workspace.retarget import aim_in_force
from kopt_kb.workspace.state import WorkspaceState
from kopt_kb.workspace.workspace import Workspace

__all__ = [
    "print_patch",
    "project_campaign",
    "project_of",
    "project_parameters",
    "project_proposers",
]


@dataclass(frozen=True, slots=True)
class Patch(Wire):
    """What the best version changes.

    Attributes:
        baseline: Version that it is compared with.
        best: The last accepted version.
        level: `full`, or `quick` where it was measured on the representative shapes only.
        files: Paths that differ.
        patch: The difference as `git apply` reads it.
    """

    baseline: str
    best: str
    level: str
    files: tuple[str, ...]
    patch: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectParameters(Wire):
    """What a campaign on a project would run with: commands with their limits, paths, CSV and target too."""

    WIRE: ClassVar = (
        *inside("common", CampaignParameters), "project", "root", "kernel_source", "build?", "test?",
        "benchmark?", "quick?", "profile?", "editable", "protected", "csv_columns", "metric", "units", "check",
        "performance_target", "quick_validation", "target_backend?", "execution_mode?", "git_commit?", "git_branch?",
        "constraints?",
    )  # fmt: skip
    common: CampaignParameters
    project: str
    root: str
    kernel_source: str
    editable: tuple[str, ...]
    protected: tuple[str, ...]
    csv_columns: tuple[str, ...]
    metric: str
    units: tuple[str, ...]
    check: str
    performance_target: str | None
    quick_validation: str
    build: str | None = None
    test: str | None = None
    benchmark: str | None = None
    quick: str | None = None
    profile: str | None = None
    target_backend: str | None = None
    execution_mode: str | None = None
    git_commit: bool | None = None
    git_branch: str | None = None
    constraints: tuple[str, ...] | None = None


def project_of(workspace: Workspace, state: WorkspaceState) -> ProjectAdapter | None:
    """Return the project of a workspace, or None."""
    return ProjectAdapter.of(state, ObjectStore(workspace.layout.objects).get)


def project_proposers(context: ProposerContext) -> tuple[Proposer, ...]:
    """Return the plan, or the commands and packs' own: kernel files of a project declare nothing for a search."""
    if context.options.plan:
        return (PlanProposer(Path(context.options.plan)),)
    brought = (proposers_of_packs(context, place) for place in get_args(ProposerPlace))
    return (*map(CommandProposer, context.options.proposer), *(one for some in brought for one in some))


def project_campaign(
    context: ProposerContext,
    workspace: Workspace,
    project: ProjectAdapter,
    policy: Policy,
    *,
    settings: Settings,
    options: CampaignOptions,
) -> Campaign:
    """Return the campaign that runs the project's own commands.

    Raises:
        BadInput: A flag asks for another way to run candidates.
    """
    args = context.options
    for flag, given in (("--simulate", args.simulate), ("--executor-command", args.executor_command)):
        if given:
            fix = "leave it out; a launcher such as srun belongs into the commands of the project file"
            raise BadInput(
                f"{flag} on a workspace that runs a project's own commands", where=args.workspace, fix=fix, code="KB103"
            )
    executor = ProjectExecutor(project.project, project.root)
    return Campaign(
        workspace,
        policy,
        steered(context, project_proposers(context)),
        executor,
        settings=settings,
        options=options,
    )


def project_parameters(
    args: argparse.Namespace, state: WorkspaceState, policy: Policy, adapter: ProjectAdapter
) -> ProjectParameters:
    """Return what a campaign on a project would run with."""
    project, own = adapter.project, adapter.project.campaign
    commands = {name: f"{one.shown()} (at most {one.limit_s:g} s)" for name, one in project.commands.items()}
    metrics = [metric for metric in (project.csv.forward, project.csv.backward) if metric is not None]
    return ProjectParameters(
        common=parameters_of(args, state, policy, project_proposers(ProposerContext(state, policy.name, args))),
        project=project.where,
        root=str(adapter.root),
        kernel_source=project.kernel_source,
        editable=project.editable,
        protected=project.protected,
        csv_columns=project.csv.columns,
        metric=project.scoring.metric,
        units=tuple(f"{metric.name}: {metric.unit}" for metric in metrics),
        check=f"{project.csv.check} is {project.csv.passing}",
        performance_target=aim_in_force(state) or None,
        quick_validation="representative shapes first" if project.quick_command() else "all shapes in every round",
        build=commands.get("build"),
        test=commands.get("test"),
        benchmark=commands.get("benchmark"),
        quick=commands.get("quick"),
        profile=commands.get("profile"),
        target_backend=(own.backend or backend_of(state.task.framework)).upper() if policy.named else None,
        execution_mode=own.execution_mode if policy.named else None,
        git_commit=own.git_commit if policy.named else None,
        git_branch=own.git_branch if policy.named else None,
        constraints=own.constraints if policy.named else None,
    )


def print_patch(args: argparse.Namespace, workspace: Workspace, state: WorkspaceState) -> int:
    """Print the difference between the baseline and the best version, for `git apply`.

    Raises:
        BadInput: No version was accepted yet.
    """
    best = state.best
    if best is None or best.snapshot is None:
        raise BadInput(
            "there is no accepted version yet", where=args.workspace, fix="run the campaign first", code="KB431"
        )
    store = ObjectStore(workspace.layout.objects)
    blobs = (store.get(state.rounds[0].incumbent), store.get(best.snapshot.blob))
    if project_of(workspace, state) is None:
        old, new = ({"kernel.py": blob.decode()} for blob in blobs)
    else:
        old, new = (files_of(blob) for blob in blobs)
    patch = unified_diff(old, new)
    if best.level and not is_confirmed(state.rounds, best):
        words = "was measured on the representative shapes only (quick); kb tune run confirms it on all shapes"
        print(f"kb: the best version {best.name} {words}", file=sys.stderr)
    if args.json:
        changed = sorted(path for path in {*old, *new} if old.get(path) != new.get(path))
        made = Patch(state.rounds[0].name, best.name, best.level or "full", tuple(changed), patch)
        print_of(made, state)
    else:
        print_bytes(patch.encode())  # the files' own bytes, whatever the terminal speaks
    return ExitCode.OK
