"""Arguments that name a kernel and what it is launched with: an op file with a shape, or a kernel with arguments."""

from __future__ import annotations

import argparse
import ast
import re
from pathlib import Path

from kopt_kb.base.errors import BadInput
from kopt_kb.base.files import read_input, read_words
from kopt_kb.cli.kit.named_kernel import kernel_file
from kopt_kb.cli.kit.output import conditions, open_registry
from kopt_kb.cli.kit.terminal import announce
from kopt_kb.launch.compile.arguments import parse_argument
from kopt_kb.launch.compile.request import Given, KernelCase, OpCase, worded
from kopt_kb.launch.counts.device_facts import device_facts, target_facts
from kopt_kb.launch.kernel.declared import has_header, refuse_unknown
from kopt_kb.launch.kernel.op_options import problem_options
from kopt_kb.launch.kernel.other_language import in_other_language
from kopt_kb.problem.dtypes import format_of
from kopt_kb.problem.ops import ALIASES, OPS
from kopt_kb.problem.shapes import parse_shape
from kopt_kb.wiki.registry import Platform

__all__ = [
    "ALL", "add_case", "add_kernel", "arguments_from", "cases_from", "config_for", "configuration", "constants",
    "facts_for", "grid_from", "literals", "refuse_contradictions",
]  # fmt: skip

ALL = "all"
"""What stands for each of a kernel's own configurations."""


_TYPE = re.compile(r"(?:tl|torch|triton\.language)\.(\w+)")


def add_case(parser: argparse.ArgumentParser) -> None:
    """Declare FILE and how its kernels are launched."""
    parser.add_argument(
        "file", metavar="FILE", type=kernel_file, help="Triton or CUDA C++ file, cubin, fatbin, record, or op:NAME"
    )
    shaped = parser.add_argument_group("a file with static_cases(shape, dtype, config), such as kernels/rms_norm.py")
    shaped.add_argument("--shape", metavar="MxN", action="append", default=[], help="repeatable")
    shaped.add_argument("--dtype", metavar="TYPE")
    shaped.add_argument("--config", metavar="NAME=VALUE", action="append", default=[], help="value of the tuning space")
    add_kernel(parser)
    parser.add_argument(
        "--option", metavar="NAME=VALUE", action="append", default=[], help="num_warps, num_stages, num_ctas, …"
    )


def add_kernel(parser: argparse.ArgumentParser) -> None:
    """Declare one kernel with its arguments."""
    single = parser.add_argument_group("or one kernel with its arguments")
    single.add_argument("--kernel", metavar="NAME", default="", help="needed when the file has several")
    single.add_argument(
        "--arg", metavar="[NAME=]VALUE", action="append", default=[],
        help="in order or by name: fp16[4096,4096], 4096, 0.5, inf, none, int32[3]=0,128,256",
    )  # fmt: skip
    single.add_argument("--args", metavar="FILE", help="file of arguments, one --arg a line; # begins a comment")
    single.add_argument(
        "--constexpr", metavar="NAME=VALUE", action="append", default=[], help="64, true, tl.bfloat16, inf, text"
    )
    single.add_argument(
        "--autotune",
        metavar="N|all",
        type=configuration,
        help="take the Nth of the kernel's own configurations, or all",
    )
    single.add_argument("--grid", metavar="X[,Y[,Z]]", help="launch grid")


def configuration(text: str) -> int | str:
    """Return which of a kernel's own configurations a word names: a number from 0, or `all`."""
    if text == ALL:
        return text
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is neither a number from 0 nor {ALL}")
    return int(text)


def literals(words: list[str]) -> dict[str, object]:
    """Return NAME=VALUE words as Python literals, text where a value is none."""
    found: dict[str, object] = {}
    for name, text in conditions(words).items():
        try:
            found[name] = ast.literal_eval(text)
        except (ValueError, SyntaxError):
            found[name] = text
    return found


def config_for(file: str, words: list[str]) -> dict[str, object]:
    """Return NAME=VALUE words as a configuration of a file; raises `BadInput` for a setting that it has not."""
    config = literals(words)
    refuse_unknown(Path(file), config)
    return config


