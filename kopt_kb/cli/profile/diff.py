"""kb profile diff: kernels of later reports against a baseline, metric by metric; a gate for automation."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from kopt_kb.analysis.profile import METRICS
from kopt_kb.base.errors import BadInput, ExitCode
from kopt_kb.base.sarif import SarifResult
from kopt_kb.base.wire import Wire
from kopt_kb.cli.kit.judged import judge
from kopt_kb.cli.kit.judged_text import JudgedKernel, total_s
from kopt_kb.cli.kit.output import add_wiki, open_registry, print_values, printable, say, table
from kopt_kb.cli.kit.page_output import add_report, check_report
from kopt_kb.cli.kit.sarif import add_format, print_sarif, wants_json
from kopt_kb.quantity.readable import duration, rounded
from kopt_kb.quantity.statistics import change_pct
from kopt_kb.wiki.version import data_version

__all__ = ["KernelComparison", "MetricDifference", "ProfileDiff", "add_arguments", "compare", "run"]

_NAME_CHARS = 60
_SHOWN = 8
_SMALL_PCT = 1.0
_CLOCKS_APART_PCT = 5.0


@dataclass(frozen=True, slots=True)
class MetricDifference(Wire):
    """One metric of a kernel in two reports; None where one of them lacks it.

    Attributes:
        metric: Vocabulary id.
        unit: Its unit.
        before: Value in the baseline.
        after: Value in the later report.
    """

    metric: str
    unit: str
    before: float | None
    after: float | None

    WIRE: ClassVar = ("metric", "unit", "before", "after", "change_pct")

    @property
    def change_pct(self) -> float | None:
        """Change over the value before; None without both or from 0."""
        return change_pct(self.before, self.after) if self.before else None


@dataclass(frozen=True, slots=True)
class KernelComparison(Wire):
    """A kernel in a baseline and a later report.

    Attributes:
        name: Bare function name.
        duration: Median time of a launch.
        limiter: Limiters before and after; None where the kernel is in one report only.
        metrics: Every metric that either report has.
        notes: Why the two may not be comparable.
    """

    name: str
    duration: MetricDifference
    limiter: tuple[str | None, str | None]
    metrics: tuple[MetricDifference, ...]
    notes: tuple[str, ...] = ()

    WIRE: ClassVar = ("name", "duration", "speedup", "limiter", "metrics", "notes")

    @property
    def speedup(self) -> float | None:
        """Time before over time after."""
        before, after = self.duration.before, self.duration.after
        return before / after if before and after else None

    def slower_than(self, threshold_pct: float) -> bool:
        """Return whether the kernel takes longer by more than a threshold."""
        change = self.duration.change_pct
        return change is not None and change > threshold_pct


@dataclass(frozen=True, slots=True)
class ComparedReport(Wire):
    """A later report and how its kernels compare with the baseline's."""

    file: str
    kernels: tuple[KernelComparison, ...]


@dataclass(frozen=True, slots=True)
class SlowerKernel(Wire):
    """A kernel of a later report that takes longer than the threshold allows."""

    WIRE: ClassVar = ("file", "name=kernel.name")
    file: str
    kernel: KernelComparison


@dataclass(frozen=True, slots=True)
class ProfileDiff(Wire):
    """Later reports against a baseline.

    Attributes:
        baseline: Report that they are compared with.
        threshold_pct: How much longer a kernel may take; None where none was given.
        reports: In the order they were given.
    """

    WIRE: ClassVar = ("baseline", "threshold_pct", "reports", "slower")
    baseline: str
    threshold_pct: float | None
    reports: tuple[ComparedReport, ...]

    @property
    def slower(self) -> tuple[SlowerKernel, ...]:
        """The kernels that take longer than the threshold allows."""
        if self.threshold_pct is None:
            return ()
        return tuple(
            SlowerKernel(report.file, kernel)
            for report in self.reports
            for kernel in report.kernels
            if kernel.slower_than(self.threshold_pct)
        )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the action's arguments."""
    parser.add_argument("baseline", metavar="BASELINE", help="report to compare with")
    parser.add_argument("reports", metavar="REPORT", nargs="+", help="later reports of the same kernels")
    parser.add_argument("--kernel", metavar="REGEX", help="only kernels whose name matches; none matching is an error")
    parser.add_argument("--threshold", metavar="PCT", type=float, help="exit 1 when a kernel takes this much longer")
    add_report(parser)
    add_format(parser)
    add_wiki(parser, has_format=True)


