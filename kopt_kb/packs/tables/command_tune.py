"""`kb table tune`: rows of a table that are missing or slow, found on a GPU and written where they are faster."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from kopt_kb.base.errors import BadInput, ExitCode
from kopt_kb.base.files import read_input
from kopt_kb.base.markup.html import page as html_page
from kopt_kb.cli.kit.output import add_wiki, open_registry, print_values
from kopt_kb.cli.kit.page_output import add_report, check_report, made_by, save_report
from kopt_kb.packs.tables.session import session, tokens_of
from kopt_kb.packs.tables.table_write import check_out, replace_table, write_table
from kopt_kb.packs.tables.timed_arguments import add_layer, appending, asked_of, say
from kopt_kb.packs.tables.timed_page import timed_page, tune_text
from kopt_kb.packs.tables.tune import TableTune, TunePlan, tune_rows
from kopt_kb.tuning.page.markdown import markdown
from kopt_kb.wiki.version import data_version

__all__ = ["add_arguments", "run"]

_LADDER = "1,2,4,8,16,24,32,48,64,96,128,256,512,1024,1536,2048,3072,4096"
"""Numbers of tokens that most published tables have."""

_LEAST_S, _MOST_S = 1.0, 3600.0
_MOST_BYTES = 32 << 20
_A_STEP = 12


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the action's arguments."""
    add_layer(parser)
    parser.add_argument("--tokens", metavar="N,...", default=_LADDER, help=f"numbers of tokens (default: {_LADDER})")
    parser.add_argument("--missing", action="store_true", help="only those of them that have no row of their own")
    parser.add_argument(
        "--seconds", type=float, default=10.0, metavar="S", help="of search for a number of tokens (default 10)"
    )
    parser.add_argument(
        "--stop-at", type=float, default=90.0, metavar="PCT", help="share of the roof at which it stops (default 90)"
    )
    parser.add_argument("--out", metavar="FILE", help="write the whole table to a new file")
    parser.add_argument("--in-place", action="store_true", help="put it in the place of FILE")
    add_report(parser)
    add_wiki(parser)


def run(args: argparse.Namespace) -> int:
    """Tune; exit 0 also where nothing faster was found, and the file stays as it is."""
    asked, plan = asked_of(args), _plan(args)
    check_report(args)
    registry = open_registry(args)
    before = read_input(Path(args.file), _MOST_BYTES)
    found = session(asked, registry)
    if args.out is not None:
        check_out(found.table, Path(args.out))
    own = {row.sizes["tokens"] for row in found.table.rows}
    tokens = [one for one in tokens_of(args.tokens) if not (args.missing and one in own)]
    steps = f"records of about {_A_STEP} neighbours a step, at most {len(tokens)} comparisons of up to 30 s"
    say(f"{len(tokens)} sizes of {found.table.file} on {found.platform.id}: {plan.seconds:g} s each, {steps}")
    with found.bouts(registry, say) as bouts:
        seen = tune_rows(found, bouts, tokens, plan, appending(args.results))
    seen = _written(args, seen, before)
    made = timed_page(seen, made_by(), str(data_version(registry.wikis)))
    saved = save_report(args, lambda: html_page(made).encode(), lambda: markdown(made))
    if args.json:
        print_values(seen, registry.wikis)
    else:
        print("\n".join([tune_text(seen), *saved]))
    return ExitCode.OK


def _plan(args: argparse.Namespace) -> TunePlan:
    if not _LEAST_S <= args.seconds <= _MOST_S:
        fix = f"from {_LEAST_S:g} to {_MOST_S:g}"
        raise BadInput(f"{args.seconds:g} s is no time for a search", where="--seconds", fix=fix, code="KB102")
    if not 0 < args.stop_at <= 100:
        raise BadInput(f"{args.stop_at:g} is no share in percent", where="--stop-at", fix="such as 90", code="KB102")
    if args.out is not None and args.in_place:
        raise BadInput("the table goes to one place", where="--in-place", fix="leave --out out", code="KB103")
    return TunePlan(args.seconds, args.stop_at / 100)


def _written(args: argparse.Namespace, seen: TableTune, before: bytes) -> TableTune:
    """Write the table where it was asked for; a file in which nothing is faster is not touched."""
    if args.out is not None:
        write_table(seen.table, Path(args.out))
        return replace(seen, written=args.out)
    if args.in_place and seen.accepted:
        replace_table(seen.table, Path(args.file), before)
        return replace(seen, written=args.file)
    return seen
