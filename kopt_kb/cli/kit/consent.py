"""What a folder names and this command line does not: shown, asked for once, refused where nobody can be asked."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from kopt_kb.base.errors import BadInput
from kopt_kb.sandbox.trust import UNATTENDED, Grant, TrustStore

if TYPE_CHECKING:
    from kopt_kb.workspace.journal.campaign_events import Invocation
    from kopt_kb.workspace.state import WorkspaceState

__all__ = ["allow", "invoked", "named_by", "refuse_needless", "reported", "require"]

_NEVER_UNATTENDED = ("proposer", "launcher")
"""Kinds that a server never starts, allowed or not: they run outside of every cage."""


def invoked(launch: Invocation | None) -> tuple[Grant, ...]:
    """Return the commands of a command line, or of a journal that keeps one."""
    if launch is None:
        return ()
    launchers = (Grant("launcher", launch.executor_command),) if launch.executor_command else ()
    return (*(Grant("proposer", command) for command in launch.proposers), *launchers)


def named_by(state: WorkspaceState) -> tuple[Grant, ...]:
    """Return what a workspace's journal names: commands of its open campaign, and its project's file.

    Of a project whose results are not compared also that its times alone decide.
    """
    opened = state.campaign if state.stopped is None else None
    project = state.task.project
    commands = invoked(opened.launch) if opened is not None else ()
    return (*commands, *((Grant("project", project.blob),) if project is not None else ()), *reported(state))


def reported(state: WorkspaceState) -> tuple[Grant, ...]:
    """Return what lets policies accept a project's times where nobody compares its results."""
    project = state.task.project
    return () if project is None or project.compares else (Grant("reported", project.blob),)


def refuse_needless(args: argparse.Namespace, state: WorkspaceState) -> None:
    """Raise `BadInput` for `--accept-reported` where nothing rests on reported times alone."""
    if args.accept_reported and not reported(state):
        what = "--accept-reported, and results are compared here"
        raise BadInput(what, where="kb tune", fix="leave it out", code="KB103")


def allow(folder: Path, grants: Iterable[Grant]) -> None:
    """Remember what this user gave on the command line, so that a later call for the folder need not ask."""
    given = tuple(grants)
    if given and not os.environ.get(UNATTENDED):
        TrustStore().add(folder, given)


def require(folder: Path, grants: Iterable[Grant], where: str) -> None:
    """Let pass what this user allowed the folder before, or says yes to now.

    Args:
        folder: Whose journal or project file names them.
        grants: What it would start or be given.
        where: The command, for errors.

    Raises:
        BadInput: Something is not allowed and nobody can be asked, the answer is no, or a server asks.
    """
    named = tuple(sorted(grants))
    if not named:
        return
    store = TrustStore()
    missing = store.missing(folder, named)
    if os.environ.get(UNATTENDED):
        missing = tuple(sorted({*missing, *(one for one in named if one.kind in _NEVER_UNATTENDED)}))
    if not missing:
        print(f"kb: allowed before for {folder}: {_listed(named)} (kb trust {folder})", file=sys.stderr)
        return
    what = f"{folder} names what this command line did not: {_listed(missing)}"
    if os.environ.get(UNATTENDED):
        fix = "a person runs kb tune there; a server starts no command that a folder names"
        raise BadInput(what, where=where, fix=fix, code="KB474")
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        fix = f"read it, then allow it: kb trust {folder}"
        if any(one.kind == "reported" for one in missing):
            fix += "; or --accept-reported for times alone; or have results compared: [commands] outputs"
        raise BadInput(what, where=where, fix=fix, code="KB474")
    print(f"kb: {what}\nallow it? [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().casefold() not in {"y", "yes"}:
        raise BadInput(f"not allowed: {_listed(missing)}", where=where, code="KB474")
    store.add(folder, missing)


def _listed(grants: Iterable[Grant]) -> str:
    return "; ".join(map(str, grants))
