"""Prepare existing Triton kernels for NVIDIA's TileIR backend.

kb tileir classify FILE [--kernel NAME]   dot-related, norm-like, element-wise or reduction, with the deciding lines
kb tileir classify --code TEXT            the same of a text

The type is found by following data through the source, callees in the same project inlined; nothing is imported or
run, comments and names decide nothing.
"""

from __future__ import annotations

import argparse

from kopt_kb.cli.output import add_common, print_json, printable_lines
from kopt_kb.errors import BadInput, ExitCode
from kopt_kb.static.tileir.files import Classified, classify_source

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    commands = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    sort = commands.add_parser("classify", help="what kind of kernel it is, and why", allow_abbrev=False)
    _add_source(sort)
    add_common(sort)


def _add_source(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", nargs="?", default="", help="Python file with Triton kernels")
    parser.add_argument("--code", metavar="TEXT", default="", help="Python text with kernels, instead of FILE")
    parser.add_argument("--kernel", metavar="NAME", default="", help="only this kernel")


def run(args: argparse.Namespace) -> int:
    """Run the chosen action."""
    return {"classify": _classify}[args.action](args)


def _checked(args: argparse.Namespace) -> None:
    if bool(args.file) == bool(args.code):
        raise BadInput("give one of FILE and --code", where=f"kb tileir {args.action}", code="KB103")


def _classify(args: argparse.Namespace) -> int:
    _checked(args)
    found = classify_source(args.file, args.code, args.kernel)
    if args.json:
        print_json(found)
    else:
        print(printable_lines(_render(found)))
    return ExitCode.OK


def _render(found: Classified) -> str:
    parts = []
    for one in found.kernels:
        lines = [f"{one.kernel} ({found.path}:{one.line}): {one.classification}, confidence {one.confidence:.2f}"]
        lines.append(f"  strategy: {one.strategy}")
        lines += [
            f"  {'line ' + str(each.line):<9} {each.what}: {each.text}{f'  [{each.module}]' if each.module else ''}"
            for each in one.indicators
        ]
        lines += [f"  not read: {name}, so what it does is not known" for name in one.unresolved]
        lines += [f"  - {text}" for text in one.recommendations]
        parts.append("\n".join(lines))
    return "\n\n".join(parts)
