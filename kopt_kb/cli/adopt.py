"""Make your edit of a rendered file, a README block or an authored file part of the workspace's record.

kb adopt kernel_opt_norm/memory/v3.json
kb adopt kernel_opt_norm/plans/v1_plan.md --by ann
"""

from __future__ import annotations

import argparse
import getpass
import os
from pathlib import Path

from kopt_kb.cli.output import add_common, print_json
from kopt_kb.cli.render import show
from kopt_kb.errors import ExitCode
from kopt_kb.workspace.adopt import adopt_file

__all__ = ["add_arguments", "add_author", "run"]


def add_author(parser: argparse.ArgumentParser) -> None:
    """Add --by, with the login name as its default."""
    parser.add_argument("--by", metavar="NAME", default=_login(), help="who says so (default: %(default)s)")


def _login() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"uid {os.getuid()}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("file", metavar="FILE", help="a file of a workspace")
    add_author(parser)
    add_common(parser)


def run(args: argparse.Namespace) -> int:
    """Adopt the edit; exit 1 when a record or a target says otherwise, with nothing adopted."""
    done = adopt_file(Path(args.file), args.by)
    if args.json:
        print_json(done.to_json())
    else:
        for one in done.events:
            print(f"event {one.seq}: {one.kind}")
        print(show(done.report))
    return ExitCode.FINDING if done.report.conflicts else ExitCode.OK
