"""Measure ceilings on the GPU of this machine, and a workspace's kernel against its Stop Conditions.

kb bench bandwidth                    streams over footprints
kb bench ceilings --record run.json   streams and matrix products, kept as a record
kb bench page run.json --platform H200_SXM --wiki DIR   write a record into a wiki
kb bench kernel kernel_opt_norm       check and time kernel.py now, judge its Stop Conditions
kb bench utilization kernel_opt_norm  judge the records that are there against every roof
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from kopt_kb.cli.bench_workspace import ACTIONS, add_actions, run_action
from kopt_kb.cli.output import add_common, print_json, table
from kopt_kb.errors import BadInput, ExitCode
from kopt_kb.files import read_json

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    for name, text in (("bandwidth", "copy, read, write, triad"), ("ceilings", "bandwidth and matrix products")):
        one = actions.add_parser(name, help=text, allow_abbrev=False)
        one.add_argument("--record", metavar="FILE", help="also write the record there; never overwrites")
        one.add_argument("--rounds", metavar="N", type=int, default=50, help="timed runs of each (default 50)")
        add_common(one)
    page = actions.add_parser("page", help="write a record into a wiki", allow_abbrev=False)
    page.add_argument("record", metavar="RECORD")
    page.add_argument("--platform", required=True, metavar="PLATFORM")
    page.add_argument("--wiki", required=True, metavar="DIR", help="a wiki of yours; see `kb wiki copy`")
    page.add_argument("--read", required=True, metavar="DATE", help="day of the run, ISO date")
    page.add_argument("--source", metavar="PATH", help="what the page cites (default: the record's path as given)")
    add_common(page)
    add_actions(actions)


def run(args: argparse.Namespace) -> int:
    """Run the chosen action."""
    if args.action in ACTIONS:
        return run_action(args)
    return _page(args) if args.action == "page" else _measure(args)


def _measure(args: argparse.Namespace) -> int:
    from kopt_kb.kernels import ceilings

    target = Path(args.record) if args.record else None
    if target is not None and target.exists():
        raise BadInput(
            "the record exists already", where=str(target), fix="name a new file; nothing is overwritten", code="KB113"
        )
    found: dict[str, Any] = {"command": f"kb bench {args.action}", "environment": ceilings.environment()}
    found["bandwidth"] = _progress(ceilings.bandwidth_records(("copy", "read", "write", "triad"), rounds=args.rounds))
    found["compute"] = _progress(ceilings.compute_records()) if args.action == "ceilings" else []
    found["environment_after"] = ceilings.environment()
    if target is not None:
        target.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    if args.json:
        print_json(found)
    else:
        print(render(found))
    return ExitCode.OK


def _progress(records: Any) -> list[dict[str, Any]]:
    kept = []
    for one in records:
        print(f"kb: {_label(one)} {one['rate_per_s'] / 1e12:.3f} T/s", file=sys.stderr)
        kept.append(one)
    return kept


def _label(one: dict[str, Any]) -> str:
    return (
        f"{one['pattern']} {one['bytes']} B" if "pattern" in one else f"{one['dtype']} {one['engine']} {one['shape']}"
    )


def render(found: dict[str, Any]) -> str:
    """Return the run as a table for people."""
    rows = [("what", "median us", "spread %", "rate")]
    rows += [_row(one, f"{one['rate_per_s'] / 1e12:.3f} TB/s") for one in found["bandwidth"]]
    rows += [_row(one, f"{one['rate_per_s'] / 1e12:.1f} TOP/s") for one in found["compute"]]
    return f"{found['environment']['device']}\n{table(rows, right=(1, 2, 3))}"


def _row(one: dict[str, Any], rate: str) -> tuple[str, str, str, str]:
    return (_label(one), f"{one['median_s'] * 1e6:.1f}", f"{one['spread_pct']:.1f}", rate)


def _page(args: argparse.Namespace) -> int:
    from kopt_kb.runners.ceilings import write_measured_page

    record = read_json(args.record)
    try:
        path, faults = write_measured_page(
            Path(args.wiki), args.platform, record, args.source or args.record, args.read
        )
    except (KeyError, TypeError, ValueError) as error:
        what = f"is no record of `kb bench ceilings`: {type(error).__name__} {error}"
        fix = "make one with `kb bench ceilings --record`"
        raise BadInput(what, where=args.record, fix=fix, code="KB116") from error
    if args.json:
        print_json({"path": str(path), "faults": list(faults)})
    else:
        print(*faults, f"wrote {path}", sep="\n")
    return ExitCode.FINDING if faults else ExitCode.OK
