"""`kb wiki import-check`: what of another wiki's pages and records can be read as values."""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from kopt_kb.base.errors import ExitCode
from kopt_kb.cli.kit.output import add_wiki, open_registry, print_values, printable, table
from kopt_kb.packs.curate.lint.importing import REASONS, read_foreign_wiki
from kopt_kb.packs.curate.wiki_diff import print_differences

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `kb wiki import-check`."""
    parser.add_argument("folder", metavar="DIR", help="its folder")
    add_wiki(parser)


def run(args: argparse.Namespace) -> int:
    """Print what of each file can be read as values and how they stand to ours; exit 1 when one disagrees."""
    registry = open_registry(args)
    foreign_wiki = read_foreign_wiki(registry, Path(args.folder))
    counts = Counter(one.compared.state for one in foreign_wiki.rows)
    if args.json:
        print_values(foreign_wiki, registry.wikis)
    else:
        print_differences((one.compared for one in foreign_wiki.rows), every=False)
        for file in foreign_wiki.files:
            left = "; ".join(f"{why}: lines {', '.join(map(str, lines))}" for why, lines in file.left.items())
            print(printable(f"{file.path}: {file.read} read{f'; left, {left}' if left else ''}"))
        print(table([(why, meaning) for why, meaning in REASONS.items()], indent=2, is_headed=False))
        states = ", ".join(f"{count} {state}" for state, count in sorted(counts.items()))
        print(f"{len(foreign_wiki.rows)} values of {len(foreign_wiki.files)} files: {states or 'none'}")
    return ExitCode.FINDING if counts["disagrees"] else ExitCode.OK
