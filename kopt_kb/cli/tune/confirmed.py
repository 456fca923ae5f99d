"""What an open campaign was confirmed with: used again by every later call, and another flag is refused by name."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import read
from kopt_kb.tuning.options import FLAGS, Settings
from kopt_kb.workspace.journal.campaign_events import CampaignConfirmed, Invocation
from kopt_kb.workspace.state import WorkspaceState
from kopt_kb.workspace.workspace import Workspace

__all__ = ["DEVICE", "as_begun", "as_confirmed", "check_plan", "launch_of", "settings_of"]

DEVICE = "cuda"
"""Device of candidates when no other is named."""


def settings_of(args: argparse.Namespace, campaign: CampaignConfirmed | None) -> Settings:
    """Return the settings an open campaign was confirmed with, else those asked for."""
    if campaign is not None:
        return read(Settings, campaign.settings, where="settings")
    asked = {field: getattr(args, name) for name, field in FLAGS.items()}
    return Settings(**{field: value for field, value in asked.items() if value is not None})


def launch_of(args: argparse.Namespace) -> Invocation:
    """Return what a campaign keeps of the command line, to ask and run the same again."""
    return Invocation(tuple(args.proposer), args.executor_command or "", args.device or DEVICE, args.no_package or None)


def as_confirmed(args: argparse.Namespace, campaign: CampaignConfirmed | None) -> argparse.Namespace:
    """Return the arguments with an open campaign's own proposers, launcher and device; without one as they are.

    Journals of earlier releases do not say these three: then the command line does.

    Raises:
        BadInput: A flag asks for something else than what was confirmed.
    """
    if campaign is None:
        return args
    for flag, asked, confirmed in _given(args, campaign):
        if asked != confirmed:
            raise BadInput(
                f"{flag} {_text(asked)}: the campaign was confirmed with {_text(confirmed)}",
                where=args.workspace,
                fix="leave the flag out, or end the campaign with kb tune stop and start another",
                code="KB420",
            )
    launch = campaign.launch
    if launch is None:
        return args
    own = {
        "proposer": list(launch.proposers), "executor_command": launch.executor_command, "device": launch.device,
        "no_package": bool(launch.no_package),
    }  # fmt: skip
    return argparse.Namespace(**{**vars(args), **own})


def _given(args: argparse.Namespace, campaign: CampaignConfirmed) -> Iterator[tuple[str, Any, Any]]:
    """Yield (flag, asked, confirmed) of the flags that were given."""
    policy, launch = campaign.policy, campaign.launch
    confirmed = {field: campaign.settings.get(field) for field in FLAGS.values()}
    flags = [
        ("--policy", args.policy, policy["name"]),
        ("--core-shape", args.core_shape, _listed(policy["core_shapes"])),
        ("--max-rounds", args.max_rounds, policy["max_rounds"]),
        ("--every-shape", "every_shape" if args.every_shape else None, policy["stop_scope"]),
        ("--aggregate", "aggregate" if args.aggregate else None, policy["stop_scope"]),
        ("--close-ledger", True if args.close_ledger else None, policy.get("close_ledger", False)),
        ("--needs-bound", args.needs_bound, policy.get("needs_bound", "no")),
        ("--judge", args.judge, "replay" if campaign.executor == "replay" else "child"),
        *((f"--{name.replace('_', '-')}", getattr(args, name), confirmed[field]) for name, field in FLAGS.items()),
    ]
    if launch is not None:
        flags += [
            ("--proposer", args.proposer or None, list(launch.proposers)),
            ("--executor-command", args.executor_command, launch.executor_command),
            ("--device", args.device, launch.device),
            ("--no-package", args.no_package or None, bool(launch.no_package)),
        ]
    flags += [
        ("--no-stop", reason, f"stop reason {reason}") for reason in args.no_stop if reason in policy["stop_reasons"]
    ]
    yield from (flag for flag in flags if flag[1] is not None)


def _listed(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


def _text(value: object) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list) else "" if value is None else str(value)
    return text or "none"


def as_begun(args: argparse.Namespace, state: WorkspaceState) -> argparse.Namespace:
    """Return the arguments with what the open campaign's rounds are: a simulated one stays so without saying it."""
    is_simulated = state.simulated and state.stopped is None
    return argparse.Namespace(**{**vars(args), "simulate": args.simulate or is_simulated})


def check_plan(args: argparse.Namespace, workspace: Workspace, state: WorkspaceState) -> None:
    """Raise `BadInput` for a plan that is none, before anything is written or run."""
    if not args.plan or state.route == "roofline" or Path(args.plan).is_fifo():  # a pipe is read once, by its round
        return
    from kopt_kb.tuning.outside import PlanProposer
    from kopt_kb.tuning.project import ProjectAdapter
    from kopt_kb.tuning.proposals import view_of
    from kopt_kb.workspace.journal.blobs import ObjectStore
    from kopt_kb.workspace.journal.disk import read_regular

    store = ObjectStore(workspace.layout.objects)
    project = None if state.task.project is None else ProjectAdapter.of(state, store.get)
    snapshot = state.best.snapshot if state.best is not None else None
    if snapshot is not None:
        source = store.get(snapshot.blob)
    elif project is None:
        source = read_regular(workspace.layout.kernel) or b""
    else:  # the baseline of a project makes its bundle: until then only the form of the answer can be judged
        PlanProposer(Path(args.plan)).check_form()
        return
    PlanProposer(Path(args.plan)).propose(replace(view_of(state, source), project=project))
