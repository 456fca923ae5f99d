"""Read profiler reports: kernels, times, throughputs, occupancies, registers and ncu's own class.

kb profile read report.ncu-rep
kb profile read report.csv --kernel 'gemm.*' --json
"""

from __future__ import annotations

import argparse

from kopt_kb.analysis.profile import KernelProfile
from kopt_kb.analysis.readers.read import read_profiles
from kopt_kb.cli.output import add_common, print_json, table
from kopt_kb.errors import ExitCode

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    commands = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    read = commands.add_parser("read", help="read reports", allow_abbrev=False)
    read.add_argument("files", metavar="FILE", nargs="+", help="report, or folder of one, of any known format")
    read.add_argument("--kernel", metavar="REGEX", help="only kernels whose name matches; none matching is an error")
    read.add_argument("--top", metavar="N", type=int, help="only the N kernels that take longest in all")
    add_common(read)


def run(args: argparse.Namespace) -> int:
    """Print the profiles of the reports."""
    reports, kernels = [], []
    for file in args.files:
        found = list(read_profiles(file, kernel=args.kernel))
        reports.append(found[0].source.to_json())
        kernels += found
    if args.top is not None:
        kernels = sorted(kernels, key=_total, reverse=True)[: args.top]
    if args.json:
        print_json({"reports": reports, "kernels": [one.to_json() for one in kernels]})
    else:
        print(render(kernels))
    return ExitCode.OK


def _total(one: KernelProfile) -> float:
    return (one.duration_s or 0.0) * one.launch_count


_COLUMNS = {
    "SM %": "sm_sol_pct",
    "memory %": "memory_sol_pct",
    "occupancy %": "achieved_occupancy_pct",
    "of %": "theoretical_occupancy_pct",
    "registers": "registers_per_thread",
    "waves": "waves_per_sm",
}


def render(kernels: list[KernelProfile]) -> str:
    """Return the profiles as a table; what was not collected is a dash."""
    head = ("kernel", "launches", "time us", *_COLUMNS, "sol_class")
    rows = [head]
    for one in kernels:
        time = "-" if one.duration_s is None else f"{one.duration_s * 1e6:.2f}"
        cells = ["-" if (value := one.get(metric)) is None else f"{value:.4g}" for metric in _COLUMNS.values()]
        rows.append((one.name[:60], str(one.launch_count), time, *cells, one.sol_class or "-"))
    return table(rows, right=range(1, len(head) - 1))
