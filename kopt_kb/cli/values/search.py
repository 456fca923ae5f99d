"""Search the wiki: pages that fit the filters, ranked by the words.

kb search "bank conflict" --target gfx942 --backend hip
kb search "swizzle" --op gemm --kind pitfall
"""

from __future__ import annotations

import argparse

from kopt_kb.base.errors import ExitCode
from kopt_kb.cli.kit.output import add_wiki, open_registry, print_values
from kopt_kb.cli.kit.search_filters import add_filters, filters
from kopt_kb.wiki.search import SearchResult, search
from kopt_kb.wiki.search_filters import SEARCH_KINDS

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("text", metavar="TEXT", nargs="+", help="words to search for")
    add_filters(parser)
    parser.add_argument("--kind", default="", help=f"kind of page: {', '.join(SEARCH_KINDS)}")
    parser.add_argument("--limit", type=int, default=10, metavar="N", help="most hits (default 10)")
    add_wiki(parser)


def run(args: argparse.Namespace) -> int:
    """Print the hits; exit 1 when nothing fits."""
    wiki = open_registry(args).wiki
    results = search(wiki, " ".join(args.text), filters(args), limit=max(1, args.limit))
    if args.json:
        print_values(results, [wiki])
    else:
        _print(results)
    return ExitCode.OK if results.hits else ExitCode.FINDING


def _print(results: SearchResult) -> None:
    if not results.hits:
        print("nothing found")
    elif results.relaxed:
        print("no passage has all the words; these have some:")
    for hit in results.hits:
        place = f"{hit.title} > {hit.heading}" if hit.heading else hit.title
        versions = f", {hit.versions}" if hit.versions not in {"", "any"} else ""
        print(f"{hit.path}:{hit.line}: {place} ({hit.kind}{versions})\n    {hit.excerpt}")
