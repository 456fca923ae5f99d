"""Intensity, roofs, bound, attainable rate and 90 % target of a piece of work on one product.

kb roofline --platform H20 --op rms_norm --shape 8192x4096 --dtype bf16
kb roofline --platform H20 --op rms_norm --shape 8192x4096 --dtype bf16 --time 52us
kb roofline --compare H20,H100_SXM,MI300X --op rms_norm --shape 8192x4096 --dtype bf16
kb roofline --platform H20 --flops 1.1e12 --bytes 4e8 --dtype bf16 --engine matrix
kb roofline norm.record --platform MI300X
kb roofline --platform H20 --op rms_norm --shape 8192x4096 --dtype bf16 --what-if memory_bandwidth=2
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kopt_kb.analysis.roofline.assess import assess
from kopt_kb.analysis.roofline.reach import RooflineInTime, RooflinesInTime, reach
from kopt_kb.base.errors import BadInput, ExitCode, KoptError
from kopt_kb.cli.kit.case_arguments import ALL, add_kernel, cases_from, grid_from
from kopt_kb.cli.kit.named_kernel import kernel_file
from kopt_kb.cli.kit.output import add_wiki, open_registry, print_values, printable, say
from kopt_kb.cli.kit.page_output import add_report, check_report
from kopt_kb.cli.kit.problem_arguments import add_problem
from kopt_kb.cli.kit.work_arguments import add_work, work_from
from kopt_kb.cli.roofline.supposed import add_what_if, suppose
from kopt_kb.cli.roofline.text import compared, render, render_kernel, time_table
from kopt_kb.problem.shapes import format_shape
from kopt_kb.quantity.units import parse_duration
from kopt_kb.wiki.registry import Platform

if TYPE_CHECKING:
    from kopt_kb.analysis.profile import KernelProfile
    from kopt_kb.launch.counts.kernel_roofline import KernelRoofline
    from kopt_kb.report.picture import Picture
    from kopt_kb.wiki.wiki import Wiki

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "file",
        metavar="KERNEL.py",
        nargs="?",
        type=kernel_file,
        help="count, compile and judge the kernels of this file or record",
    )
    parser.add_argument("--platform", metavar="PLATFORM", help="exact product")
    parser.add_argument("--compare", metavar="A,B,…", help="several products: one row each, one picture")
    add_work(parser)
    add_kernel(parser)
    add_problem(parser)
    parser.add_argument(
        "--config", metavar="NAME=VALUE", action="append", dest="option", help="value of the file's tuning space"
    )
    parser.add_argument("--profile", metavar="REPORT", help="profiler report with measured times of the file's kernels")
    parser.add_argument(
        "--time", metavar="52us", action="append", default=[], help="time you measured, with its unit; one a roofline"
    )
    parser.add_argument("--plot", action="store_true", help="draw in the terminal")
    parser.add_argument("--picture", metavar="FILE", help="write a new .svg, .html or .png (extra plot)")
    parser.add_argument("--min-grade", metavar="GRADE", help="refuse roofs of a weaker grade: vendor, device, measured")
    add_what_if(parser)
    add_report(parser)
    add_wiki(parser)


def run(args: argparse.Namespace) -> int:
    """Print the roofline of each shape; exit 4 when the target of one is UNKNOWN."""
    _refuse_product(args)
    _refuse_unused(args)
    check_report(args, args.picture)
    platforms = _platforms(args)
    if args.what_if:
        return suppose(args, [] if args.file else [(one, at) for at in platforms for one in work_from(args)])
    if args.file:
        return _run_file(args, platforms)
    works = [(one, platform) for platform in platforms for one in work_from(args)]
    measured = _measured(args.time, [f"{platform.id} {format_shape(one.shape)}".strip() for one, platform in works])
    timed = [
        assess(at, one, platform, min_grade=args.min_grade) for (one, platform), at in zip(works, measured, strict=True)
    ]
    if args.json:
        print_values(timed[0] if len(timed) == 1 else RooflinesInTime(tuple(timed)), _wikis(platforms))
    else:
        say(compared(timed) if len(platforms) > 1 else "\n\n".join(render(one) for one in timed))
    _draw(args, timed)
    return ExitCode.UNKNOWN if any(one.found.unknown() for one in timed) else ExitCode.OK


_OF_FILE = ("kernel", "arg", "args", "constexpr", "autotune", "grid", "profile")


def _refuse_product(args: argparse.Namespace) -> None:
    """Refuse a product where a kernel file stands: `kb lookup H20` takes one there."""
    if not args.file or Path(args.file).exists():
        return
    try:
        found = open_registry(args).platform(args.file)
    except KoptError:
        return
    raise BadInput(
        f"{args.file} is a product ({found.id}), not a kernel file",
        where="kb roofline", fix=f"--platform {args.file}", code="KB103",
    )  # fmt: skip


def _refuse_unused(args: argparse.Namespace) -> None:
    """Refuse options that this kind of work does not use: what is ignored without a word misleads."""
    if args.plot and args.json:
        fix = "leave one out; --picture FILE draws beside --json"
        raise BadInput("--json prints one document, and --plot draws", where="kb roofline", fix=fix, code="KB103")
    if args.file:
        unused = ["--time"] if args.time else []
        fix = "measured times of a file's kernels come from --profile REPORT"
        if args.autotune == ALL:
            unused, fix = ["--autotune all"], "choose one; kb compile takes all of them"
    else:
        unused = [f"--{name}" for name in _OF_FILE if getattr(args, name)]
        fix = "give the KERNEL.py that it is about; a time of your own is --time 52us"
        if args.option and not args.op and not args.problem and not unused:
            unused, fix = ["--option"], "it is an option of --op"
    if unused:
        what = f"{', '.join(unused)} {'is' if len(unused) == 1 else 'are'} not used here"
        raise BadInput(what, where="kb roofline", fix=fix, code="KB103")


def _measured(texts: Sequence[str], names: Sequence[str]) -> list[tuple[float, ...]]:
    """Return the times of each roofline, named here: all of them for a single one, else one each, in order."""
    times = [parse_duration(one) for text in texts for one in text.split(",")]
    if len(names) == 1:
        return [tuple(times)]
    if times and len(times) != len(names):
        what = f"{len(times)} time(s) for {len(names)} rooflines"
        raise BadInput(what, where="--time", fix=f"give one each, in order: {', '.join(names)}", code="KB102")
    return [(one,) for one in times] or [()] * len(names)


def _platforms(args: argparse.Namespace) -> list[Platform]:
    names = [*filter(None, [args.platform]), *filter(None, (args.compare or "").split(","))]
    if not names:
        raise BadInput("missing --platform", fix="for example --platform H20, or --compare H20,H100_SXM", code="KB102")
    registry = open_registry(args)
    return list({one.id: one for one in map(registry.platform, names)}.values())


def _run_file(args: argparse.Namespace, platforms: list[Platform]) -> int:
    from kopt_kb.analysis.readers.read import read_profiles
    from kopt_kb.launch.counts.kernel_roofline import KernelRooflines

    if args.op or args.flops or args.bytes or args.problem:
        raise BadInput(
            "a kernel file and other work were given",
            fix="give the file with --shape and --dtype, or with --kernel, --arg and --grid, alone",
            code="KB103",
        )
    profiles = list(read_profiles(args.profile)) if args.profile else []
    owned = [(one, platform) for platform in platforms for one in _kernels(args, platform, profiles)]
    rooflines = [one for one, _ in owned]
    _refuse_foreign(args.profile, profiles, rooflines)
    timed = [(one, reach(one.roofline, at, () if one.measured_s is None else (one.measured_s,))) for one, at in owned]
    if args.json:
        print_values(KernelRooflines(tuple(rooflines)), _wikis(platforms))
    else:
        text = "\n\n".join(render_kernel(one, times) for one, times in timed)
        say(text + (time_table(rooflines) if len(rooflines) > 1 else ""))
    inside = [RooflineInTime(one.roofline, times) for one, times in timed]
    _draw(args, inside)
    return ExitCode.UNKNOWN if any(one.roofline.unknown() for one in rooflines) else ExitCode.OK


def _refuse_foreign(report: str | None, profiles: list[KernelProfile], rooflines: list[KernelRoofline]) -> None:
    """Refuse a report that has a time of none of the kernels."""
    if not profiles or any(one.measured_s is not None for one in rooflines):
        return
    names = [", ".join(dict.fromkeys(each)) for each in ([p.name for p in profiles], [one.name for one in rooflines])]
    what = f"the report's kernels ({names[0]}) are none of the file's ({names[1]})"
    fix = "give the report of this file, or its time with --op --shape --dtype --time"
    raise BadInput(what, where=report or "", fix=fix, code="KB103")


def _kernels(args: argparse.Namespace, platform: Platform, profiles: list[KernelProfile]) -> list[KernelRoofline]:
    from kopt_kb.launch.counts.device_facts import device_facts
    from kopt_kb.launch.counts.kernel_roofline import Launched, kernel_rooflines, rooflines_of
    from kopt_kb.launch.judge.recorded import Wanted, closed_form, is_record, recorded

    identity, facts, grid = platform.identity, device_facts(platform), grid_from(args)
    if is_record(args.file):
        made = recorded(args.file, Wanted(identity.target, identity.platform, facts), disassemble=True)
        work = closed_form(args.file)
        return rooflines_of([Launched(one, "", work) for one in made], platform, grid=grid, profiles=profiles)
    if not (args.shape and args.dtype) and not (args.arg or args.args):
        fix = "for example --shape 8192x4096 --dtype bf16; or give --kernel, --arg and --grid, or a launch record"
        raise BadInput("missing --shape and --dtype", fix=fix, code="KB102")
    if args.option and not args.shape:
        fix = "it is a value of the tuning space: give --shape and --dtype"
        raise BadInput("--option is not used here", where="kb roofline", fix=fix, code="KB103")
    args.config = args.option
    return kernel_rooflines(cases_from(args), platform, grid=grid, profiles=profiles, facts=facts)


def _wikis(platforms: Sequence[Platform]) -> list[Wiki]:
    return list(dict.fromkeys(one.wiki for one in platforms))


def _draw(args: argparse.Namespace, timed: list[RooflineInTime]) -> None:
    """Write and print the pictures and reports that were asked for."""
    if not (args.plot or args.picture or args.html or args.markdown):
        return
    from kopt_kb.cli.roofline.page import save_rooflines
    from kopt_kb.report.drawing_files import write_picture
    from kopt_kb.report.terminal_plot import terminal

    drawn = _picture(args, timed)
    if args.picture and drawn is not None:
        write_picture(drawn, Path(args.picture))
    if args.plot and drawn is not None:
        print(terminal(drawn))
    lines = save_rooflines(args, timed, drawn)
    if lines and not args.json:
        print("\n" + "\n".join(map(printable, lines)))


def _picture(args: argparse.Namespace, timed: list[RooflineInTime]) -> Picture | None:
    """Return the picture; a report without a known roof goes without one."""
    from kopt_kb.report.pictured import picture

    try:
        return picture(*timed).content
    except BadInput as error:
        if args.plot or args.picture or error.error_code != "KB047":
            raise
        return None
