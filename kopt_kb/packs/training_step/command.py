"""What `kb verify transfer` says: caches of a file, their buckets, the trace on paper and the steps counted."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

from kopt_kb.base.errors import BadInput, ExitCode
from kopt_kb.base.files import read_input
from kopt_kb.base.wire import Wire
from kopt_kb.cli.kit.output import add_common, print_json
from kopt_kb.packs.training_step.buckets import Bucket, bucket_of
from kopt_kb.packs.training_step.trace import TransferTrace, paper_trace
from kopt_kb.packs.training_step.transfer import CountedSteps, count_steps

__all__ = ["TransferVerdict", "add_arguments", "run"]


@dataclass(frozen=True, slots=True)
class TransferVerdict(Wire):
    """Whether a file's change reaches a training step.

    Attributes:
        bucket: What it is.
        traces: Four steps on paper, one a cache.
        steps: Eight steps counted; None where there is no cache of a weight to count.
        refusal: Why it may not be accepted; empty when it may.
    """

    file: str
    bucket: Bucket
    traces: tuple[TransferTrace, ...]
    steps: CountedSteps | None
    refusal: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("file", metavar="FILE", help="the candidate; `training_step` in it is run, on a CPU")
    parser.add_argument("--old", metavar="FILE", help="what it is a change of (default: all of it is new)")
    parser.add_argument("--claim", metavar="TEXT", default="", help='such as "… W1 bound: 1.8 %%"')
    add_common(parser)


def run(args: argparse.Namespace) -> int:
    """Print the verdict; exit 1 when Rule 11 refuses the change."""
    new, old = (_text(one) if one else "" for one in (args.file, args.old))
    name = Path(args.file).name
    bucket = bucket_of({name: old}, {name: new}, category="", claim=args.claim, expected="")
    counted = count_steps({name: new}, name) if bucket.word == "W1" else None
    refusal = "; ".join(f"line {one.line}: {one.what}" for one in bucket.findings)
    refusal = refusal or (counted.refusal if counted is not None else "")
    made = TransferVerdict(args.file, bucket, tuple(map(paper_trace, bucket.caches)), counted, refusal)
    if args.json:
        print_json(made)
    else:
        print("\n".join(_lines(made)))
    return ExitCode.FINDING if refusal else ExitCode.OK


def _text(path: str) -> str:
    try:
        return read_input(path, 1 << 20).decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput("is no UTF-8", where=path, fix="name a source file", code="KB108") from error


def _lines(made: TransferVerdict) -> list[str]:
    lines = [f"{made.file}: {made.bucket.word}, {made.bucket.why}"]
    for use, trace in zip(made.bucket.caches, made.traces, strict=True):
        key = ", ".join(f"{one.text} ({one.part})" for one in use.key)
        lines.append(f"  line {use.line}: {use.how} {use.name} keyed on {key}")
        lines.append(f"    on paper: {trace.hits} of {trace.lookups} lookups in {trace.steps} steps")
    if made.steps is not None and not made.steps.problem:
        lines.append(f"  counted: {sum(made.steps.hits)} of {sum(made.steps.lookups)} in {len(made.steps.hits)} steps")
        if made.steps.stale_after_data:
            lines.append("  a weight that is written through .data is found as it was: _version says nothing of that")
    return [*lines, f"refused: {made.refusal}" if made.refusal else "nothing of it is refused"]