def constants(words: list[str]) -> dict[str, object]:
    """Return NAME=VALUE words as constants of a kernel: literals, Triton's types, inf, text (or none)."""
    found: dict[str, object] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals or not name.isidentifier():
            raise BadInput(f"{word!r} is not NAME=VALUE", where="--constexpr", fix="such as BLOCK=1024", code="KB104")
        kind = _TYPE.fullmatch(text)
        known = format_of(kind[1]) if kind else None
        if text.lstrip("-") in {"inf", "nan"}:
            found[name] = {"float": text}
        elif kind and known is None:
            raise BadInput(f"unknown dtype {text!r}", where=f"--constexpr {name}", fix="such as tl.bf16", code="KB061")
        elif known is not None:
            found[name] = {"triton.dtype": known.triton}
        else:
            found |= literals([word]) if text else {name: ""}
    return found


def arguments_from(args: argparse.Namespace) -> tuple[Given, ...] | dict[str, Given]:
    """Return the kernel's arguments in order, or by name where they are named."""
    words = [*_lines(args.args), *args.arg] if args.args else args.arg
    named = {name: text for name, text in map(_named, words) if name}
    if named and len(named) != len(words):
        raise BadInput(
            "some arguments are named and some are not, or a name comes twice",
            where="--arg",
            fix="name each one once, or none",
            code="KB103",
        )
    if named:
        return {name: worded(parse_argument(text)) for name, text in named.items()}
    return tuple(worded(parse_argument(text)) for text in words)


def _named(word: str) -> tuple[str, str]:
    name, equals, text = word.partition("=")
    return (name.strip(), text) if equals and name.strip().isidentifier() else ("", word)


def _lines(path: str) -> list[str]:
    lines = [line.partition("#")[0].strip() for line in read_words(path).splitlines()]
    return [line for line in lines if line]


def cases_from(args: argparse.Namespace) -> list[KernelCase | OpCase]:
    """Return the launches described, one a shape, or the one with explicit arguments."""
    if args.shape and (args.arg or args.args or args.kernel):
        raise BadInput(
            "both a shape and explicit arguments",
            fix="give --shape and --dtype, or --kernel, --arg and --constexpr",
            code="KB103",
        )
    if args.autotune is not None and (args.shape or has_header(args.file)):
        what, fix = "--autotune is for one Triton kernel", "give --kernel and --arg; a tuning space is --config"
        raise BadInput(what, where=args.file, fix=fix, code="KB103")
    announce(f"compiling {args.file}, which takes seconds to a minute")
    if args.shape:
        if not args.dtype:
            raise BadInput("missing --dtype", fix="the storage type, such as bf16", code="KB102")
        config = config_for(args.file, args.config)
        refuse_contradictions(args.file)
        return [OpCase(args.file, parse_shape(shape), args.dtype, config) for shape in args.shape]
    if not (args.arg or args.args) and has_header(args.file):
        return [KernelCase(args.file, args.kernel, (), {}, literals(args.option))]
    if not (args.arg or args.args):
        if other := in_other_language(read_input(args.file, 1 << 22), args.file):
            raise other
        raise BadInput(
            "nothing says what the kernels are launched with",
            fix="give --shape and --dtype, --arg for each argument, or the folder of a launch record as FILE",
            code="KB102",
        )
    given, options = arguments_from(args), literals(args.option)
    chosen = {} if args.autotune in {None, ALL} else {"autotune_config": args.autotune}
    return [KernelCase(args.file, args.kernel, given, constants(args.constexpr), {**options, **chosen})]


def refuse_contradictions(file: str) -> None:
    """Refuse an op file whose OP_OPTIONS and defaults say different things: which of them is compiled or launched?"""
    from kopt_kb.workspace.task import declared_op

    path = Path(file)
    if path.suffix == ".py" and path.is_file() and not has_header(file):
        source = path.read_bytes()
        op = declared_op(source, path)
        if (op := ALIASES.get(op or "", op or "")) in OPS:
            problem_options(source, op, {}, file)


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


def facts_for(args: argparse.Namespace, platform: Platform | None, target: str) -> dict[str, int]:
    """Return the sourced facts of a product, or those that all products of a target share."""
    return device_facts(platform) if platform else target_facts(open_registry(args), target)
