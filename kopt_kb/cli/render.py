"""Bring every rendered file of a workspace up to its journal; an edit is never overwritten unasked.

kb render kernel_opt_norm
kb render kernel_opt_norm --discard logs/optimize.md
"""

from __future__ import annotations

import argparse

from kopt_kb.cli.output import add_common, print_json
from kopt_kb.errors import ExitCode
from kopt_kb.workspace.views.render import RenderReport, render_workspace
from kopt_kb.workspace.workspace import Workspace

__all__ = ["add_arguments", "run", "show"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("path", metavar="WORKSPACE", help="workspace folder")
    parser.add_argument(
        "--discard",
        metavar="FILE",
        action="append",
        default=[],
        help="rendered file, relative to the workspace, whose edit is dropped (its bytes go to objects/); repeatable",
    )
    add_common(parser)


def run(args: argparse.Namespace) -> int:
    """Render; exit 1 with the diffs when an edit stands in the way."""
    report = render_workspace(Workspace.open(args.path), discard=args.discard)
    if args.json:
        print_json(report.to_json())
    else:
        print(show(report))
    return ExitCode.FINDING if report.conflicts else ExitCode.OK


def show(report: RenderReport) -> str:
    """Return the report as text for people."""
    lines = [f"{one.error()}\n{one.diff.rstrip()}" for one in report.conflicts]
    lines += [f"wrote {path}" for path in report.written]
    lines += [f"the old text of {path} is objects/{sha}" for path, sha in report.discarded]
    if not report.conflicts and not report.written:
        lines.append(f"{len(report.unchanged)} rendered files are up to date")
    return "\n".join(lines)
