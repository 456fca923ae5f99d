"""`kb bench record`: is one stored launch record faster than another; the same decision that the tuning loop takes."""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from kopt_kb.base.errors import BadInput, ExitCode
from kopt_kb.base.files import open_input
from kopt_kb.cli.kit.columns import legend
from kopt_kb.cli.kit.output import add_common, print_json, table
from kopt_kb.launch.judge.confirm import confirm, measure_floor
from kopt_kb.launch.judge.contest import contest
from kopt_kb.launch.judge.judges import judges
from kopt_kb.launch.record.judge import load_record
from kopt_kb.problem.shapes import format_shape
from kopt_kb.quantity.readable import duration, gain, si

if TYPE_CHECKING:
    from kopt_kb.launch.judge.confirm import Confirmation
    from kopt_kb.launch.judge.contest import ContestResult

__all__ = ["add_action", "run_action"]


def add_action(parser: argparse.ArgumentParser) -> None:
    """Declare the action's arguments."""
    parser.add_argument("incumbent", metavar="OLD", help="folder that kb record wrote")
    parser.add_argument("candidate", metavar="NEW", help="folder of a record of the same problem")
    parser.add_argument(
        "--also", metavar=("OLD", "NEW"), nargs=2, action="append", default=[],
        help="the same two kernels on another shape; repeatable: all shapes are one decision",
    )  # fmt: skip
    parser.add_argument("--reference", metavar="FILE", help="whose make_inputs and reference judge; default: packaged")
    parser.add_argument("--least-gain", metavar="PCT", type=float, default=0.0, help="what counts as faster, at least")
    parser.add_argument("--floor", action="store_true", help="first measure what OLD gains over itself here")
    parser.add_argument("--confirm", action="store_true", help="decide three times, each in fresh processes")
    add_common(parser)


def run_action(args: argparse.Namespace) -> int:
    """Run a contest, or three; exit 1 unless NEW is faster."""
    from kopt_kb.launch.judge.records import packaged_reference

    if not 0 <= args.least_gain < 1000:
        raise BadInput(
            f"{args.least_gain:g} is no gain in percent", where="--least-gain", fix="such as 2", code="KB102"
        )
    old, new = _sides(args)
    reference = Path(args.reference) if args.reference else packaged_reference(next(iter(old.values())))
    open_input(reference).close()
    least = math.log1p(args.least_gain / 100)
    with judges(reference) as made:
        floor = measure_floor(made, old) if args.floor else 0.0
        if args.confirm:
            confirmed = confirm(made, old, new, least_gain=least, floor=floor)
            print_json(confirmed) if args.json else print(_confirmation(args, confirmed))
            return ExitCode.OK if confirmed.confirmed else ExitCode.FINDING
        result = contest(made, old, new, least_gain=least, floor=floor)
    print_json(result) if args.json else print(_render(args, result))
    return ExitCode.OK if result.verdict == "accepted" else ExitCode.FINDING


def _sides(args: argparse.Namespace) -> tuple[Mapping[str, Path], Mapping[str, Path]]:
    """Return the records of both sides by shape."""
    old: dict[str, Path] = {}
    new: dict[str, Path] = {}
    for incumbent, candidate in ((args.incumbent, args.candidate), *args.also):
        shape = format_shape(load_record(Path(incumbent)).shape)
        if shape in old:
            raise BadInput(f"two records of {shape}", where=incumbent, fix="give each shape once", code="KB102")
        load_record(Path(candidate))
        old[shape], new[shape] = Path(incumbent), Path(candidate)
    return old, new


def _render(args: argparse.Namespace, result: ContestResult) -> str:
    lines = [f"{args.candidate} against {args.incumbent}: {result.verdict.replace('_', ' ')}", f"  {result.reason}"]
    if result.ratio is not None:
        rows = [("shape", "OLD", "NEW", "change", "quads")]
        rows += [
            (shape.shape, duration(shape.incumbent_s), duration(shape.candidate_s),
             "" if shape.log_ratio is None else gain(100 * math.expm1(-shape.log_ratio)), str(shape.quads))
            for shape in result.shapes
        ]  # fmt: skip
        lines += [table(rows, indent=2, right=(1, 2, 3, 4)), f"  {legend(rows[0])}"]
    lines += [
        f"  {shape.shape}: a chain of {shape.chain} launches, an empty one of {duration(shape.empty_s)} each subtracted"
        for shape in result.shapes
        if shape.chain
    ]
    if result.clock is not None:
        clock = result.clock
        mhz = f"{si(clock.lowest_hz, 'Hz')} to {si(clock.highest_hz, 'Hz')}"
        words = [clock.device.name, mhz if clock.highest_hz else "no clock probe"]
        words += [f"throttled by {', '.join(clock.throttle) or 'nothing seen'}", f"{result.dropped} quads dropped"]
        lines.append(f"  {'; '.join(words)}; {duration(result.seconds)}")
    travel = " and ".join(sorted({one.travel for one in result.shapes}))
    return "\n".join([*lines, f"  trust: {result.trust}; contents by {travel}"])


def _confirmation(args: argparse.Namespace, confirmed: Confirmation) -> str:
    said = "confirmed" if confirmed.confirmed else "not confirmed"
    ratio = "" if confirmed.ratio is None else f", {gain(100 * (1 / confirmed.ratio - 1))}"
    lines = [f"{args.candidate} against {args.incumbent}: {said}{ratio}"]
    return "\n".join(
        [*lines, *(f"  {contest.verdict.replace('_', ' ')}: {contest.reason}" for contest in confirmed.contests)]
    )
