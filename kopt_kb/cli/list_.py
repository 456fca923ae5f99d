"""List the products of the wiki."""

from __future__ import annotations

import argparse

from kopt_kb.cli.output import add_wiki, open_registry, print_json, table
from kopt_kb.errors import ExitCode

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_wiki(parser)


def run(args: argparse.Namespace) -> int:
    """Print one line a product."""
    registry = open_registry(args)
    rows = []
    for name in registry.platforms():
        platform = registry.platform(name)
        count = sum(row.kind in {"value", "token"} for row in platform.sheet.chosen().values())
        rows.append((platform.identity, count))
    if args.json:
        names = ("platform", "vendor", "arch", "target", "sku")
        print_json({"platforms": [{**{n: getattr(i, n) for n in names}, "specs": count} for i, count in rows]})
    else:
        head = ("Platform", "Vendor", "Product", "Architecture", "Target", "Rows")
        body = [(i.platform, i.vendor, i.sku, i.arch, i.target, str(count)) for i, count in rows]
        print(table([head, *body], right=(5,)))
    return ExitCode.OK
