"""`kb wiki new`: a page whose rows are all to be filled."""

from __future__ import annotations

import argparse
from pathlib import Path

from kopt_kb.base.errors import ExitCode
from kopt_kb.cli.kit.documents import WrittenFiles
from kopt_kb.cli.kit.output import add_common, print_json
from kopt_kb.packs.curate.skeleton import new_page
from kopt_kb.wiki.places import default_root

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `kb wiki new`."""
    parser.add_argument("platform", metavar="PLATFORM", help="id of the new page, such as H100_SXM")
    parser.add_argument("--target", required=True, help="exact target, such as sm_90 or gfx942")
    parser.add_argument(
        "--into", metavar="DIR", help="wiki folder of yours (default: KOPT_GPU_WIKI, else the checkout's)"
    )
    add_common(parser)


def run(args: argparse.Namespace) -> int:
    """Write the page."""
    root = default_root() if args.into is None else Path(args.into)
    paths = new_page(root, args.platform, args.target)
    if args.json:
        print_json(WrittenFiles(tuple(str(path) for path in paths)), [root])
    else:
        for path in paths:
            print(f"wrote {path}")
        print(f"fill its rows; `kb wiki index {root}`, then `kb wiki check {root}` names what is left")
    return ExitCode.OK
