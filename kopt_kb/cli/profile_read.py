"""kb profile read: kernels of reports with their verdicts, as text or JSON; a second report to compare with."""

from __future__ import annotations

import argparse
from typing import Any

from kopt_kb.analysis.readers.read import read_profiles
from kopt_kb.analysis.rules import classify
from kopt_kb.analysis.rules.product import product_of
from kopt_kb.cli.output import add_wiki, open_registry, print_json, printable, table
from kopt_kb.cli.profile_text import Judged, by_time, render, share_of, total_s
from kopt_kb.errors import BadInput, ExitCode
from kopt_kb.wiki.registry import Platform, Registry

__all__ = ["add_arguments", "documents", "judge", "print_judged", "run"]

_COMPARED = ("sm_sol_pct", "memory_sol_pct", "dram_sol_pct", "dram_bytes", "achieved_occupancy_pct", "instructions")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the action's arguments."""
    parser.add_argument("files", metavar="FILE", nargs="+", help="report, or folder of one, of any known format")
    parser.add_argument("--kernel", metavar="REGEX", help="only kernels whose name matches; none matching is an error")
    parser.add_argument("--platform", metavar="ID", help="product of the run (default: what the report names)")
    parser.add_argument("--top", metavar="N", type=int, help="only the N kernels that take longest in all")
    parser.add_argument("--source", action="store_true", help="stall samples by instruction and source line (.ncu-rep)")
    parser.add_argument("--diff", metavar="OTHER", help="an earlier report to compare kernels of the same name with")
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
    before = judge([args.diff], args.kernel, registry, platform)[1] if args.diff else None
    if args.json:
        document: dict[str, Any] = {"reports": reports, "kernels": documents(judged)}
        if before is not None:
            document["diff"] = compare(before, judged)
        print_json(document)
        return ExitCode.OK
    print_judged(reports, judged)
    if before is not None:
        print()
        print(_diff_text(compare(before, judged)))
    return ExitCode.OK


def judge(
    files: list[str], kernel: str | None, registry: Registry, platform: Platform | None = None, *, source: bool = False
) -> tuple[list[dict[str, Any]], list[Judged]]:
    """Return the reports and each kernel with its verdict under the roofs of the product it ran on.

    Args:
        files: Reports.
        kernel: Regular expression of kernel names, None for all.
        registry: Where the products that reports name are looked up.
        source: Whether costs of single instructions are read.
        platform: The product that the user says it was; a report that names another raises `BadInput`.
    """
    reports: list[dict[str, Any]] = []
    judged: list[Judged] = []
    for file in files:
        found = list(read_profiles(file, kernel=kernel, source=source))
        if found:
            reports.append(found[0].source.to_json())
        for one in found:
            product = product_of(one, registry, platform)
            judged.append(Judged(one, classify(one, product), product))
    return reports, by_time(judged)


def print_judged(reports: list[dict[str, Any]], judged: list[Judged]) -> None:
    """Print the reports, the table, and the proof of each verdict."""
    for one in reports:
        version = f" {printable(str(one['tool_version']))}" if one["tool_version"] else ""
        print(f"Report: {printable(str(one['file']))} ({one['format']}, {one['tool']}{version})")
    products = dict.fromkeys(str(one.platform.id) for one in judged if one.platform is not None)
    if products:
        print(f"Product: {', '.join(products)}")
    print()
    print(render(judged))


def documents(judged: list[Judged]) -> list[dict[str, Any]]:
    """Return the elements of `kernels`: the profile with its part of the time, its product and its verdict."""
    return [
        {
            **one.profile.to_json(),
            "time_share": share_of(one, judged),
            "platform": None if one.platform is None else one.platform.id,
            "verdict": one.verdict.to_json(),
        }
        for one in judged
    ]


def compare(before: list[Judged], after: list[Judged]) -> list[dict[str, Any]]:
    """Return kernels by name with times, metrics and limiters of both reports; one that is missing has None."""
    old, new = _by_function(before), _by_function(after)
    found = []
    for name in dict.fromkeys([*old, *new]):
        was, now = old.get(name), new.get(name)
        found.append(
            {
                "name": name,
                "duration_s": [_time(was), _time(now)],
                "speedup": _speedup(_time(was), _time(now)),
                "limiter": [was.verdict.limiter if was else None, now.verdict.limiter if now else None],
                "metrics": {metric: [_metric(was, metric), _metric(now, metric)] for metric in _COMPARED},
            }
        )
    return found


def _by_function(judged: list[Judged]) -> dict[str, Judged]:
    """Return the configuration of each kernel name that takes longest in all."""
    found: dict[str, Judged] = {}
    for one in sorted(judged, key=total_s):
        found[one.profile.function] = one
    return found


def _time(one: Judged | None) -> float | None:
    return one.profile.duration_s if one else None


def _metric(one: Judged | None, metric: str) -> float | None:
    return one.profile.get(metric) if one else None


def _speedup(before: float | None, after: float | None) -> float | None:
    return before / after if before and after else None


def _diff_text(rows: list[dict[str, Any]]) -> str:
    lines = [("kernel", "time us before", "after", "speedup", "limiter before", "after")]
    for row in rows:
        times = ["-" if one is None else f"{one * 1e6:.2f}" for one in row["duration_s"]]
        speedup = "-" if row["speedup"] is None else f"{row['speedup']:.3f}"
        was, now = (one or "-" for one in row["limiter"])
        lines.append((row["name"][:60], times[0], times[1], speedup, was, now))
    return table(lines, right=range(1, 4))
