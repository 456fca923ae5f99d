"""kb profile read: kernels of reports with their verdicts, as text or JSON."""

from __future__ import annotations

import argparse
import gc
from collections.abc import Iterator
from contextlib import contextmanager

from kopt_kb.analysis.profile import Source
from kopt_kb.analysis.readers.read import read_profiles
from kopt_kb.analysis.rules import classify
from kopt_kb.analysis.rules.product import product_of
from kopt_kb.cli.output import add_wiki, open_registry, print_json, printable
from kopt_kb.cli.profile_text import Judged, by_time, render, shares_of
from kopt_kb.errors import BadInput, ExitCode
from kopt_kb.wiki.registry import Platform, Registry
from kopt_kb.wire import JSON

__all__ = ["add_arguments", "documents", "judge", "print_judged", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the action's arguments."""
    parser.add_argument("files", metavar="FILE", nargs="+", help="report, or folder of one, of any known format")
    parser.add_argument("--kernel", metavar="REGEX", help="only kernels whose name matches; none matching is an error")
    parser.add_argument("--platform", metavar="ID", help="product of the run (default: what the report names)")
    parser.add_argument("--top", metavar="N", type=int, help="only the N kernels that take longest in all")
    parser.add_argument("--source", action="store_true", help="stall samples by instruction and source line (.ncu-rep)")
    add_wiki(parser)


def run(args: argparse.Namespace) -> int:
    """Print kernels and verdicts of the reports."""
    if args.top is not None and args.top < 1:
        raise BadInput(f"--top {args.top} shows nothing", fix="give 1 or more", code="KB105")
    registry = open_registry(args)
    platform = None if args.platform is None else registry.platform(args.platform)
    reports, judged = judge(args.files, args.kernel, registry, platform, source=args.source)
    if args.top is not None:
        judged = judged[: args.top]
    if args.json:
        print_json({"reports": [one.to_json() for one in reports], "kernels": documents(judged)})
        return ExitCode.OK
    print_judged(reports, judged)
    return ExitCode.OK


def judge(
    files: list[str], kernel: str | None, registry: Registry, platform: Platform | None = None, *, source: bool = False
) -> tuple[list[Source], list[Judged]]:
    """Return the reports and each kernel with its verdict under the roofs of the product it ran on.

    Args:
        files: Reports.
        kernel: Regular expression of kernel names, None for all.
        registry: Where the products that reports name are looked up.
        source: Whether costs of single instructions are read.
        platform: The product that the user says it was; a report that names another raises `BadInput`.
    """
    reports: list[Source] = []
    judged: list[Judged] = []
    for file in files:
        with _no_collection():
            found = list(read_profiles(file, kernel=kernel, source=source))
        if found:
            reports.append(found[0].source)
        for one in found:
            product = product_of(one, registry, platform)
            judged.append(Judged(one, classify(one, product), product))
    return reports, by_time(judged)


@contextmanager
def _no_collection() -> Iterator[None]:
    """Look for no cycles while a report is read: profiles have none, and hundreds of thousands are looked through."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def print_judged(reports: list[Source], judged: list[Judged]) -> None:
    """Print the reports, the table, and the proof of each verdict."""
    for one in reports:
        version = f" {printable(one.tool_version)}" if one.tool_version else ""
        print(f"Report: {printable(one.file)} ({one.format}, {one.tool}{version})")
    products = dict.fromkeys(str(one.platform.id) for one in judged if one.platform is not None)
    if products:
        print(f"Product: {', '.join(products)}")
    print()
    print(render(judged))


def documents(judged: list[Judged]) -> list[dict[str, JSON]]:
    """Return the elements of `kernels`: the profile with its part of the time, its product and its verdict."""
    return [
        {
            **one.profile.to_json(),
            "time_share": share,
            "platform": None if one.platform is None else one.platform.id,
            "verdict": one.verdict.to_json(),
        }
        for one, share in zip(judged, shares_of(judged), strict=True)
    ]
