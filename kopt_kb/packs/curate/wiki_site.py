"""`kb wiki site`: the wiki as HTML to browse."""

from __future__ import annotations

import argparse
from pathlib import Path

from kopt_kb.base.errors import ExitCode
from kopt_kb.cli.kit.documents import WrittenFiles
from kopt_kb.cli.kit.output import add_common, print_json
from kopt_kb.packs.curate.site import write_site
from kopt_kb.wiki.places import default_root
from kopt_kb.wiki.wiki import Wiki

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `kb wiki site`."""
    parser.add_argument("--out", metavar="DIR", required=True, help="a new or empty folder")
    parser.add_argument("--wiki", metavar="DIR", help="wiki folder (default: the packaged one)")
    add_common(parser)


def run(args: argparse.Namespace) -> int:
    """Write the site."""
    wiki = Wiki(Path(args.wiki) if args.wiki else default_root())
    paths = write_site(wiki, Path(args.out))
    if args.json:
        print_json(WrittenFiles(tuple(map(str, paths))), [wiki.root])
    else:
        print(f"wrote {len(paths)} pages; open {paths[0]}")
    return ExitCode.OK
