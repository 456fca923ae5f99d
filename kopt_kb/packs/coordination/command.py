"""Say who does a piece of work and what to read for it.

kb route knowledge --op gemm --target gfx942 --backend flydsl
kb route task "Generate a TileIR kernel for SwiGLU" --platform B200
kb route plan analysis.txt --platform H200_SXM     recommendations, ranked and with who does each
kb route kernels profile.json                      kernels of kb profile read --json by share × headroom
kb route remote --ssh node7 --job 4711
kb route exports kernels/a.py kernels/b.py --name launch
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from kopt_kb.base.errors import BadInput, ExitCode
from kopt_kb.base.files import read_words
from kopt_kb.cli.commands import all_commands
from kopt_kb.cli.kit.output import add_common, add_wiki, open_registry, print_json, print_values, printable, table
from kopt_kb.cli.kit.search_filters import add_filters, filters
from kopt_kb.packs.coordination.routing.analysis import KernelShares, ranked_kernels, read_analysis
from kopt_kb.packs.coordination.routing.exports import ModuleExports, exports_of, integration
from kopt_kb.packs.coordination.routing.plan import plan_of
from kopt_kb.packs.coordination.routing.remote import remote_context
from kopt_kb.packs.coordination.routing.task import route_task
from kopt_kb.quantity.readable import percent
from kopt_kb.wiki.route import reading_list

if TYPE_CHECKING:
    from kopt_kb.packs.coordination.routing.task import TaskRoute
    from kopt_kb.wiki.route import ReadingList

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    commands = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    knowledge = commands.add_parser("knowledge", help="the reading list of an operation", allow_abbrev=False)
    add_filters(knowledge)
    add_wiki(knowledge)
    task = commands.add_parser("task", help="who does a task, in which order", allow_abbrev=False)
    task.add_argument("text", metavar="TEXT", nargs="+", help="the task in words")
    task.add_argument("--platform", metavar="PLATFORM", help="exact product")
    task.add_argument("--kernel-demo", "--kernel", dest="kernel", metavar="FILE", help="an existing kernel")
    _place(task)
    add_wiki(task)
    remote = commands.add_parser("remote", help="words that run a command elsewhere", allow_abbrev=False)
    _place(remote)
    add_common(remote)
    plan = commands.add_parser("plan", help="the order of an analysis's recommendations", allow_abbrev=False)
    plan.add_argument("file", metavar="FILE", help="analysis block, or kb profile read --json; - reads stdin")
    plan.add_argument("--platform", metavar="PLATFORM", help="exact product")
    add_wiki(plan)
    kernels = commands.add_parser("kernels", help="kernels by what the whole could gain", allow_abbrev=False)
    kernels.add_argument("file", metavar="FILE", help="kb profile read --json; - reads stdin")
    add_common(kernels)
    exports = commands.add_parser("exports", help="names that modules offer", allow_abbrev=False)
    exports.add_argument("files", metavar="FILE", nargs="+", help="Python module; it is not run")
    exports.add_argument("--name", metavar="NAME", help="print the imports of this name of each")
    add_common(exports)


def _place(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--ssh", metavar="HOST", default="", help="host the work is done on")
    parser.add_argument("--job", metavar="ID", default="", help="SLURM job that every step reuses, or new")
    parser.add_argument("--image", metavar="IMAGE", default="", help="container")
    parser.add_argument("--folder", metavar="DIR", default="", help="folder there")


def run(args: argparse.Namespace) -> int:
    """Run the sub-command."""
    actions = {
        "knowledge": _knowledge, "task": _task, "plan": _plan, "kernels": _kernels, "remote": _remote,
        "exports": _exports,
    }  # fmt: skip
    return actions[args.action](args)


def _knowledge(args: argparse.Namespace) -> int:
    """Print the reading list; exit 1 when no page fits."""
    wanted = filters(args)
    if not (wanted.op or wanted.backend or wanted.arch):
        raise BadInput(
            "no piece of work is named",
            where="kb route knowledge",
            fix="give --op, --backend or --target",
            code="KB102",
        )
    wiki = open_registry(args).wiki
    found = reading_list(wiki, wanted)
    if args.json:
        print_values(found, [wiki])
    else:
        _print(found)
    return ExitCode.OK if found.stops else ExitCode.FINDING


def _print(reading: ReadingList) -> None:
    rows = []
    for number, stop in enumerate(reading.stops, 1):
        why = f"{stop.why} ({', '.join(stop.matches) or 'any'})"
        place = stop.path if stop.path.endswith("/") else f"{stop.path}:1"
        rows.append((f"{number}.", place, stop.title, why))
    print(table(rows, right=(0,), is_headed=False))
    if reading.tips:
        print(f"then, if it is there, what earlier campaigns noted: {reading.tips}")
    for kind in reading.missing:
        print(f"no {kind} page for this: use what you know, and call it unsourced")


def _task(args: argparse.Namespace) -> int:
    """Print who does a task; exit 0 built in, 3 by a command of yours, 1 not to be had."""
    registry = open_registry(args)
    target = registry.platform(args.platform).identity.target if args.platform else ""
    is_far = args.ssh or args.job or args.image
    place = remote_context(host=args.ssh, job=args.job, image=args.image, folder=args.folder) if is_far else None
    found = route_task(
        " ".join(args.text), target=target, kernel=Path(args.kernel) if args.kernel else None, commands=all_commands(),
        context=place.block() if place else "",
    )  # fmt: skip
    if args.json:
        print_values(found, [registry.wiki])
    else:
        print("\n".join(_task_lines(found)))
    return {"built_in": ExitCode.OK, "outside": ExitCode.MISSING, "not_available": ExitCode.FINDING}[found.answer]


_SAYS = {
    "built_in": "built in", "outside": "needs an outside command: one of yours, which kb drives and judges",
    "not_available": "not available here",
}  # fmt: skip


def _task_lines(route: TaskRoute) -> list[str]:
    on = f", on {route.target}" if route.target else ""
    lines = [f"{route.category}{f', {route.op}' if route.op else ''}{on}: {_SAYS[route.answer]}"]
    for number, step in enumerate(route.steps, 1):
        lines += [f"{number}. {step.specialist} ({step.availability.replace('_', ' ')}): {step.does}"]
        lines += [f"   {step.command}"] if step.command else []
        lines += [f"   because {step.why}"]
    lines += [f"refused: {one}" for one in route.refused]
    lines += [f"note: {one}" for one in route.notes]
    lines += [route.context] if route.context else []
    return [*lines, "rules: " + "; ".join(route.rules)]


_MOST_BYTES = 64 << 20


def _given(path: str) -> str:
    return sys.stdin.read(_MOST_BYTES) if path == "-" else read_words(Path(path), _MOST_BYTES)


def _plan(args: argparse.Namespace) -> int:
    """Print the order of an analysis's recommendations; exit 1 when nobody does any of them."""
    registry = open_registry(args)
    target = registry.platform(args.platform).identity.target if args.platform else ""
    plan = plan_of(read_analysis(_given(args.file), args.file), target=target, commands=all_commands())
    if args.json:
        print_values(plan, [registry.wiki])
        return ExitCode.OK if plan.open_order else ExitCode.FINDING
    print(f"{plan.bottleneck}{f' ({plan.kernel})' if plan.kernel else ''}: {printable(plan.evidence)}")
    for at, step in enumerate(plan.steps, 1):
        one = step.recommendation
        print(f"{at}. {step.id} [{one.impact}, {step.risk} risk] {printable(one.text)}")
        print(f"   {step.specialist or 'whoever proposes'} ({step.availability.replace('_', ' ')}): {step.command}")
        for word, told in (("after", step.after), ("with", step.interacts)):
            print(*([f"   {word} {'; '.join(told)}\n"] if told else []), sep="", end="")
    print("rules: " + "; ".join(plan.rules))
    return ExitCode.OK if plan.open_order else ExitCode.FINDING


