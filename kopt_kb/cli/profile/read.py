"""kb profile read: kernels of reports with their verdicts, as text or JSON."""

from __future__ import annotations

import argparse
from dataclasses import replace

from kopt_kb.base.errors import BadInput, ExitCode
from kopt_kb.cli.kit.judged import JudgedReports, judge_reports
from kopt_kb.cli.kit.judged_text import render
from kopt_kb.cli.kit.output import add_wiki, open_registry, print_values, printable, say
from kopt_kb.cli.kit.page_output import add_report, check_report
from kopt_kb.cli.kit.timeline import render_timelines

__all__ = ["add_arguments", "print_judged", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the action's arguments."""
    parser.add_argument(
        "files",
        metavar="FILE",
        nargs="+",
        help="report or folder: ncu, nsys .sqlite, torch.profiler, proton, rocprof*, .rpd",
    )
    parser.add_argument("--kernel", metavar="REGEX", help="only kernels whose name matches; none matching is an error")
    parser.add_argument("--platform", metavar="ID", help="product of the run (default: what the report names)")
    parser.add_argument("--top", metavar="N", type=int, help="only the N kernels that take longest in all")
    parser.add_argument("--source", action="store_true", help="stall samples by instruction and source line (.ncu-rep)")
    add_report(parser)
    add_wiki(parser)


def run(args: argparse.Namespace) -> int:
    """Print kernels and verdicts of the reports."""
    if args.top is not None and args.top < 1:
        raise BadInput(f"--top {args.top} shows nothing", fix="give 1 or more", code="KB105")
    check_report(args)
    registry = open_registry(args)
    platform = None if args.platform is None else registry.platform(args.platform)
    found = judge_reports(args.files, args.kernel, registry, platform, source=args.source)
    top = replace(found, kernels=found.kernels[: args.top])
    lines: list[str] = []
    if args.html or args.markdown:
        from kopt_kb.cli.profile.page import save_read

        lines = save_read(args, top)
    if args.json:
        print_values(top, registry.wikis)
        return ExitCode.OK
    print_judged(found, args.top)
    print("".join(f"\n{printable(line)}" for line in lines), end="\n" if lines else "")
    return ExitCode.OK


def print_judged(reports: JudgedReports, top: int | None = None) -> None:
    """Print the reports, what devices of traces did, the table of the first `top` kernels, and each verdict's proof."""
    judged = reports.kernels
    for report in reports.reports:
        version = f" {printable(report.tool_version)}" if report.tool_version else ""
        say(f"Report: {printable(report.file)} ({report.format}, {report.tool}{version})")
    products = dict.fromkeys(str(kernel.platform.id) for kernel in judged if kernel.platform is not None)
    if products:
        print(f"Product: {', '.join(products)}")
    print()
    if reports.timelines:
        say(render_timelines(reports.timelines) + "\n")
    if judged:
        say(render(judged, top))
