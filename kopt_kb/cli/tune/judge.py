"""Who judges a campaign's candidates: whoever replays recorded launches, or a child process that runs them."""

from __future__ import annotations

import argparse
import importlib.util
import shlex
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from kopt_kb.base.errors import BadInput
from kopt_kb.cli.tune.confirmed import DEVICE
from kopt_kb.doors.table import behind
from kopt_kb.launch.candidate.job import Executor
from kopt_kb.problem.problem import Problem
from kopt_kb.problem.shapes import format_shape
from kopt_kb.tuning.options import CampaignOptions
from kopt_kb.tuning.policy import Policy, gates_of
from kopt_kb.workspace.journal.campaign_events import CampaignConfirmed

if TYPE_CHECKING:
    from kopt_kb.launch.judge.judging import Judging
    from kopt_kb.launch.judge.search import Shared
    from kopt_kb.launch.judge.shelf import RecordTarget
    from kopt_kb.wiki.registry import Platform
    from kopt_kb.workspace.journal.blobs import ObjectStore

__all__ = [
    "JUDGES", "JudgeChoice", "executor_of", "gated", "judge_of", "judged_policy", "many", "target_here",
    "why_no_replay",
]  # fmt: skip

JudgeChoice = Literal["replay", "child"]
JUDGES: tuple[JudgeChoice, ...] = ("replay", "child")

_DRIVER = Path("/proc/driver/nvidia/version")


def many() -> tuple[str, ...]:
    """Return the arguments about several devices: the core's, and those by which engines of packs are asked for."""
    return ("devices", *(option for _, worker in behind("workers") for option in worker.options))


def judge_of(
    args: argparse.Namespace, campaign: CampaignConfirmed | None, where: str = "kb tune"
) -> tuple[JudgeChoice, str]:
    """Return who judges, and one line that says why it is not the replay; an open campaign keeps its judge.

    Args:
        args: Of a command with `--judge`; what else a child alone can do is looked for among them.
        campaign: The open one.
        where: The command, for errors.

    Raises:
        BadInput: A replay is asked for together with what only a child can do.
    """
    confirmed: JudgeChoice | None = None if campaign is None else "replay" if campaign.executor == "replay" else "child"
    asked = cast("JudgeChoice | None", args.judge) or confirmed
    why_not = why_no_replay(args)
    several = next((flag for flag in many() if getattr(args, flag, None)), None)
    if several is not None and (asked == "child" or (asked is None and why_not)):
        fix = "leave it out" if asked == "child" else f"{why_not}; leave it out"
        raise BadInput(f"--{several.replace('_', '-')} is for --judge replay", where="kb tune", fix=fix, code="KB103")
    if asked == "replay":
        only_child = [flag for flag, given in _child_flags(args) if given]
        if only_child:
            fix = "leave it out, or give --judge child"
            raise BadInput(f"{only_child[0]} is for --judge child", where=where, fix=fix, code="KB103")
        return "replay", ""
    if asked == "child":
        return "child", "" if confirmed else _said("asked for")
    return ("child", _said(why_not)) if why_not else ("replay", "")


def _said(why: str) -> str:
    return (
        f"a child process judges ({why}): its times are what the candidate's own process reports, "
        "and decisions accept that level"
    )


def target_here(args: argparse.Namespace, device: str, where: str) -> RecordTarget:
    """Return for what records are made: `--platform`, else the product whose page has what the driver prints.

    Raises:
        BadInput: No page has it.
    """
    from kopt_kb.cli.kit.output import open_registry
    from kopt_kb.launch.counts.device_facts import device_facts
    from kopt_kb.launch.judge.shelf import RecordTarget
    from kopt_kb.wiki.devices import product_of

    registry = open_registry(args)
    name = args.platform or product_of(registry, device)
    if not name:
        fix = "name the product with --platform, or give --judge child"
        raise BadInput(f"no page of the wiki is of a device called {device!r}", where=where, fix=fix, code="KB103")
    platform = registry.platform(name)
    return RecordTarget(platform.identity.target, platform.identity.platform, device_facts(platform))


def _child_flags(args: argparse.Namespace) -> list[tuple[str, bool]]:
    return [
        ("--executor-command", bool(getattr(args, "executor_command", ""))),
        ("--device", bool(args.device) and args.device != DEVICE),
    ]


