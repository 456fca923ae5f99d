"""kb profile read: kernels of reports with their verdicts, as text or JSON; a second report to compare with."""

from __future__ import annotations

import argparse
from typing import Any

from kopt_kb.analysis.profile import KernelProfile
from kopt_kb.analysis.readers.read import read_profiles
from kopt_kb.analysis.rules import Verdict, classify
from kopt_kb.analysis.rules.product import product_of
from kopt_kb.cli.output import add_wiki, open_registry, print_json, printable, table
from kopt_kb.errors import BadInput, ExitCode
from kopt_kb.wiki.registry import Platform, Registry

__all__ = ["Judged", "add_arguments", "judge", "print_judged", "run"]

Judged = tuple[KernelProfile, Verdict]
_BLOCKS_SHOWN = 5
_COMPARED = ("sm_sol_pct", "memory_sol_pct", "dram_sol_pct", "dram_bytes", "achieved_occupancy_pct", "instructions")
_COLUMNS = {
    "SM %": "sm_sol_pct",
    "memory %": "memory_sol_pct",
    "occupancy %": "achieved_occupancy_pct",
    "of %": "theoretical_occupancy_pct",
    "registers": "registers_per_thread",
    "waves": "waves_per_sm",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the action's arguments."""
    parser.add_argument("files", metavar="FILE", nargs="+", help="report, or folder of one, of any known format")
    parser.add_argument("--kernel", metavar="REGEX", help="only kernels whose name matches; none matching is an error")
    parser.add_argument("--platform", metavar="ID", help="product of the run (default: what the report names)")
    parser.add_argument("--top", metavar="N", type=int, help="only the N kernels that take longest in all")
    parser.add_argument("--diff", metavar="OTHER", help="an earlier report to compare kernels of the same name with")
    add_wiki(parser)


def run(args: argparse.Namespace) -> int:
    """Print kernels and verdicts of the reports."""
    if args.top is not None and args.top < 1:
        raise BadInput(f"--top {args.top} shows nothing", fix="give 1 or more", code="KB105")
    registry = open_registry(args)
    platform = None if args.platform is None else registry.platform(args.platform)
    reports, judged = judge(args.files, args.kernel, registry, platform)
    if args.top is not None:
        judged = sorted(judged, key=lambda one: -_total(one[0]))[: args.top]
    before = judge([args.diff], args.kernel, registry, platform)[1] if args.diff else None
    if args.json:
        document: dict[str, Any] = {"reports": reports, "kernels": [_json(one) for one in judged]}
        if before is not None:
            document["diff"] = compare(before, judged)
        print_json(document)
        return ExitCode.OK
    print_judged(judged)
    if before is not None:
        print()
        print(_diff_text(compare(before, judged)))
    return ExitCode.OK


def judge(
    files: list[str], kernel: str | None, registry: Registry, platform: Platform | None = None
) -> tuple[list[dict[str, Any]], list[Judged]]:
    """Return the reports and each kernel with its verdict under the roofs of the product it ran on.

    Args:
        files: Reports.
        kernel: Regular expression of kernel names, None for all.
        registry: Where the products that reports name are looked up.
        platform: The product that the user says it was; a report that names another raises `BadInput`.
    """
    reports: list[dict[str, Any]] = []
    judged: list[Judged] = []
    for file in files:
        found = list(read_profiles(file, kernel=kernel))
        if found:
            reports.append(found[0].source.to_json())
        judged += [(one, classify(one, product_of(one, registry, platform))) for one in found]
    return reports, judged


def print_judged(judged: list[Judged]) -> None:
    """Print the table, and the proof of each verdict when there are few."""
    print(render(judged))
    for profile, verdict in judged[:_BLOCKS_SHOWN]:
        print(f"\n{printable(profile.name[:100])}\n{verdict.text()}")
    if len(judged) > _BLOCKS_SHOWN:
        print(f"\n{len(judged) - _BLOCKS_SHOWN} more; --kernel or --top chooses whose evidence is shown")


def _total(one: KernelProfile) -> float:
    return (one.duration_s or 0.0) * one.launch_count


def _json(one: Judged) -> dict[str, Any]:
    profile, verdict = one
    return {**profile.to_json(), "verdict": verdict.to_json()}


def render(judged: list[Judged]) -> str:
    """Return kernels and verdicts as a table; what was not collected is a dash."""
    head = ("kernel", "launches", "time us", *_COLUMNS, "sol_class", "class", "limiter")
    rows = [head]
    for one, verdict in judged:
        time = "-" if one.duration_s is None else f"{one.duration_s * 1e6:.2f}"
        cells = ["-" if (value := one.get(metric)) is None else f"{value:.4g}" for metric in _COLUMNS.values()]
        words = (one.sol_class or "-", verdict.bottleneck, verdict.limiter)
        rows.append((one.name[:60], str(one.launch_count), time, *cells, *words))
    return table(rows, right=range(1, len(head) - 3))


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
                "limiter": [was[1].limiter if was else None, now[1].limiter if now else None],
                "metrics": {metric: [_metric(was, metric), _metric(now, metric)] for metric in _COMPARED},
            }
        )
    return found


def _by_function(judged: list[Judged]) -> dict[str, Judged]:
    """Return the configuration of each kernel name that takes longest in all."""
    found: dict[str, Judged] = {}
    for one in sorted(judged, key=lambda pair: _total(pair[0])):
        found[one[0].function] = one
    return found


def _time(one: Judged | None) -> float | None:
    return one[0].duration_s if one else None


def _metric(one: Judged | None, metric: str) -> float | None:
    return one[0].get(metric) if one else None


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
