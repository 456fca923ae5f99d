"""Rank the operators of a model's step by time that could be won: share of the step times distance to the roof.

kb profile step trace.json.gz
kb profile step trace.json --platform A100_SXM_80GB --range 'iteration'
kb profile step trace.json --format csv

The trace is torch.profiler's, recorded with record_shapes=True. Exit code 1: nothing of it has a roof.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from kopt_kb.analysis.profile.names import kernel_pattern
from kopt_kb.base.errors import BadInput, ExitCode
from kopt_kb.cli.kit.output import add_wiki, open_registry, print_values
from kopt_kb.packs.step_ranking.step import step_report
from kopt_kb.packs.step_ranking.text import print_step

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("file", metavar="TRACE", help="torch trace with shapes (.json or .json.gz)")
    parser.add_argument("--platform", metavar="ID", help="product of the run (default: what the trace names)")
    parser.add_argument("--range", metavar="REGEX", help="ranges that are steps (default: found in the trace)")
    parser.add_argument("--top", metavar="N", type=int, default=20, help="rows of each table (default: %(default)s)")
    add_wiki(parser)


def run(args: argparse.Namespace) -> int:
    """Print the step."""
    if args.top < 1:
        raise BadInput(f"--top {args.top} shows nothing", fix="give 1 or more", code="KB105")
    wanted = None if args.range is None else kernel_pattern(args.range)
    registry = open_registry(args)
    platform = None if args.platform is None else registry.platform(args.platform)
    found = step_report(Path(args.file), registry, platform, wanted)
    if args.json:
        print_values(found, registry.wikis)
    else:
        print_step(found, args.top)
    return ExitCode.OK if found.roofed_s else ExitCode.FINDING
