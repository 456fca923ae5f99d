"""Print what to read for a piece of work, in order, and why.

kb route knowledge --op gemm --arch gfx942 --backend flydsl
"""

from __future__ import annotations

import argparse

from kopt_kb.cli.output import add_wiki, open_registry, print_values, table
from kopt_kb.cli.search import add_filters, filters
from kopt_kb.errors import BadInput, ExitCode
from kopt_kb.wiki.route import ReadingList, reading_list

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    commands = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    knowledge = commands.add_parser("knowledge", help="the reading list of an operation", allow_abbrev=False)
    add_filters(knowledge)
    add_wiki(knowledge)


def run(args: argparse.Namespace) -> int:
    """Print the reading list; exit 1 when no page fits."""
    wanted = filters(args)
    if not (wanted.op or wanted.backend or wanted.arch):
        raise BadInput(
            "no piece of work is named", where="kb route knowledge", fix="give --op, --backend or --arch", code="KB102"
        )
    wiki = open_registry(args).wiki
    found = reading_list(wiki, wanted)
    if args.json:
        print_values(found, [wiki])
    else:
        _print(found)
    return ExitCode.OK if found.stops else ExitCode.FINDING


def _print(reading: ReadingList) -> None:
    rows = []
    for number, stop in enumerate(reading.stops, 1):
        why = f"{stop.why} ({', '.join(stop.matches) or 'any'})"
        place = stop.path if stop.path.endswith("/") else f"{stop.path}:1"
        rows.append((f"{number}.", place, stop.title, why))
    print(table(rows, right=(0,)))
    if reading.tips:
        print(f"then, if it is there, what earlier campaigns noted: {reading.tips}")
    for kind in reading.missing:
        print(f"no {kind} page for this: use what you know, and call it unsourced")
