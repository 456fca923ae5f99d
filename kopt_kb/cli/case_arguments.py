"""Arguments that name a kernel and what it is launched with: an op file with a shape, or a kernel with arguments."""

from __future__ import annotations

import argparse
import ast

from kopt_kb.cli.output import conditions
from kopt_kb.errors import BadInput
from kopt_kb.kernels.compile.arguments import parse_argument
from kopt_kb.kernels.compile.request import KernelCase, OpCase, worded
from kopt_kb.kernels.cuda.header import is_cuda
from kopt_kb.problem.shapes import parse_shape

__all__ = ["add_case", "cases_from", "grid_from", "literals"]


def add_case(parser: argparse.ArgumentParser) -> None:
    """Declare FILE and how its kernels are launched."""
    parser.add_argument("file", metavar="FILE", help="Python file with Triton kernels, CUDA C++ file, cubin or fatbin")
    shaped = parser.add_argument_group("a file with static_cases(shape, dtype, config), such as kernels/rms_norm.py")
    shaped.add_argument("--shape", metavar="MxN", action="append", default=[], help="repeatable")
    shaped.add_argument("--dtype", metavar="TYPE")
    shaped.add_argument("--config", metavar="NAME=VALUE", action="append", default=[], help="value of the tuning space")
    single = parser.add_argument_group("or one kernel with its arguments")
    single.add_argument("--kernel", metavar="NAME", default="", help="needed when the file has several")
    single.add_argument(
        "--arg", metavar="VALUE", action="append", default=[], help="in order: fp16[4096,4096], 4096, 0.5, none"
    )
    single.add_argument("--constexpr", metavar="NAME=VALUE", action="append", default=[])
    single.add_argument(
        "--option", metavar="NAME=VALUE", action="append", default=[], help="num_warps, num_stages, num_ctas, …"
    )
    single.add_argument("--grid", metavar="X[,Y[,Z]]", help="launch grid")


def literals(words: list[str]) -> dict[str, object]:
    """Return NAME=VALUE words as Python literals, text where a value is none."""
    found: dict[str, object] = {}
    for name, text in conditions(words).items():
        try:
            found[name] = ast.literal_eval(text)
        except (ValueError, SyntaxError):
            found[name] = text
    return found


def cases_from(args: argparse.Namespace) -> list[KernelCase | OpCase]:
    """Return the launches described, one a shape, or the one with explicit arguments."""
    if args.shape and (args.arg or args.kernel):
        raise BadInput(
            "both a shape and explicit arguments",
            fix="give --shape and --dtype, or --kernel, --arg and --constexpr",
            code="KB103",
        )
    if args.shape:
        if not args.dtype:
            raise BadInput("missing --dtype", fix="the storage type, such as bf16", code="KB102")
        config = literals(args.config)
        return [OpCase(args.file, parse_shape(shape), args.dtype, config) for shape in args.shape]
    if not args.arg and is_cuda(args.file):
        return [KernelCase(args.file, args.kernel, (), {}, literals(args.option))]
    if not args.arg:
        raise BadInput(
            "nothing says what the kernels are launched with",
            fix="give --shape and --dtype, or --arg for each argument",
            code="KB102",
        )
    given = tuple(worded(parse_argument(text)) for text in args.arg)
    return [KernelCase(args.file, args.kernel, given, literals(args.constexpr), literals(args.option))]


def grid_from(args: argparse.Namespace) -> tuple[int, ...] | None:
    """Return the launch grid, or None when none was given."""
    if not args.grid:
        return None
    try:
        grid = tuple(int(part) for part in args.grid.split(","))
    except ValueError:
        grid = ()
    if not 1 <= len(grid) <= 3 or min(grid) < 1:
        raise BadInput(
            f"--grid {args.grid!r} is not a grid", fix="one to three positive numbers, such as 128,4", code="KB105"
        )
    return grid