def run(args: argparse.Namespace) -> int:
    """Print the comparisons; exit 1 when a kernel is slower than the threshold allows."""
    if args.threshold is not None and not 0 <= args.threshold < float("inf"):
        raise BadInput(f"--threshold {args.threshold:g} is no limit", fix="give a percentage such as 5", code="KB105")
    check_report(args)
    registry = open_registry(args)
    baseline = judge([args.baseline], args.kernel, registry)[1]
    compared = {file: tuple(compare(baseline, judge([file], args.kernel, registry)[1])) for file in args.reports}
    diff = ProfileDiff(args.baseline, args.threshold, tuple(map(ComparedReport, compared, compared.values())))
    lines: list[str] = []
    if args.html or args.markdown:
        from kopt_kb.cli.profile.page import save_diff

        lines = save_diff(args, diff)
    if args.format == "sarif":
        print_sarif("kb profile diff", _results(diff), data_version(registry.wikis))
    elif wants_json(args):
        print_values(diff, registry.wikis)
    else:
        say("\n\n".join(_text(args.baseline, report.file, report.kernels) for report in diff.reports))
        for slower in diff.slower:
            change = slower.kernel.duration.change_pct or 0.0
            name = f"{printable(slower.kernel.name)} in {printable(slower.file)}"
            print(f"slower: {name} by {rounded(change)} %, allowed are {args.threshold:g} %")
        print("".join(f"\n{printable(line)}" for line in lines), end="\n" if lines else "")
    return ExitCode.FINDING if diff.slower else ExitCode.OK


def _results(diff: ProfileDiff) -> Iterator[SarifResult]:
    """Yield slower kernels as errors and other limiters as notes, at the later report."""
    for report in diff.reports:
        for kernel in report.kernels:
            change, (was, now) = kernel.duration.change_pct or 0.0, kernel.limiter
            if diff.threshold_pct is not None and kernel.slower_than(diff.threshold_pct):
                what = f"{kernel.name} takes {rounded(change)} % longer than in {diff.baseline}, allowed are"
                meaning = "a kernel takes longer than the threshold allows"
                yield SarifResult("slower", meaning, "error", f"{what} {diff.threshold_pct:g} %", report.file)
            if was and now and was != now:
                what = f"{kernel.name} is limited by {now}, in {diff.baseline} by {was}"
                yield SarifResult("other-limiter", "a kernel is limited by something else", "note", what, report.file)


def compare(before: Sequence[JudgedKernel], after: Sequence[JudgedKernel]) -> list[KernelComparison]:
    """Return kernels of both reports: of equal name and shape, else of equal name where each report has one.

    Raises:
        BadInput: The reports were recorded on different products, whose times are never compared.
    """
    _same_product(before, after)
    pairs: list[tuple[JudgedKernel, None] | tuple[JudgedKernel | None, JudgedKernel]] = []
    left = {_shape(kernel): kernel for kernel in before}
    rest: list[JudgedKernel] = []
    for one in after:
        same = left.pop(_shape(one), None)
        if same is None:
            rest.append(one)
        else:
            pairs.append((same, one))
    for one in rest:
        named = [key for key in left if left[key].profile.function == one.profile.function]
        alone = sum(other.profile.function == one.profile.function for other in rest) == 1
        pairs.append((left.pop(named[0]) if len(named) == 1 and alone else None, one))
    pairs += [(one, None) for one in left.values()]
    ordered = sorted(pairs, key=lambda pair: -max(map(_total, pair)))
    return [_comparison(now or was, was, now) for was, now in ordered]


def _total(kernel: JudgedKernel | None) -> float:
    return 0.0 if kernel is None else total_s(kernel)


