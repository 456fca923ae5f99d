"""--op, --backend and --target of commands that choose pages."""

from __future__ import annotations

import argparse

from kopt_kb.wiki.search_filters import Filters

__all__ = ["add_filters", "filters"]


def add_filters(parser: argparse.ArgumentParser) -> None:
    """Declare --op, --backend and --target."""
    parser.add_argument("--op", default="", help="operation, such as gemm")
    parser.add_argument("--backend", default="", help="backend, such as triton")
    parser.add_argument(
        "--target",
        "--arch",
        dest="arch",
        metavar="TARGET",
        default="",
        help="exact target such as gfx942 or sm_90, or a product's id",
    )


def filters(args: argparse.Namespace) -> Filters:
    """Return the filters on the command line, unchecked."""
    return Filters(args.op, args.backend, args.arch, getattr(args, "kind", ""))
