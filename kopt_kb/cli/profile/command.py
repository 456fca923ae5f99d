"""Read profiler reports into verdicts, record them, and explain the rules.

kb profile read report.ncu-rep --platform H200_SXM
kb profile diff old.csv new.csv --kernel 'gemm.*' --threshold 5
kb profile gap report.ncu-rep --op gemm --shape 4097x4097x4097 --dtype bf16
kb profile run --kernel 'gemm.*' -- python train.py
kb profile explain BN-UNCOALESCED
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

from kopt_kb.cli.kit.parser import add_sub_commands
from kopt_kb.cli.profile import (
    diff as profile_diff,
)
from kopt_kb.cli.profile import (
    explain as profile_explain,
)
from kopt_kb.cli.profile import (
    gap as profile_gap,
)
from kopt_kb.cli.profile import (
    read as profile_read,
)
from kopt_kb.cli.profile import (
    roofline as profile_roofline,
)
from kopt_kb.cli.profile import (
    run as profile_run,
)
from kopt_kb.doors.absent import absent_offers, needs_pack

__all__ = ["add_arguments", "run"]

_PREFIX = "profile "

_ACTIONS: dict[str, Callable[[argparse.Namespace], int]] = {
    "read": profile_read.run,
    "diff": profile_diff.run,
    "gap": profile_gap.run,
    "roofline": profile_roofline.run,
    "run": profile_run.run,
    "explain": profile_explain.run,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    commands = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    profile_read.add_arguments(commands.add_parser("read", help="judge the kernels of reports", allow_abbrev=False))
    profile_diff.add_arguments(commands.add_parser("diff", help="compare reports with a baseline", allow_abbrev=False))
    profile_gap.add_arguments(
        commands.add_parser("gap", help="say where the time above the roof went", allow_abbrev=False)
    )
    profile_roofline.add_arguments(
        commands.add_parser("roofline", help="draw the kernels of a report under its roofs", allow_abbrev=False)
    )
    profile_run.add_arguments(commands.add_parser("run", help="record a program and judge it", allow_abbrev=False))
    profile_explain.add_arguments(
        commands.add_parser("explain", help="print a rule, its thresholds and their sources", allow_abbrev=False)
    )

    add_sub_commands(commands, "profile")
    for name in absent_offers(_PREFIX):
        absent = commands.add_parser(name, add_help=False, prefix_chars="\0")
        absent.add_argument("words", nargs="*")
        absent.set_defaults(added=None)


def run(args: argparse.Namespace) -> int:
    """Run the chosen action."""
    if args.action in _ACTIONS:
        return _ACTIONS[args.action](args)
    if args.added is None:
        raise needs_pack(f"kb profile {args.action}", f"{_PREFIX}{args.action}")
    return int(args.added(args))
