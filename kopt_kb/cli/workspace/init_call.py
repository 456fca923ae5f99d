"""`kb init --kernel-demo FILE --call "softmax(fp16[1024,4096])"`: the task that a launcher and one call of it make."""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from kopt_kb.analysis.frameworks import framework_of
from kopt_kb.analysis.ir.source.standalone import Reduced, reduced
from kopt_kb.base.errors import BadInput, KoptError
from kopt_kb.cli.launch.record_request import argument_of
from kopt_kb.cli.workspace.init_program import add_program
from kopt_kb.doors.later import later
from kopt_kb.launch.compile.arguments import integers_below
from kopt_kb.launch.counts.device_facts import device_facts
from kopt_kb.launch.judge.shelf import RecordTarget
from kopt_kb.launch.kernel.other_language import in_other_language
from kopt_kb.launch.problems.called import CallGiven, Range
from kopt_kb.launch.record.request import TensorArgument
from kopt_kb.problem.dtypes import format_of
from kopt_kb.problem.tolerances import Tolerance
from kopt_kb.tuning.admission import admit
from kopt_kb.tuning.own_space import listed, own_spaces
from kopt_kb.wiki.registry import Registry
from kopt_kb.workspace.state import WorkspaceState
from kopt_kb.workspace.task import Task, read_demo

__all__ = ["add_call", "call_given", "parts_of", "taken", "task_of_call"]

_PROBLEM_OF_CALL = later("kopt_kb.launch.problems.own_call:problem_of_call")
"""Counting needs numpy, which the core does without."""
_FORM = 'such as --call "softmax(fp16[1024,4096], axis=-1)"'


def add_call(parser: argparse.ArgumentParser) -> None:
    """Declare --call, and where one may come from."""
    parser.add_argument(
        "--call",
        metavar="TEXT",
        help='a call of the kernel demo\'s launcher, "softmax(fp16[1024,4096], axis=-1)": operation, shapes, types and '
        "tolerance are taken from it (docs/how-to/tune_your_kernel.md)",
    )
    add_program(parser)


def task_of_call(
    args: argparse.Namespace, registry: Registry, placeholders: Mapping[str, str], tolerance: Tolerance | None
) -> Task:
    """Return the task of a call: operation, shape, storage type and tolerance are taken from it.

    Raises:
        BadInput: A word contradicts it, something that it does not show is missing, or it can't be made.
    """
    for word, given in (("--op", args.op), ("--shape", args.shape), ("--dtype", args.dtype), ("--option", args.option)):
        if given:
            fix = "the call says what is computed, on which shapes and types"
            raise BadInput(f"{word} and --call", where="kb init", fix=fix, code="KB103")
    needed = {"--platform": args.platform, "--kernel-demo": args.kernel_demo}
    missing = [name for name, value in needed.items() if not value]
    if missing:
        fix = "nothing was created; give them and run again"
        raise BadInput(f"missing {', '.join(missing)}", where="kb init", fix=fix, code="KB102")
    demo = Path(args.kernel_demo)
    function, words = parts_of(args.call)
    source = read_demo(demo)
    if (other := in_other_language(source, demo)) is not None:
        raise other
    part = reduced(source, function, str(demo))
    with _lines_of_the_file(part, demo):
        call = call_given(function, words, part.source, str(demo))
        framework = args.framework or framework_of(str(demo), part.source)
        if not framework:
            what = f"{function} reaches no kernel of a language that is known by its decorators"
            line = _parameters(function, part.source)[2]
            raise BadInput(what, where=f"{demo}:{line}", fix="say it with --framework", code="KB102")
        task = replace(_recorded(args, registry, demo, part, call, placeholders, tolerance), framework=framework)
        admit(task, registry)
    return task


def _recorded(
    args: argparse.Namespace, registry: Registry, demo: Path, part: Reduced, call: CallGiven,
    placeholders: Mapping[str, str], tolerance: Tolerance | None,
) -> Task:  # fmt: skip
    platform = registry.platform(args.platform)
    target = RecordTarget(platform.identity.target, platform.identity.platform, device_facts(platform))
    print(f"kb: recording {call.function} of {demo.name} without a GPU", file=sys.stderr, flush=True)
    stated = _PROBLEM_OF_CALL(part.source, demo.name, call, target, tolerance)
    return Task(
        platform=args.platform, framework="", kernel_demo=demo, problem=stated.problem, arch=args.arch or "",
        reference_project=args.reference_project, notes=_notes(args.notes, part, demo), placeholders=placeholders,
        allow_unknown=args.allow_unknown, min_grade=args.min_grade, aim=args.performance_target or "",
        route=args.route, reference=stated.reference, source=part.source,
    )  # fmt: skip


@contextmanager
def _lines_of_the_file(part: Reduced, demo: Path) -> Iterator[None]:
    """Have errors name the user's file and its lines, where they name what of it was kept."""
    try:
        yield
    except KoptError as error:
        name, _, line = error.where.rpartition(":")
        if Path(name).name != demo.name:
            raise
        is_kept = line.isdigit() and 0 < int(line) <= len(part.lines)
        raise error.restated(where=f"{demo}:{part.lines[int(line) - 1] if is_kept else line}") from error


