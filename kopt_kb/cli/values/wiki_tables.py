"""`kb wiki conflicts`: a table of both sides for people."""

from __future__ import annotations

import argparse

from kopt_kb.base.errors import ExitCode
from kopt_kb.cli.kit.output import open_registry, print_values, table
from kopt_kb.wiki.conflicts import Conflict, Conflicts, wiki_conflicts
from kopt_kb.wiki.row import Row

__all__ = ["run_conflicts"]


def run_conflicts(args: argparse.Namespace) -> int:
    """Print every conflict of the wikis; a recorded conflict is no fault, the exit code is 0."""
    wikis = open_registry(args).wikis
    found = [one for wiki in wikis for one in wiki_conflicts(wiki)]
    if args.json:
        print_values(Conflicts(tuple(found)), wikis)
    else:
        for conflict in found:
            _print_conflict(conflict)
        print(f"{len(found)} conflict(s), each with one side chosen or all rejected")
    return ExitCode.OK


def _print_conflict(conflict: Conflict) -> None:
    print(f"{conflict.platform} {conflict.key}")
    chosen = [] if conflict.chosen is None else [_side(conflict.chosen, "chosen")]
    print(
        table([*chosen, *(_side(row, "rejected") for row in conflict.rejected)], indent=2, right=(1,), is_headed=False)
    )


def _side(row: Row, verdict: str) -> tuple[str, str, str, str, str]:
    said = "" if row.kind != "value" else row.unit
    return verdict, row.value, said, f"{row.grade} <gpu-wiki>/{row.path}:L{row.line}", row.note(verdict)
