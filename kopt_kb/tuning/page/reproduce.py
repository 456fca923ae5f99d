"""The commands that make a campaign again: from its start, with its own policy, sizes and judge."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from kopt_kb.base.wire import read
from kopt_kb.problem.shapes import format_shape
from kopt_kb.tuning.options import FLAGS, Settings
from kopt_kb.tuning.policy import default_policy, known_policy
from kopt_kb.workspace.journal.campaign_events import CampaignConfirmed
from kopt_kb.workspace.state import WorkspaceState

__all__ = ["commands"]


def commands(state: WorkspaceState) -> str:
    """Return the commands, every word quoted for a shell, one a line."""
    lines = [
        "# in this workspace: read every cited value again, hold the decisions against their records",
        "kb audit .",
    ]
    lines += ["# from its start, in another folder"]
    demo = state.task.kernel_demo.rpartition("/")[2]
    if state.created.kernel and demo:
        lines.append(shlex.join(["cp", f"WORKSPACE/objects/{state.created.kernel}", demo]))
    lines.append(shlex.join(_init(state, demo)))
    if state.campaign is not None and state.route != "roofline":
        lines.append(shlex.join(_run(state, state.campaign)))
    return "\n".join(lines)


def _init(state: WorkspaceState, demo: str) -> list[str]:
    problem, task = state.problem, state.task
    words = ["kb", "init", state.created.name, "--platform", state.created.platform]
    words += ["--framework", task.framework] if task.framework else []
    if task.project is not None:
        return [*words, "--project", task.project.file]
    words += ["--kernel-demo", demo] if demo else []
    if problem.own is not None:
        return [*words, "--problem", problem.own.file]
    words += ["--op", problem.op, "--dtype", problem.dtype]
    words += [word for shape in problem.shapes for word in ("--shape", format_shape(shape))]
    return words + [word for name, value in problem.options for word in ("--option", f"{name}={value}")]


def _run(state: WorkspaceState, campaign: CampaignConfirmed) -> list[str]:
    words = ["kb", "tune", "run", f"kernel_opt_{state.created.name}", *_policy(campaign)]
    words += _judge(state, campaign)
    asked, usual = read(Settings, campaign.settings, where="settings"), Settings()
    for flag, field in FLAGS.items():
        value = getattr(asked, field)
        if value != getattr(usual, field):
            words += [f"--{flag.replace('_', '-')}", f"{value:g}" if isinstance(value, float) else str(value)]
    return [*words, "--yes"]


def _policy(campaign: CampaignConfirmed) -> Iterator[str]:
    """Yield what the policy was asked for besides what it has of itself."""
    asked = campaign.policy
    usual = known_policy(str(asked["name"])) or default_policy()
    yield from ("--policy", str(asked["name"]))
    if asked.get("max_rounds") not in {None, usual.max_rounds}:
        yield from ("--max-rounds", str(asked["max_rounds"]))
    if asked.get("stop_scope") != usual.stop_scope:
        yield "--aggregate" if asked.get("stop_scope") == "aggregate" else "--every-shape"
    if asked.get("close_ledger") and not usual.close_ledger:
        yield "--close-ledger"
    if asked.get("needs_bound", usual.needs_bound) != usual.needs_bound:
        yield from ("--needs-bound", str(asked["needs_bound"]))
    for shape in asked.get("core_shapes") or ():
        yield from ("--core-shape", str(shape))
    for reason in usual.stop_reasons:
        if reason not in asked.get("stop_reasons", ()):
            yield from ("--no-stop", reason)


def _judge(state: WorkspaceState, campaign: CampaignConfirmed) -> Iterator[str]:
    """Yield who judges, and who proposes."""
    if campaign.simulated:
        yield "--simulate"
    elif state.task.project is None:
        yield from ("--judge", "replay" if campaign.executor == "replay" else "child")
    launch = campaign.launch
    for name in launch.proposers if launch is not None else ():
        yield from ("--proposer", name)
    for name in campaign.proposers:
        if name.startswith("plan "):
            yield from ("--plan", name.removeprefix("plan "))
    if launch is not None and launch.executor_command:
        yield from ("--executor-command", launch.executor_command)
    if launch is not None and launch.no_package:
        yield "--no-package"