def _shape(kernel: JudgedKernel) -> tuple[object, ...]:
    profile = kernel.profile
    return profile.demangled, profile.grid, profile.block


def _same_product(before: Iterable[JudgedKernel], after: Iterable[JudgedKernel]) -> None:
    names = [{one.profile.device or one.profile.target for one in side} - {""} for side in (before, after)]
    if all(names) and not names[0] & names[1]:
        kinds = [{kernel.profile.target for kernel in side} - {""} for side in (before, after)]
        devices = [{one.profile.device for one in side} - {""} for side in (before, after)]
        if (all(devices) and devices[0] != devices[1]) or (all(kinds) and kinds[0] != kinds[1]):
            raise BadInput(
                f"{', '.join(sorted(names[0]))} and {', '.join(sorted(names[1]))}: times of different products are "
                "never compared",
                fix="record both on one product",
                code="KB208",
            )


def _comparison(either: JudgedKernel | None, was: JudgedKernel | None, now: JudgedKernel | None) -> KernelComparison:
    ids = [one for one in METRICS if any(side is not None and one in side.profile.metrics for side in (was, now))]
    metrics = tuple(_difference(one, was, now) for one in ids)
    clock = next((one for one in metrics if one.metric == "sm_frequency_hz"), None)
    notes: tuple[str, ...] = ()
    if clock is not None and clock.change_pct is not None and abs(clock.change_pct) > _CLOCKS_APART_PCT:
        notes = (f"the core clocks of the two runs differ by {rounded(clock.change_pct)} %",)
    return KernelComparison(
        name="" if either is None else either.profile.function,
        duration=_difference("duration_s", was, now),
        limiter=(was.verdict.limiter if was else None, now.verdict.limiter if now else None),
        metrics=metrics,
        notes=notes,
    )


def _difference(metric: str, was: JudgedKernel | None, now: JudgedKernel | None) -> MetricDifference:
    values = [None if one is None else one.profile.get(metric) for one in (was, now)]
    return MetricDifference(metric, METRICS[metric].unit, values[0], values[1])


def _text(baseline: str, file: str, rows: Sequence[KernelComparison]) -> str:
    lines = [["kernel", "before", "after", "change", "limiter"]]
    for one in rows:
        times = [duration(side) for side in (one.duration.before, one.duration.after)]
        change = "-" if one.duration.change_pct is None else _signed(one.duration.change_pct)
        was, now = one.limiter
        words = f"{was} -> {now}" if was and now and was != now else now or was or "-"
        only = " (only before)" if now is None else " (only after)" if was is None else ""
        lines.append([printable(one.name)[:_NAME_CHARS], *times, change, words + only])
    parts = [f"{printable(file)} against {printable(baseline)}", table(lines, right=range(1, 4))]
    parts += [_metrics(row) for row in rows if None not in row.limiter]
    return "\n".join(part for part in parts if part)


def _metrics(comparison: KernelComparison) -> str:
    """Return the metrics of a kernel that changed most, and notes."""
    changed = [row for row in comparison.metrics if row.change_pct is not None and abs(row.change_pct) >= _SMALL_PCT]
    ranked = sorted(changed, key=lambda row: -abs(row.change_pct or 0.0))
    if not ranked and not comparison.notes:
        return ""
    rows = [(row.metric, rounded(row.before or 0), rounded(row.after or 0), row.unit, _signed(row.change_pct or 0.0))
            for row in ranked[:_SHOWN]]  # fmt: skip
    more = f"\n    {len(ranked) - _SHOWN} more metrics changed; --json has all" if len(ranked) > _SHOWN else ""
    notes = "".join(f"\n    Note: {note}" for note in comparison.notes)
    body = "\n" + table(rows, indent=4, right=(1, 2, 4)) if rows else ""
    return f"  {printable(comparison.name)[:_NAME_CHARS]}{body}{more}{notes}"


def _signed(change_pct: float) -> str:
    return f"{'+' if change_pct > 0 else ''}{rounded(change_pct)} %"