def _kernels(args: argparse.Namespace) -> int:
    """Print kernels by share × headroom."""
    found = ranked_kernels(_given(args.file), args.file)
    if args.json:
        print_json(KernelShares(found))
        return ExitCode.OK
    head = ("kernel", "share", "headroom", "most gain", "limiter")
    rows = [(printable(one.name), *map(percent, (one.share, one.headroom, one.gain)), one.limiter) for one in found]
    print(table([head, *rows], right=(1, 2, 3)))
    print("headroom is 100 % where no roof of the kernel is known: the gain is then at most its share")
    return ExitCode.OK


def _remote(args: argparse.Namespace) -> int:
    found = remote_context(host=args.ssh, job=args.job, image=args.image, folder=args.folder)
    if args.json:
        print_json(found)
    else:
        print(found.block())
    return ExitCode.OK


def _exports(args: argparse.Namespace) -> int:
    paths = [Path(one) for one in args.files]
    if args.name:
        text = integration(paths, args.name)
        if not args.json:
            print(text, end="")
            return ExitCode.OK
    exports = ModuleExports(tuple(exports_of(path) for path in paths))
    if args.json:
        print_json(exports)
    else:
        for one in exports.modules:
            print(f"{one.file}:" + "".join(f"\n  {name} {how}" for name, how in one.names.items()))
    return ExitCode.OK
