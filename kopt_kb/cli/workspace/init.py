r"""Create a tuning workspace whose README carries sourced specs, the roofline and Stop Conditions.

kb init norm --platform H20 --framework Triton --kernel-demo kernels/rms_norm.py --op rms_norm \
    --shape 8192x4096 --dtype bf16
kb init gemm --platform MI300X --framework Triton --project path/project.toml
kb init rope --platform H100_SXM --framework Triton --problem rope/problem.toml --kernel-demo rope/kernel.py
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from kopt_kb.analysis.roofline.recorded import RecordedRoofline
from kopt_kb.base.errors import BadInput, ExitCode, UnknownData
from kopt_kb.base.wire import Wire
from kopt_kb.cli.kit.consent import allow, named_by, reported
from kopt_kb.cli.kit.named_kernel import kernel_file
from kopt_kb.cli.kit.output import add_wiki, conditions, open_registry, print_values
from kopt_kb.cli.kit.pack_arguments import add_of_packs, given_of_packs
from kopt_kb.cli.kit.problem_arguments import add_problem
from kopt_kb.cli.workspace.init_call import add_call, taken, task_of_call
from kopt_kb.cli.workspace.init_placeholders import with_placeholders
from kopt_kb.cli.workspace.init_problem import task_of_problem
from kopt_kb.cli.workspace.init_program import with_call
from kopt_kb.cli.workspace.init_project import task_of_project
from kopt_kb.launch.kernel.declared import has_header, packaged_file
from kopt_kb.launch.kernel.op_options import judging, problem_options
from kopt_kb.launch.kernel.other_language import in_other_language
from kopt_kb.problem.ops import op_id
from kopt_kb.problem.problem import Problem
from kopt_kb.problem.tolerances import Tolerance, tolerance_of
from kopt_kb.tuning.admission import admit
from kopt_kb.wiki.registry import Registry
from kopt_kb.workspace.route import ROUTES, Route, route_text
from kopt_kb.workspace.targets.short import has_targets, too_short
from kopt_kb.workspace.task import Task, declared_op, read_demo
from kopt_kb.workspace.workspace import Workspace

__all__ = ["Created", "add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("name", metavar="NAME", help="workspace name; the folder is kernel_opt_NAME")
    needed = parser.add_argument_group("required")
    needed.add_argument("--platform", metavar="PLATFORM", help="exact product")
    needed.add_argument("--framework", metavar="NAME", help="language of the kernel, such as Triton, CUDA, HIP")
    needed.add_argument(
        "--kernel-demo",
        metavar="FILE",
        type=kernel_file,
        help="kernel or PyTorch logic to start from, or op:NAME of the package; without one there are targets only",
    )
    add_call(parser)
    needed.add_argument("--op", metavar="OP", help="operation id; default: the literal OP of the kernel demo")
    needed.add_argument("--shape", metavar="MxN", action="append", default=[], help="repeatable")
    needed.add_argument("--dtype", metavar="TYPE", help="storage type")
    add_problem(parser)
    parser.add_argument("--project", metavar="FILE", help="project.toml: kernel, shapes, commands (docs/projects.md)")
    parser.add_argument(
        "--performance-target", metavar="TEXT", help='such as "> 500 TFLOPS" or "> 60%% peak efficiency"'
    )
    parser.add_argument(
        "--route", choices=ROUTES, help="default: what the kernel demo is; docs/tuning.md describes the three"
    )
    parser.add_argument("--option", metavar="NAME=VALUE", action="append", default=[], help="option of the operation")
    parser.add_argument("--arch", metavar="NAME", help="architecture; must be the platform's")
    parser.add_argument("--reference-project", metavar="PATH", default="", help="related code")
    parser.add_argument("--notes", metavar="TEXT", default="", help="text of Additional Notes")
    parser.add_argument(
        "--tolerance", "--threshold", dest="threshold", metavar="X", help="largest relative error of a correct result"
    )
    parser.add_argument("--parent", metavar="DIR", default=".", help="folder the workspace goes into")
    parser.add_argument(
        "--allow", metavar="WHAT", action="append", choices=("network", "variables"), default=[],
        help="let the commands of --project have it, without asking: network, variables",
    )  # fmt: skip
    parser.add_argument("--min-grade", metavar="GRADE", help="refuse roofs of a weaker grade")
    parser.add_argument(
        "--accept-reported", action="store_true", help="let a project's own times decide where no result is compared"
    )
    parser.add_argument(
        "--allow-unknown", action="store_true", help="create it although a target's input is UNKNOWN (exit 4)"
    )
    parser.add_argument(
        "--placeholder",
        metavar="KEY=TEXT",
        action="append",
        default=[],
        help="stand-in for an UNKNOWN value; never part of a target",
    )
    add_of_packs(parser, "init")
    add_wiki(parser)


@dataclass(frozen=True, slots=True)
class Created(Wire):
    """A workspace that was made.

    Attributes:
        path: Its folder.
        unknown: Keys of needed values that nobody publishes.
        rooflines: One a shape, with the targets.
    """

    path: str
    platform: str
    route: Route
    unknown: tuple[str, ...]
    rooflines: tuple[RecordedRoofline, ...]


def run(args: argparse.Namespace) -> int:
    """Create the workspace; exit 4 when a target could not be computed."""
    args = given_of_packs(args, "init")
    registry = open_registry(args)
    args = with_call(args, registry)
    task = _task(args, registry)
    admit(task, registry)
    if sys.stdin.isatty() and not args.json and task.project is None:
        task = with_placeholders(task, registry)
    try:
        workspace = Workspace.create(args.parent, args.name, task, registry)
    except UnknownData as error:
        fix = f"{error.fix}; --allow-unknown makes a workspace of what is known, without a target"
        raise error.restated(fix=fix) from error
    state = workspace.state()
    if task.project is not None:  # this user named the file: its commands are those of this command line
        unsaid = () if args.accept_reported else reported(state)
        allow(workspace.layout.root, set(named_by(state)) - set(unsaid))
    incomplete = not has_targets(state)
    if args.json:
        root = str(workspace.layout.root)
        made = Created(root, state.created.platform, state.route, tuple(state.unknown), state.rooflines)
        print_values(made, registry.wikis)
    else:
        print(f"created {workspace.layout.root}, route {route_text(state.route)}")
        print("".join(f"  {line}\n" for line in taken(state, task.source)), end="")
        for row in state.unknown.values():
            print(f"  {row.key}: UNKNOWN, no source gives it")
        if any(row.placeholder is None for row in state.unknown.values()):
            print(
                "  is a stand-in acceptable? say so by --placeholder KEY=TEXT; it is recorded, and no part of a target"
            )
        if incomplete:
            print("  no target: what is known stands in README.md; Stop Conditions and tuning need the values above")
        for shape, than in too_short(state.targets).items():
            print(f"  {shape}: no Stop Condition, its target is shorter than {than}")
        if state.route == "roofline":
            print("  to tune a kernel, make another workspace with --kernel-demo")
        print("  read README.md there; `kb audit` checks it")
    return ExitCode.UNKNOWN if incomplete else ExitCode.OK


def _missing(args: argparse.Namespace, op: str | None) -> list[str]:
    wanted = {
        "--platform": args.platform, "--framework": args.framework or not args.kernel_demo, "--op": op,
        "--shape": args.shape, "--dtype": args.dtype,
    }  # fmt: skip
    return [name for name, value in wanted.items() if not value]


def _lacking(args: argparse.Namespace, op: str | None, demo: Path | None) -> BadInput:
    """Return the refusal of a command that says too little: of a file in a language that a pack takes, its way in."""
    if demo is not None and not args.framework:
        other = in_other_language(read_demo(demo), demo, "unsaid")
        if other is not None:
            return other
    more = "" if args.kernel_demo else "; a kernel to tune also needs --kernel-demo and --framework"
    fix = f"nothing was created; give them and run again{more}"
    return BadInput(f"missing {', '.join(_missing(args, op))}", where="kb init", fix=fix, code="KB102")


def _task(args: argparse.Namespace, registry: Registry) -> Task:
    if args.call:
        if other := next((one for one in ("project", "problem") if getattr(args, one)), ""):
            fix = "the call makes a problem of its own"
            raise BadInput(f"--call and --{other}", where="kb init", fix=fix, code="KB103")
        limits = _tolerance("fp32", args.threshold) if args.threshold else None
        return task_of_call(args, registry, _placeholders(args.placeholder), limits)
    if args.project:
        return _task_of_project(args)
    if args.accept_reported:
        fix = "leave it out; only a project's own commands report times"
        raise BadInput("--accept-reported without --project", where="kb init", fix=fix, code="KB103")
    if args.problem:
        return task_of_problem(args, _placeholders(args.placeholder))
    demo = Path(args.kernel_demo) if args.kernel_demo else None
    op = args.op or (declared_op(read_demo(demo), demo) if demo else None)
    if op is not None and demo is not None and has_header(demo) and packaged_file(op_id(op)) is None:
        fix = "give --problem, whose reference judges; a CUDA C++ file has none"
        raise BadInput(f"no reference for the operation {op!r}", where=str(demo), fix=fix, code="KB451")
    if op is None or _missing(args, op):
        raise _lacking(args, op, demo)
    tolerance = _tolerance(args.dtype, args.threshold) if args.threshold else None
    options: dict[str, object] = dict(conditions(args.option))
    if demo is not None:
        options = dict(problem_options(read_demo(demo), op_id(op), options, str(demo)))
        if has_header(demo) and (judge := packaged_file(op_id(op))) is not None:  # the reference of what has none
            judging(judge.read_bytes(), op_id(op), options, str(judge))
    problem = Problem.of(op, args.shape, args.dtype, options=options, tolerance=tolerance)
    return Task(
        platform=args.platform,
        framework=args.framework or "",
        kernel_demo=demo,
        problem=problem,
        arch=args.arch or "",
        reference_project=args.reference_project,
        notes=args.notes,
        placeholders=_placeholders(args.placeholder),
        allow_unknown=args.allow_unknown,
        min_grade=args.min_grade,
        aim=args.performance_target or "",
        route=args.route,
    )


def _task_of_project(args: argparse.Namespace) -> Task:
    if args.kernel_demo:
        raise BadInput(
            "--kernel-demo and --project", where="kb init", fix="the project file names the kernel source", code="KB103"
        )
    if args.route not in {None, "kernel"}:
        raise BadInput(
            f"--route {args.route} and --project", where="kb init", fix="a project has a kernel already", code="KB103"
        )
    if args.threshold or args.placeholder:
        raise BadInput(
            "--threshold or --placeholder with --project",
            where="kb init",
            fix="the project's own test judges results",
            code="KB103",
        )
    return task_of_project(args, conditions(args.option))


def _tolerance(dtype: str, text: str) -> Tolerance:
    try:
        limit = Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise BadInput(f"--threshold {text!r} is not a number", fix="for example 0.01", code="KB105") from None
    usual = tolerance_of(dtype)
    element = max(usual.max_abs_err_rel, limit)  # one element may be off by as much as all of them together
    return replace(usual, rel_l2_err=limit, max_abs_err_rel=element, reason="relative error given by the user")


def _placeholders(words: list[str]) -> dict[str, str]:
    """Return KEY=TEXT words; the key may hold = inside its brackets, so the last = divides."""
    found = {}
    for word in words:
        key, equals, text = word.rpartition("=")
        if not equals or not key or not text:
            raise BadInput(
                f"placeholder {word!r} is not KEY=TEXT", fix="for example memory_bus_width=4096 bit", code="KB104"
            )
        found[key] = text
    return found
