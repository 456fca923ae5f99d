"""Bring every rendered file of a workspace up to its journal; the bytes of an edited one are kept in objects/.

kb render kernel_opt_norm
"""

from __future__ import annotations

import argparse

from kopt_kb.base.errors import ExitCode
from kopt_kb.cli.kit.output import add_common, print_of
from kopt_kb.workspace.views.render import render_workspace
from kopt_kb.workspace.workspace import Workspace

__all__ = ["add_arguments", "run"]


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
        print(report.text)
    return ExitCode.OK