def taken(state: WorkspaceState, source: bytes) -> list[str]:
    """Return lines that say what was taken from a call, and what of the kernel is searched."""
    problem, own = state.problem, state.problem.own
    if own is None or own.entry is None:
        return []
    limits = problem.tolerance
    lines = [
        f"operation {problem.op}, shape {', '.join(problem.shape_names)}, {problem.dtype}: of the call",
        f"right is what gives the same: relative error <= {format(float(limits.rel_l2_err), 'g')} ({limits.reason})",
    ]
    lines += own.notes
    for what, space in own_spaces(source, problem.shapes[0], own.configurations or {}):
        lines += [f"searched, {what}: {line}" for line in listed(space)]
    return lines


def _notes(notes: str, part: Reduced, demo: Path) -> str:
    """Return the user's notes, then which lines of the file importing it would run and the workspace leaves out."""
    if not part.left_out:
        return notes
    lines = ", ".join(str(one) if one == two else f"{one}-{two}" for one, two in part.left_out)
    said = f"kernel.py is what the call reaches of {demo.name}; importing that file also runs lines {lines}, left out"
    return f"{notes}\n\n{said}" if notes else said


def parts_of(text: str) -> tuple[str, list[str]]:
    """Return function and arguments of a call as text; raises `BadInput` for what is no call."""
    match = re.fullmatch(r"\s*([A-Za-z_][\w.]*)\s*\((.*)\)\s*", text, re.DOTALL)
    if match is None:
        raise BadInput(f"{text!r} is no call", where="--call", fix=_FORM, code="KB104")
    words, depth, quote = [""], 0, ""
    for letter in match[2]:
        quote = "" if letter == quote else letter if not quote and letter in "'\"" else quote
        depth += 0 if quote else (letter in "[(") - (letter in ")]")
        if letter == "," and not depth and not quote:
            words.append("")
        else:
            words[-1] += letter
    return match[1], [one.strip() for one in words if one.strip()]


def call_given(function: str, words: list[str], source: bytes, where: str) -> CallGiven:
    """Return a call with its arguments by name.

    Raises:
        BadInput: An argument is none, comes twice, is unknown, or is missing: then it is asked for by name.
    """
    names, required, line = _parameters(function, source)
    arguments: dict[str, object] = {}
    ranges: dict[str, Range] = {}
    for at, word in enumerate(words):
        named = re.match(r"([A-Za-z_]\w*)\s*=(?!=)\s*", word)
        name = named[1] if named else names[at] if at < len(names) else ""
        if not name or name in arguments or (names and name not in names):
            what = f"{word!r} is no argument of {function}" if name not in arguments else f"{name} is given twice"
            raise BadInput(what, where=f"{where}:{line}", fix=f"it takes {', '.join(names) or 'none'}", code="KB447")
        text, most = integers_below(word[named.end() :] if named else word)
        value = argument_of(name, text)
        if most is not None:
            ranges[name] = most
        _check_integers(name, value, most)
        arguments[name] = value
    missing = [one for one in required if one not in arguments]
    if missing:
        asked = ", ".join(f"{one}=…" for one in missing)
        fix = f"add {asked}: a tensor as fp16[1024,4096], a number, true, none, 'text' or torch.float16"
        raise BadInput(f"the call does not say {', '.join(missing)}", where=f"{where}:{line}", fix=fix, code="KB102")
    return CallGiven(function, arguments, ranges)


def _check_integers(name: str, value: object, most: Range | None) -> None:
    """Ask for what a tensor of integers may hold where nobody says it: an index beyond its table ends a process."""
    known = format_of(value.dtype) if isinstance(value, TensorArgument) else None
    is_index = known is not None and known.dtype.startswith("int") and known.bits > 8
    if isinstance(value, TensorArgument) and is_index and value.values is None and most is None:
        shape = ",".join(map(str, value.shape))
        what = f"nothing says what integers {name} holds"
        fix = f"write {name}={value.dtype}[{shape}]<1000 for values from 0 to 999, or all of them: =[0,3,…]"
        raise BadInput(what, where="--call", fix=fix, code="KB102")


def _parameters(function: str, source: bytes) -> tuple[list[str], list[str], int]:
    """Return a function's parameters, those without a default, and its line; none of what takes anything."""
    first, *inner = function.split(".")
    body = ast.parse(source).body
    node = _defined(body, first)
    if isinstance(node, ast.ClassDef) and inner:
        node = _defined(node.body, "forward" if inner[-1] == "apply" else inner[-1])
    if not isinstance(node, ast.FunctionDef):
        return [], [], getattr(node, "lineno", 1)
    places = [*node.args.posonlyargs, *node.args.args]
    static = {"self", "cls", "ctx"} if inner else set[str]()
    names = [one.arg for one in places if one.arg not in static]
    without = names[: len(names) - len(node.args.defaults)]
    words = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
    keywords = [(one.arg, default is None) for one, default in words]
    return [*names, *(one for one, _ in keywords)], [*without, *(one for one, needs in keywords if needs)], node.lineno


def _defined(body: list[ast.stmt], name: str) -> ast.stmt | None:
    return next(
        (one for one in reversed(body) if isinstance(one, ast.FunctionDef | ast.ClassDef) and one.name == name), None
    )
