"""`kb table misses`: shapes of a log or a trace that no row serves."""

from __future__ import annotations

import argparse
from pathlib import Path

from kopt_kb.base.errors import ExitCode
from kopt_kb.cli.kit.output import add_wiki, open_registry, print_values, printable, table
from kopt_kb.packs.tables.audit import table_files
from kopt_kb.packs.tables.devices import DeviceNames
from kopt_kb.packs.tables.misses import Misses, misses
from kopt_kb.problem.tuned_table import read_tuned_table

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the action's arguments."""
    parser.add_argument("file", metavar="FILE", help="an engine's log, or a torch trace recorded with shapes")
    what = "table that the engine reads, or a folder of them; for a trace, repeatable"
    parser.add_argument("--table", action="append", default=[], metavar="FILE", help=what)
    add_wiki(parser)


def run(args: argparse.Namespace) -> int:
    """Print the shapes; exit 1 where there is one."""
    registry = open_registry(args)
    tables = [read_tuned_table(path) for path, _ in table_files(args.table)]
    found = misses(Path(args.file), tables, DeviceNames(registry))
    if args.json:
        print_values(found, registry.wikis)
    else:
        print(_render(found))
    return ExitCode.FINDING if found.shapes else ExitCode.OK


def _render(found: Misses) -> str:
    rows = [("time", "share", "count", "what", "extents", "why")]
    for one in found.shapes:
        extents = ", ".join(f"{name}={value}" for name, value in one.extents.items())
        time = "" if one.seconds is None else f"{1000 * one.seconds:.3f} ms"
        share = "" if one.share is None else f"{100 * one.share:.1f} %"
        rows.append((time, share, str(one.count), one.what, extents, one.reason))
    device = f" on {found.device}" if found.device else ""
    head = printable(f"{found.file}{device}: {len(found.shapes)} shape(s) missed, {found.served} call(s) served")
    return "\n".join([head, "", table(rows, right=(0, 1, 2))]) if found.shapes else head
