"""Reports read and judged: kernels with their verdicts and gaps, and what devices of traces did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kopt_kb.analysis.gap.account import GapCase, account
from kopt_kb.analysis.profile import KernelProfile, ReportSource
from kopt_kb.analysis.profile.join import Counterparts, with_counters
from kopt_kb.analysis.readers.common.base import without_collection
from kopt_kb.analysis.readers.read import read_report
from kopt_kb.analysis.rules.classify import classify
from kopt_kb.analysis.rules.product import product_of
from kopt_kb.base.wire import Wire
from kopt_kb.cli.kit.judged_text import JudgedKernel, by_time
from kopt_kb.cli.kit.timeline import JudgedTimeline, judged_timelines
from kopt_kb.launch.counts.residency import with_residency
from kopt_kb.wiki.registry import Platform, Registry

__all__ = ["JudgedReports", "judge", "judge_reports"]


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
