"""Arguments that describe a piece of work: a named operation with shapes, or bare counts."""

from __future__ import annotations

import argparse
from decimal import Decimal, InvalidOperation

from kopt_kb.base.errors import BadInput
from kopt_kb.cli.kit.output import conditions
from kopt_kb.cli.kit.problem_arguments import given_problem
from kopt_kb.problem.ops import UnknownOp
from kopt_kb.problem.work import Work, work

__all__ = ["add_work", "work_from"]

_EXAMPLES = {
    False: "for example --op rms_norm --shape 8192x4096 --dtype bf16, or --flops --bytes --engine --dtype",
    True: "for example --flops 1.1e12 --bytes 4e8 --dtype bf16 --engine matrix",
}
"""What to write for a named operation, and for bare counts."""


def add_work(parser: argparse.ArgumentParser) -> None:
    """Declare --op --shape --dtype --option, and --flops --bytes --engine."""
    named = parser.add_argument_group("a named operation")
    named.add_argument("--op", metavar="OP", help="operation id, such as rms_norm, gemm, attention")
    named.add_argument("--shape", metavar="MxN", action="append", default=[], help="dimensions; repeatable")
    named.add_argument("--option", metavar="NAME=VALUE", action="append", default=[], help="option of the operation")
    bare = parser.add_argument_group("or bare counts")
    bare.add_argument("--flops", metavar="N", help="useful floating-point operations, such as 1.1e12")
    bare.add_argument("--bytes", metavar="N", help="compulsory bytes, read plus written")
    bare.add_argument("--engine", choices=["matrix", "vector"], help="unit that does the operations; no default")
    parser.add_argument(
        "--dtype", metavar="TYPE", help="storage type of the operands (with bare counts: type of the operations)"
    )


def work_from(args: argparse.Namespace) -> list[Work]:
    """Return the work described, one piece a shape; raises `BadInput` naming everything that is missing."""
    if getattr(args, "problem", None):
        return _of_problem(args)
    named = {"--op": args.op, "--shape": args.shape}
    bare = {"--flops": args.flops, "--bytes": args.bytes, "--engine": args.engine}
    is_named, is_bare = any(named.values()), any(value is not None for value in bare.values())
    if is_named and is_bare:
        raise BadInput(
            "a named operation and bare counts were given",
            fix="give --op with --shape, or --flops --bytes --engine",
            code="KB103",
        )
    wanted = {**(bare if is_bare else named), "--dtype": args.dtype}
    lacking = [name for name, value in wanted.items() if not value]
    if lacking:
        raise BadInput(
            f"missing {', '.join(lacking)}",
            fix=_EXAMPLES[is_bare],
            code="KB102",
        )
    if is_bare:
        return [Work.given(_whole(args.flops, "--flops"), _whole(args.bytes, "--bytes"), args.dtype, args.engine)]
    options = conditions(args.option)
    try:
        return [work(args.op, shape, args.dtype, **options) for shape in args.shape]
    except UnknownOp as error:
        raise error.restated(fix=f"{error.fix}, or --flops --bytes --engine") from None


def _of_problem(args: argparse.Namespace) -> list[Work]:
    if args.op or args.flops or args.bytes or args.engine:
        fix = "give --problem with --shape, --dtype and --option at most"
        raise BadInput("--problem and other work were given", where="kb roofline", fix=fix, code="KB103")
    return list(given_problem(args.problem, args.dtype, args.shape, conditions(args.option))[0].works())


def _whole(text: str, name: str) -> int:
    try:
        number = Decimal(text)
        whole = int(number)
    except (InvalidOperation, ValueError, OverflowError):
        raise BadInput(f"{name} {text!r} is not a number", fix="write digits or 1.1e12", code="KB105") from None
    if number != whole or whole < 0 or number.adjusted() > 30:
        raise BadInput(f"{name} {text!r} is not a whole, non-negative number of sensible size", code="KB105")
    return whole
