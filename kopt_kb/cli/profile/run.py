"""kb profile run: record a program with the installed profiler and judge its kernels."""

from __future__ import annotations

import argparse
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from kopt_kb.base.errors import BadInput, ExitCode, MissingTool
from kopt_kb.base.wire import Wire
from kopt_kb.cli.kit.judged import judge_reports
from kopt_kb.cli.kit.output import add_common, print_json, print_values
from kopt_kb.cli.profile.read import print_judged
from kopt_kb.launch.machine.profile import (
    SETS,
    STEPS,
    TOOLS,
    Options,
    ProfilePlan,
    ProfileStep,
    Tool,
    choose_tool,
    execute,
    plan,
)
from kopt_kb.wiki.registry import Registry

__all__ = ["PlannedRun", "add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the action's arguments."""
    parser.add_argument("command", metavar="-- COMMAND", nargs="*", help="program and arguments, after --")
    parser.add_argument("--tool", choices=TOOLS, help="profiler (default: the one that is installed)")
    parser.add_argument("--kernel", metavar="REGEX", help="record only kernels whose name matches")
    parser.add_argument(
        "--output", "--out", metavar="DIR", type=Path, default=Path("profile"), help="folder of the reports"
    )
    parser.add_argument("--launch-skip", metavar="N", type=int, default=0, help="launches to let pass first (ncu)")
    parser.add_argument("--launch-count", metavar="N", type=int, help="launches to record (ncu)")
    parser.add_argument("--sections", "--set", dest="section_set", choices=SETS, default="full", help="sections (ncu)")
    parser.add_argument("--lock-clocks", action="store_true", help="let ncu lock the clocks to base (default: leave)")
    parser.add_argument("--target", metavar="GFX", default="", help="target whose counters are read (rocprofv3)")
    parser.add_argument("--steps", metavar="LIST", default="pmc", help=f"of {','.join(STEPS)} (rocprofv3)")
    parser.add_argument("--dry-run", action="store_true", help="print the commands and run nothing")
    add_common(parser)


def run(args: argparse.Namespace) -> int:
    """Record and print verdicts, or print the commands."""
    tool = _planned(args) if args.dry_run else choose_tool(args.tool)
    _refuse_unused(args, tool)
    options = Options(
        kernel=args.kernel,
        launch_skip=args.launch_skip,
        launch_count=args.launch_count,
        section_set=args.section_set,
        lock_clocks=args.lock_clocks,
        target=args.target,
        steps=tuple(one for one in args.steps.split(",") if one),
    )
    made = plan(tool, args.command or ([_PROGRAM] if args.dry_run else []), args.output, options)
    if args.dry_run:
        _print_plan(made, as_json=args.json)
        return ExitCode.OK
    for line in execute(made, args.output):
        print(f"kb: {line}; its counters are missing", file=sys.stderr)
    kernel = args.kernel if made.tool == "ncu" else None
    registry = Registry.open()
    reports = judge_reports([str(report) for report in made.reports], kernel, registry)
    if args.json:
        print_values(reports, registry.wikis)
    elif reports.kernels:
        print_judged(reports)
    else:
        print(f"recorded under {args.output}")
    return ExitCode.OK


_PROGRAM = "PROGRAM"
"""What a plan without a command is for."""

_OF_TOOL = {
    "ncu": ("launch_skip", "launch_count", "section_set", "lock_clocks"),
    "rocprofv3": ("target", "steps"),
}
"""Profiler → the options that only it has."""


def _refuse_unused(args: argparse.Namespace, tool: Tool) -> None:
    """Refuse options of the other profiler."""
    names = {"section_set": "set"}
    for owner, options in _OF_TOOL.items():
        given = [one for one in options if owner != tool and getattr(args, one) != _DEFAULTS[one]]
        if given:
            flags = ", ".join("--" + names.get(one, one).replace("_", "-") for one in given)
            fix = f"leave out, or choose it: --tool {owner}"
            raise BadInput(f"{flags}: not an option of {tool}", where="kb profile run", fix=fix, code="KB103")


_DEFAULTS = {
    "launch_skip": 0, "launch_count": None, "section_set": "full", "lock_clocks": False, "target": "", "steps": "pmc",
}  # fmt: skip


def _planned(args: argparse.Namespace) -> Tool:
    """Return the tool whose commands are printed; nothing needs to be installed for that."""
    asked: Tool | None = args.tool
    if asked is not None:
        return asked
    try:
        return choose_tool()
    except MissingTool:
        return "rocprofv3" if args.target else "ncu"


@dataclass(frozen=True, slots=True)
class PlannedStep(Wire):
    """One command of a run: what it records, program and arguments, and the variables set for it."""

    WIRE: ClassVar = ("name=step.name", "argv=step.argv", "environment=step.environment")
    step: ProfileStep


@dataclass(frozen=True, slots=True)
class PlannedRun(Wire):
    """What `kb profile run` would do.

    Attributes:
        tool: Profiler.
        cost: How often the program runs, in words.
        steps: Commands, in order.
        reports: Files or folders that are read afterwards.
    """

    tool: str
    cost: str
    steps: tuple[PlannedStep, ...]
    reports: tuple[str, ...]


def _cost(made: ProfilePlan) -> str:
    """Return in words how often the program runs."""
    runs = sum(step.name != "export" for step in made.steps)
    if made.tool == "ncu":
        return "the program runs once; each recorded launch is replayed once for each pass of its counters"
    return f"the program runs {runs} times: once for the times of its kernels, once for each group of counters"


def _line(step: ProfileStep) -> str:
    words = [f"{name}={shlex.quote(value)}" for name, value in step.environment.items()]
    redirect = f" > {shlex.quote(str(step.stdout))}" if step.stdout else ""
    return " ".join([*words, shlex.join(step.argv)]) + redirect


def _print_plan(made: ProfilePlan, *, as_json: bool) -> None:
    if as_json:
        steps, reports = tuple(map(PlannedStep, made.steps)), tuple(map(str, made.reports))
        print_json(PlannedRun(made.tool, _cost(made), steps, reports))
        return
    for step in made.steps:
        print(_line(step))
    print(f"# {_cost(made)}")
