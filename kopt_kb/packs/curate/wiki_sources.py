"""`kb wiki sources`: search every quote in the document it is from."""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from kopt_kb.base.errors import BadInput, ExitCode
from kopt_kb.cli.kit.output import add_common, print_values, table
from kopt_kb.cli.kit.wiki_folder import one_folder
from kopt_kb.packs.curate.citing import NAMED, count_naming
from kopt_kb.packs.curate.labels import LabelProposals, propose_labels
from kopt_kb.packs.curate.sources import BASES, FOLDERS, Documents, WikiSources, read_again, render_record
from kopt_kb.wiki.places import RECORD, default_root
from kopt_kb.wiki.wiki import Wiki

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `kb wiki sources`."""
    parser.add_argument("folder", metavar="DIR", nargs="?", help="wiki folder (default: the packaged one)")
    parser.add_argument("--wiki", metavar="DIR", help="the same as DIR")
    parser.add_argument("--documents", metavar="FOLDER", help="clones of the cited repositories, FOLDER/owner/name")
    parser.add_argument("--accept", action="store_true", help="write the record of what every row rests on")
    parser.add_argument(
        "--labels", action="store_true", help="propose labels for quotes of bare numbers; writes nothing"
    )
    add_common(parser)


def _print_labels(wiki: Wiki, documents: Documents, args: argparse.Namespace) -> int:
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


def run(args: argparse.Namespace) -> int:
    """Search every quote in its document and print what the rows rest on; a quote that is not there exits 1."""
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