def why_no_replay(args: argparse.Namespace) -> str:
    """Return why nothing can be replayed here, or nothing; no driver is started."""
    for flag, given in _child_flags(args):
        if given:
            return f"{flag} is given"
    for module, package in (("cuda.bindings", "cuda-bindings"), ("triton", "triton"), ("torch", "torch")):
        try:
            spec = importlib.util.find_spec(module)
        except ModuleNotFoundError:
            spec = None
        if spec is None:
            return f"{package} is not installed"
    return "" if _DRIVER.is_file() else "there is no NVIDIA driver"


def judged_policy(policy: Policy, judge: JudgeChoice | None) -> Policy:
    """Return the policy as a judge can meet it: of a child's times no more can be asked than that they are reported."""
    return replace(policy, least_trust="reported") if judge == "child" else policy


def executor_of(args: argparse.Namespace, judge: JudgeChoice | None, platform: Platform, least: Policy) -> Executor:
    """Return what runs candidates.

    Args:
        args: The command's arguments.
        judge: Who judges.
        platform: The product that records are made for.
        least: The policy, for the least level of trust.
    """
    from kopt_kb.launch.candidate.executor import ChildProcessExecutor, CommandExecutor

    command = tuple(shlex.split(args.executor_command)) if args.executor_command else ()
    device = args.device or DEVICE
    child = CommandExecutor(command, device=device) if command else ChildProcessExecutor(device)
    if judge == "child":
        return child
    from kopt_kb.launch.counts.device_facts import device_facts
    from kopt_kb.launch.judge.executor import RecordExecutor
    from kopt_kb.launch.judge.shelf import RecordTarget

    identity = platform.identity
    target = RecordTarget(identity.target, identity.platform, device_facts(platform))
    shared = _shared(args, target)
    made = RecordExecutor(_judging(args), target, fallback=child, least=least.least_trust, shared=shared)
    if "launcher" in gates_of(least):
        made.foresee_launchers()
    return made


def _shared(args: argparse.Namespace, target: RecordTarget) -> Shared | None:
    """Return the processes that search, when an engine of a pack is asked for some."""
    engines = [worker for _, worker in behind("workers") if worker.search is not None]
    asked = {one.name: shared for one in engines if (shared := one.search(args, target)) is not None}
    if len(asked) > 1:
        fix = "ask one of them"
        raise BadInput(f"{' and '.join(asked)} would search", where="kb tune", fix=fix, code="KB103")
    return next(iter(asked.values()), None)


def gated(
    options: CampaignOptions, executor: Executor, platform: Platform, problem: Problem, store: ObjectStore
) -> CampaignOptions:
    """Return the options with the gate that judges code before it runs: that of records, or what a child compiles."""
    from kopt_kb.launch.candidate.search_pruning import pruning_rules
    from kopt_kb.launch.counts.limits import limits_of
    from kopt_kb.launch.judge.executor import RecordExecutor
    from kopt_kb.tuning.evidence import ResourceGate
    from kopt_kb.tuning.record_gate import RecordGate

    rules = pruning_rules(platform)
    if isinstance(executor, RecordExecutor):
        shapes = tuple(map(format_shape, problem.shapes))
        how = store.get(problem.own.reference) if problem.own is not None else b""
        made = partial(executor.recorded, shapes=shapes, dtype=problem.dtype, problem=how)
        operands = str(dict(problem.options).get("operands", "tolerance"))
        gate = RecordGate(made, limits_of(platform), problem.dtype, operands, platform)
        read = replace(options, instructions=gate.instructions, executed=gate.executed)
        return replace(read, resources=gate, pruning=rules)
    compiled = ResourceGate(platform, problem.shapes, problem.dtype)
    return replace(options, resources=compiled, instructions=compiled.instructions, pruning=rules)


def _judging(args: argparse.Namespace) -> Judging:
    """Return the devices that judge: the first named decides, the others and those of engines of packs rank."""
    from kopt_kb.launch.judge.device import DeviceJudging

    engines = [worker for _, worker in behind("workers") if worker.ranking is not None]
    asked = ("devices", *(option for one in engines for option in one.options))
    if not any(getattr(args, name, None) for name in asked):
        return DeviceJudging()
    from kopt_kb.launch.judge.pool import DevicePool, pinned

    names = [one.strip() for one in (args.devices or "0").split(",")]
    if not all(names) or len(set(names)) < len(names):
        fix = "name each device once, as 0,1"
        raise BadInput(f"--devices {args.devices}", where="kb tune", fix=fix, code="KB104")
    first, *more = (DeviceJudging(pinned(name)) for name in names)
    more += [ranking for one in engines for ranking in one.ranking(args)]
    return DevicePool(first, more) if more else first
