"""Bring every rendered file of a workspace up to its journal; the bytes of an edited one are kept in objects/.

kb render kernel_opt_norm
"""

from __future__ import annotations

import argparse

from kopt_kb.cli.output import add_common, print_of
from kopt_kb.errors import ExitCode
from kopt_kb.workspace.views.render import RenderReport, render_workspace
from kopt_kb.workspace.workspace import Workspace

__all__ = ["add_arguments", "run", "show"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("path", metavar="WORKSPACE", help="workspace folder")
    add_common(parser)


def run(args: argparse.Namespace) -> int:
    """Render, and name what was edited with the blob that keeps it."""
    workspace = Workspace.open(args.path)
    report = render_workspace(workspace)
    if args.json:
        print_of(report, workspace.state())
    else:
        print(show(report))
    return ExitCode.OK


def show(report: RenderReport) -> str:
    """Return the report as text for people."""
    lines = [*report.lines(), *(f"wrote {path}" for path in report.written)]
    if not report.written:
        lines.append(f"{len(report.unchanged)} rendered files are up to date")
    return "\n".join(lines)
