"""`kb init --program "bench.py --rows 4096" --launch NAME`: the call that a program's launch comes from."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kopt_kb.base.errors import BadInput
from kopt_kb.cli.kit.output import table
from kopt_kb.cli.launch.record_request import script_request
from kopt_kb.doors.later import later
from kopt_kb.wiki.registry import Registry

if TYPE_CHECKING:
    from kopt_kb.launch.problems.program import ProgramCall

__all__ = ["add_program", "with_call"]

_CALLS_OF_PROGRAM = later("kopt_kb.launch.problems.program:calls_of_program")
"""Counting needs numpy, which the core does without."""
_MOST_SHOWN, _WIDTH = 12, 100


def add_program(parser: argparse.ArgumentParser) -> None:
    """Declare --program and --launch."""
    parser.add_argument(
        "--program",
        metavar="TEXT",
        help='a program that launches kernels, "bench.py --rows 4096": it is run without a GPU, and a call of its '
        "functions is taken instead of --kernel-demo and --call",
    )
    parser.add_argument(
        "--launch", metavar="NAME|N", help="with --program: the function, kernel or number in the list of its launches"
    )


def with_call(args: argparse.Namespace, registry: Registry) -> argparse.Namespace:
    """Return the words of a command with the kernel demo and the call that its program shows.

    Raises:
        BadInput: Several calls, and none is named; then all are listed by their share of estimated time.
    """
    if not args.program:
        if args.launch:
            raise BadInput("--launch without --program", where="kb init", fix="name the program", code="KB103")
        return args
    for word in ("kernel_demo", "call", "problem", "project"):
        if getattr(args, word):
            fix = "the program shows file, function, shapes and types"
            raise BadInput(f"--{word.replace('_', '-')} and --program", where="kb init", fix=fix, code="KB103")
    if not args.platform:
        fix = "nothing was created; give it and run again"
        raise BadInput("missing --platform", where="kb init", fix=fix, code="KB102")
    try:
        words = shlex.split(args.program)
    except ValueError as error:
        raise BadInput(f"--program: {error}", where=args.program, fix="close the quote", code="KB104") from error
    print(f"kb: running {args.program} without a GPU", file=sys.stderr, flush=True)
    calls, ended = _CALLS_OF_PROGRAM(script_request(words, Path.cwd()), registry.platform(args.platform))
    chosen = _chosen(calls, args, ended)
    if ended:
        print(f"kb: {args.program}: {ended}", file=sys.stderr, flush=True)
    print(f'kb: as by --kernel-demo {chosen.file} --call "{chosen.call}"', file=sys.stderr, flush=True)
    return argparse.Namespace(**{**vars(args), "kernel_demo": chosen.file, "call": chosen.call})


def _chosen(calls: Sequence[ProgramCall], args: argparse.Namespace, ended: str) -> ProgramCall:
    """Return the call that is named, or the only one; of several of one name the longest."""
    name = args.launch or ""
    if name.isdecimal():
        found = [*calls[int(name) - 1 : int(name)]] if int(name) else []
    else:
        found = [one for one in calls if not name or one.is_named(name)]
        different = {(one.file, one.call.partition("(")[0]) for one in found}
        found = found if name or len(different) == 1 else []
    if not found:
        print("\n".join(_listed(calls)), file=sys.stderr)
        what = f"no launch {name!r} among {len(calls)}" if name else f"{len(calls)} calls launch kernels"
        fix = f"choose one: --launch {next((each.call.partition('(')[0] for each in calls if each.call), 'NAME')}"
        raise BadInput(f"{what}{'; ' if ended else ''}{ended}", where=args.program, fix=fix, code="KB102")
    callable_ones = [one for one in found if one.call]
    if not callable_ones:
        what = f"{found[0].kernels[0]} is launched by no function that a call could name with its arguments"
        fix = "launch it in a function of its own, at the top of a file, that takes its tensors and numbers"
        raise BadInput(what, where=args.program, fix=fix, code="KB447")
    return callable_ones[0]


def _listed(calls: Sequence[ProgramCall]) -> list[str]:
    total = sum(one.seconds or 0.0 for one in calls)
    rows = [("", "share", "times", "kernels", "call")]
    for number, one in enumerate(calls[:_MOST_SHOWN], 1):
        share = "not counted" if one.seconds is None else f"{one.seconds / total:.1%}" if total else "0 %"
        call = one.call or "none: launched outside functions of tensors"
        call = call if len(call) <= _WIDTH else f"{call[:_WIDTH]}…"
        more = f" and {len(one.kernels) - 1} more" if len(one.kernels) > 1 else ""
        rows.append((str(number), share, str(one.times), f"{one.kernels[0]}{more}", call))
    lines = [table(rows, indent=2, right=(0, 1, 2))]
    if len(calls) > _MOST_SHOWN:
        lines.append(f"  and {len(calls) - _MOST_SHOWN} more")
    return [*lines, "  share of the least times under the platform's roofs: an estimate, nothing was measured"]
