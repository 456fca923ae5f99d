"""List the products of the wiki, or the operations whose work is known in closed form."""

from __future__ import annotations

import argparse

from kopt_kb.base.errors import ExitCode
from kopt_kb.cli.kit.documents import ProductListing, Products
from kopt_kb.cli.kit.output import (
    add_format,
    add_wiki,
    open_registry,
    print_json,
    print_table,
    print_values,
    wants_json,
)
from kopt_kb.problem.operations import Operations, operations

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--ops", action="store_true", help="the operations of --op, with what each dimension is")
    add_format(parser)
    add_wiki(parser, has_format=True)


def run(args: argparse.Namespace) -> int:
    """Print one line a product, or one an operation."""
    if args.ops:
        return _operations(args)
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


def _operations(args: argparse.Namespace) -> int:
    found = operations()
    if wants_json(args):
        print_json(Operations(found))
    else:
        rows = [
            (one.op, one.form, "; ".join(f"{size.name} {size.meaning}" for size in one.dimensions)) for one in found
        ]
        print_table(("Operation", "Shape", "Dimensions"), rows, args.format)
    return ExitCode.OK
