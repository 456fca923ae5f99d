"""kb profile read: kernels of reports with their verdicts, as text or JSON."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from typing import ClassVar

from kopt_kb.analysis.gap.account import GapCase, account
from kopt_kb.analysis.profile import KernelProfile, ReportSource
from kopt_kb.analysis.profile.join import Counterparts, with_counters
from kopt_kb.analysis.readers.common.base import without_collection
from kopt_kb.analysis.readers.read import read_report
from kopt_kb.analysis.rules.classify import classify
from kopt_kb.analysis.rules.product import product_of
from kopt_kb.cli.output import add_wiki, open_registry, print_values, printable, say
from kopt_kb.cli.page_output import add_report, check_report
from kopt_kb.cli.profile_text import JudgedKernel, by_time, render
from kopt_kb.cli.profile_timeline import JudgedTimeline, judged_timelines, render_timelines
from kopt_kb.errors import BadInput, ExitCode
from kopt_kb.static.residency import with_residency
from kopt_kb.wiki.registry import Platform, Registry
from kopt_kb.wire import Wire

__all__ = ["JudgedReports", "add_arguments", "judge", "judge_reports", "print_judged", "run"]


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
        from kopt_kb.cli.profile_page import save_read

        lines = save_read(args, top)
    if args.json:
        print_values(top, registry.wikis)
        return ExitCode.OK
    print_judged(found, args.top)
    print("".join(f"\n{printable(line)}" for line in lines), end="\n" if lines else "")
    return ExitCode.OK


@dataclass(frozen=True, slots=True)
class JudgedReports(Wire):
    """Reports with their kernels by total time, and the devices of traces.

    Attributes:
        reports: In the order they were given.
        kernels: Those of all reports.
        timelines: Devices of traces; None where no report is one.
    """

    WIRE: ClassVar = ("reports", "timelines?", "kernels")
    reports: tuple[ReportSource, ...]
    kernels: tuple[JudgedKernel, ...]
    timelines: tuple[JudgedTimeline, ...] | None


def judge(
    files: list[str], kernel: str | None, registry: Registry, platform: Platform | None = None, *, source: bool = False
) -> tuple[tuple[ReportSource, ...], tuple[JudgedKernel, ...]]:
    """Return the reports and each kernel with its verdict under the roofs of the product it ran on."""
    found = judge_reports(files, kernel, registry, platform, source=source)
    return found.reports, found.kernels


def judge_reports(
    files: list[str], kernel: str | None, registry: Registry, platform: Platform | None = None, *, source: bool = False
) -> JudgedReports:
    """Return reports, kernels with verdicts, and devices; kernels of traces take counters from the other reports.

    Args:
        files: Reports.
        kernel: Regular expression of kernel names, None for all.
        registry: Where the products that reports name are looked up.
        source: Whether costs of single instructions are read.
        platform: The product that the user says it was; a report that names another raises `BadInput`.
    """
    reports: list[ReportSource] = []
    timed: list[KernelProfile] = []
    counted: list[KernelProfile] = []
    timelines: list[JudgedTimeline] = []
    for file in files:
        with without_collection():
            profiles, devices = read_report(file, kernel=kernel, source=source)
            found = list(profiles)
        if found:
            reports.append(found[0].source)
        (counted if devices is None else timed).extend(found)
        timelines += judged_timelines(file, devices or ())
    judged: list[JudgedKernel] = []
    for one in _joined(timed, counted):
        product = product_of(one, registry, platform)
        resident = with_residency(one, product, registry)
        gap = account(GapCase.of_profile(resident, product))
        judged.append(JudgedKernel(resident, classify(resident, product), product, gap))
    return JudgedReports(tuple(reports), tuple(by_time(judged)), tuple(timelines) or None)


def _joined(timed: list[KernelProfile], counted: list[KernelProfile]) -> list[KernelProfile]:
    """Return kernels of traces with the counters that other reports have of them, and the other kernels."""
    if not timed or not counted:
        return [*timed, *counted]
    others = Counterparts.of(counted)
    found = [one if (other := others.find(one)) is None else with_counters(one, other) for one in timed]
    return [*found, *(kernel for kernel in counted if id(kernel) not in others.used)]


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
