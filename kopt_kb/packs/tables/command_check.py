"""`kb table check`: are rows of a table faster than what the engine does without them, on a GPU."""

from __future__ import annotations

import argparse

from kopt_kb.base.errors import BadInput, ExitCode
from kopt_kb.base.markup.html import page as html_page
from kopt_kb.cli.kit.output import add_wiki, open_registry, print_values
from kopt_kb.cli.kit.page_output import add_report, check_report, made_by, save_report
from kopt_kb.cli.kit.sarif import add_format, print_sarif, wants_json
from kopt_kb.packs.tables.check import check_rows, check_sarif, rows_at
from kopt_kb.packs.tables.session import session, tokens_of
from kopt_kb.packs.tables.timed_arguments import add_layer, appending, asked_of, say
from kopt_kb.packs.tables.timed_page import check_text, timed_page
from kopt_kb.tuning.page.markdown import markdown
from kopt_kb.wiki.version import data_version

__all__ = ["add_arguments", "run"]

_CODES = {"sound": ExitCode.OK, "slower": ExitCode.FINDING, "undecided": ExitCode.UNKNOWN}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the action's arguments."""
    add_layer(parser)
    parser.add_argument("--rows", metavar="KEY,...", default="", help="these rows (default: all)")
    parser.add_argument("--tokens", metavar="N,...", default="", help="the rows that serve these numbers of tokens")
    parser.add_argument("--default-only", action="store_true", help="not against the rows beside it too")
    add_report(parser)
    add_format(parser)
    add_wiki(parser, has_format=True)


def run(args: argparse.Namespace) -> int:
    """Check rows; exit 1 where one is slower than the default or wrong, 4 where nothing could be said of one."""
    asked = asked_of(args)
    check_report(args)
    if args.rows and args.tokens:
        raise BadInput("rows are named by key or by tokens", where="--tokens", fix="give one of both", code="KB103")
    registry = open_registry(args)
    found = session(asked, registry)
    keys = [one for one in args.rows.split(",") if one]
    wanted = rows_at(found.table, keys, tokens_of(args.tokens) if args.tokens else ())
    sides = 1 if args.default_only else 3
    most = f"at most {(1 + sides) * len(wanted)} records and {sides * len(wanted)} comparisons of up to 30 s"
    say(f"{len(wanted)} row(s) of {found.table.file} on {found.platform.id}: {most}")
    with found.bouts(registry, say) as bouts:
        seen = check_rows(found, bouts, wanted, appending(args.results), neighbours=not args.default_only)
    made = timed_page(seen, made_by(), str(data_version(registry.wikis)))
    written = save_report(args, lambda: html_page(made).encode(), lambda: markdown(made))
    if args.format == "sarif":
        print_sarif("kb table check", check_sarif(seen), data_version(registry.wikis))
    elif wants_json(args):
        print_values(seen, registry.wikis)
    else:
        print("\n".join([check_text(seen), *written]))
    return _CODES[seen.verdict]
