"""`kb wiki changes`: what differs between two wikis, row by row."""

from __future__ import annotations

import argparse
from pathlib import Path

from kopt_kb.base.errors import ExitCode
from kopt_kb.cli.kit.output import add_common, print_json, printable
from kopt_kb.packs.curate.changes import wiki_changes
from kopt_kb.wiki.wiki import Wiki

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `kb wiki changes`."""
    parser.add_argument("old", metavar="OLD", help="wiki folder")
    parser.add_argument("new", metavar="NEW", help="wiki folder")
    add_common(parser)


def run(args: argparse.Namespace) -> int:
    """Print every key whose rows differ; exit 1 when there is one."""
    changes = wiki_changes(Wiki(Path(args.old), use_cache=False), Wiki(Path(args.new), use_cache=False))
    if args.json:
        print_json(changes, [args.new])
    else:
        for change in changes.changes:
            print(printable(f"{change.state} {change.path} {change.key}"))
            for sign, rows in (("-", change.before), ("+", change.after)):
                for row in rows:
                    print(printable(f"  {sign} {row}"))
        print(f"{len(changes.changes)} key(s) differ; {changes.old} -> {changes.new}")
    return ExitCode.FINDING if changes.changes else ExitCode.OK
