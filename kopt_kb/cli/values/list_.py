"""List the products of the wiki."""

from __future__ import annotations

import argparse

from kopt_kb.base.errors import ExitCode
from kopt_kb.cli.kit.documents import ProductListing, Products
from kopt_kb.cli.kit.output import add_format, add_wiki, open_registry, print_table, print_values, wants_json

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_format(parser)
    add_wiki(parser, has_format=True)


def run(args: argparse.Namespace) -> int:
    """Print one line a product."""
    registry = open_registry(args)
    products = []
    for name in registry.platforms():
        platform = registry.platform(name)
        count = sum(row.kind in {"value", "token"} for row in platform.sheet.chosen().values())
        products.append(ProductListing(platform.identity, count))
    if wants_json(args):
        print_values(Products(tuple(products)), registry.wikis)
    else:
        head = ("Platform", "Vendor", "Product", "Architecture", "Target", "Rows")
        body = [
            (found.platform, found.vendor, found.sku, found.arch, found.target, str(one.specs))
            for one, found in ((one, one.identity) for one in products)
        ]
        print_table(head, body, args.format, right=(5,))
    return ExitCode.OK
