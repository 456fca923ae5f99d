"""kb profile gap: where the time of a report's kernels above their roof went, part by part with evidence."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace

from kopt_kb.analysis.gap.account import GapCase, account
from kopt_kb.analysis.gap.document import Gap, Gaps
from kopt_kb.base.errors import BadInput, ExitCode
from kopt_kb.cli.kit.judged import judge
from kopt_kb.cli.kit.judged_text import JudgedKernel
from kopt_kb.cli.kit.output import add_wiki, open_registry, print_values, printable, printable_lines, say
from kopt_kb.cli.kit.work_arguments import add_work, work_from
from kopt_kb.problem.work import Work

__all__ = ["add_arguments", "run"]

_NAMES_SHOWN = 5
_SHOWN = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the action's arguments."""
    parser.add_argument("files", metavar="FILE", nargs="+", help="report or folder of one")
    parser.add_argument("--kernel", metavar="REGEX", help="only kernels whose name matches; none matching is an error")
    parser.add_argument("--platform", metavar="ID", help="product of the run (default: what the report names)")
    parser.add_argument("--top", metavar="N", type=int, default=_SHOWN, help="kernels that take longest (%(default)s)")
    add_work(parser)
    add_wiki(parser)


def run(args: argparse.Namespace) -> int:
    """Print one account a kernel; exit 4 when no kernel has a roof to be held against."""
    if args.top < 1:
        raise BadInput(f"--top {args.top} shows nothing", fix="give 1 or more", code="KB105")
    registry = open_registry(args)
    work = _work(args)
    platform = None if args.platform is None else registry.platform(args.platform)
    _, judged = judge(args.files, args.kernel, registry, platform)
    if work is not None:
        _refuse_several(judged)
    gaps = Gaps(tuple(_account(one, work) for one in judged[: args.top]))
    if args.json:
        print_values(gaps, registry.wikis)
    else:
        say("\n\n".join(printable_lines(one.text()) for one in gaps.gaps) or "no kernels")
    return ExitCode.OK if any(gap.roof_s is not None for gap in gaps.gaps) or not judged else ExitCode.UNKNOWN


def _account(kernel: JudgedKernel, work: Work | None) -> Gap:
    if work is None and kernel.gap is not None:
        return replace(kernel.gap, name=kernel.profile.name)
    case = GapCase.of_profile(kernel.profile, kernel.platform, work)
    return account(replace(case, name=kernel.profile.name))


def _work(args: argparse.Namespace) -> Work | None:
    """Return the work that was named, None for none; raises `BadInput` for half of one, or for several shapes."""
    given = (args.op, args.shape, args.option, args.flops, args.bytes, args.engine, args.dtype)
    if not any(given):
        return None
    found = work_from(args)
    if len(found) > 1:
        raise BadInput("one run has one shape", fix="give --shape once", code="KB103")
    return found[0]


def _refuse_several(judged: Sequence[JudgedKernel]) -> None:
    names = list(dict.fromkeys(one.profile.name for one in judged))
    if len(judged) > 1:
        shown = ", ".join(printable(name)[:60] for name in names[:_NAMES_SHOWN])
        raise BadInput(
            f"one work and {len(judged)} kernels: {shown}", fix="choose the one that did it with --kernel", code="KB103"
        )
