"""kb tune dismiss: close an opportunity of the best version by a person's word, with the evidence against it."""

from __future__ import annotations

import argparse
from dataclasses import replace

from kopt_kb.base.errors import BadInput, ExitCode
from kopt_kb.cli.kit.output import print_of
from kopt_kb.workspace.anchors import open_journal
from kopt_kb.workspace.state import WorkspaceState
from kopt_kb.workspace.views.render import render_saying
from kopt_kb.workspace.workspace import Workspace

__all__ = ["dismiss"]

_NAMES_SHOWN = 5


def dismiss(args: argparse.Namespace, workspace: Workspace, state: WorkspaceState) -> int:
    """Append that an open opportunity is dismissed, and why.

    Raises:
        BadInput: There is no such opportunity, it is closed, or no reason is given.
    """
    entries = {one.opportunity.id: one for one in (state.ledger_of(state.best) if state.best is not None else ())}
    entry = entries.get(args.opportunity)
    if entry is None or not entry.is_open:
        known = [name for name, one in entries.items() if one.is_open]
        what = "is closed" if entry is not None else "is in no ledger of the best version"
        fix = f"open are {', '.join(known[:_NAMES_SHOWN])}" if known else "none is open"
        raise BadInput(f"opportunity {args.opportunity!r} {what}", where=args.workspace, fix=fix, code="KB106")
    reason = " ".join(args.reason.split())
    if not reason:
        raise BadInput("a dismissal needs its evidence", where="--reason", fix="say what was measured", code="KB102")
    event = replace(entry.opportunity, state="dismissed", reason=f"{reason} ({args.by})")
    with open_journal(workspace.layout) as journal:
        journal.append(event.kind, event)
        render_saying(workspace, lambda _: None, journal)
    if args.json:
        print_of(event, state)
    else:
        print(f"dismissed: {event.text}: {event.reason}")
    return ExitCode.OK
