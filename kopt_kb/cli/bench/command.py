"""Measure ceilings on the GPU of this machine, and a workspace's kernel against its Stop Conditions.

kb bench bandwidth                    streams over footprints
kb bench ceilings --record run.json   launches, cached reads, matrix products and streams, kept as a record
kb bench page run.json --platform H200_SXM --wiki DIR   write a record into a wiki
kb bench kernel kernel_opt_norm       check and time kernel.py now, judge its Stop Conditions
kb bench utilization kernel_opt_norm  judge the records that are there against every roof
kb bench record old.record new.record is one launch record faster than another
kb bench compare main HEAD            are kernels slower than they were; for automation
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from kopt_kb.base.errors import BadInput, ExitCode
from kopt_kb.base.files import read_json
from kopt_kb.base.wire import WireError, read
from kopt_kb.cli.bench import compare
from kopt_kb.cli.bench import record as bench_record
from kopt_kb.cli.bench.workspace import ACTIONS, add_actions, run_action
from kopt_kb.cli.kit.columns import legend
from kopt_kb.cli.kit.documents import WrittenPage
from kopt_kb.cli.kit.output import add_common, print_json, table
from kopt_kb.launch.kernel import ceilings
from kopt_kb.launch.kernel.ceilings import CeilingsRun
from kopt_kb.launch.machine.ceilings import write_measured_page
from kopt_kb.quantity.readable import duration, rounded, si

if TYPE_CHECKING:
    from kopt_kb.launch.kernel.ceilings import AnyRecord

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    for name, text in (
        ("bandwidth", "copy, read, write, triad"),
        ("ceilings", "bandwidth, cached reads, matrix products and launches of nothing"),
    ):
        one = actions.add_parser(name, help=text, allow_abbrev=False)
        one.add_argument("--record", "--out", metavar="FILE", help="also write the record there; never overwrites")
        one.add_argument(
            "--rounds", "--samples", metavar="N", type=int, default=50, help="timed runs of each (default 50)"
        )
        add_common(one)
    page = actions.add_parser("page", help="write a record into a wiki", allow_abbrev=False)
    page.add_argument("record", metavar="RECORD")
    page.add_argument("--platform", required=True, metavar="PLATFORM")
    page.add_argument("--wiki", required=True, metavar="DIR", help="a wiki of yours; see `kb wiki copy`")
    page.add_argument("--read", required=True, metavar="DATE", help="day of the run, ISO date")
    page.add_argument("--source", metavar="PATH", help="what the page cites (default: the record's path as given)")
    add_common(page)
    add_actions(actions)
    record = actions.add_parser("record", help="is one launch record faster than another", allow_abbrev=False)
    bench_record.add_action(record)
    compared = actions.add_parser("compare", help="are kernels slower than they were", allow_abbrev=False)
    compare.add_action(compared)


def run(args: argparse.Namespace) -> int:
    """Run the chosen action."""
    if args.action in ACTIONS:
        return run_action(args)
    if args.action == "record":
        return bench_record.run_action(args)
    if args.action == "compare":
        return compare.run_action(args)
    return _page(args) if args.action == "page" else _measure(args)


def _measure(args: argparse.Namespace) -> int:
    target = Path(args.record) if args.record else None
    if target is not None and target.exists():
        raise BadInput(
            "the record exists already", where=str(target), fix="name a new file; nothing is overwritten", code="KB113"
        )
    made = ceilings.CeilingsRun(f"kb bench {args.action}", ceilings.environment(), (), (), {})
    for record in ceilings.run_records(args.action, rounds=args.rounds):
        made = made.plus(record)
        _keep(made, target)
        print(f"kb: {record.label} {_rate(record)}".rstrip(), file=sys.stderr)
    made = replace(made, environment_after=ceilings.environment())
    _keep(made, target)
    if args.json:
        print_json(made)
    else:
        print(render(made))
    return ExitCode.OK


def _keep(run: CeilingsRun, target: Path | None) -> None:
    """Write the run as far as it is: a run that is cut short leaves what it measured."""
    if target is not None:
        part = target.with_name(f".{target.name}.part")
        part.write_text(json.dumps(run.to_json(), indent=1) + "\n", encoding="utf-8")
        part.replace(target)


def render(run: CeilingsRun) -> str:
    """Return the run as a table for people."""
    records: tuple[AnyRecord, ...] = (*(run.launches or ()), *(run.cached or ()), *run.bandwidth, *run.compute)
    rows = [("what", "median", "spread", "rate")]
    rows += [(one.label, duration(one.median_s), f"{rounded(one.spread_pct)} %", _rate(one)) for one in records]
    return f"{run.environment['device']}\n{table(rows, right=(1, 2, 3))}\n{legend(rows[0])}"


def _rate(record: AnyRecord) -> str:
    """Return a record's rate with the unit that its kind has; a launch has none."""
    rate = getattr(record, "rate_per_s", None)
    if rate is None:
        return ""
    return si(rate, "OP/s" if hasattr(record, "dtype") else "B/s")


def _page(args: argparse.Namespace) -> int:
    try:
        body = read_json(args.record)
        if isinstance(body, dict):
            body.pop("data", None)  # of the JSON that was printed; the record itself holds no value of the wiki
        record = read(CeilingsRun, body)
        path, faults = write_measured_page(
            Path(args.wiki), args.platform, record, args.source or args.record, args.read
        )
    except WireError as error:
        what = f"is no record of `kb bench ceilings`: {' '.join(filter(None, (error.where, error.what)))}"
        fix = "make one with `kb bench ceilings --record`"
        raise BadInput(what, where=args.record, fix=fix, code="KB116") from error
    if args.json:
        print_json(WrittenPage(str(path), tuple(faults)), [args.wiki])
    else:
        print(*faults, f"wrote {path}", sep="\n")
    return ExitCode.FINDING if faults else ExitCode.OK
