"""`kb profile read|diff … --html FILE`, `--markdown FILE`: verdicts and comparisons as a report to send round."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kopt_kb.analysis.rules.shown import verdict_blocks
from kopt_kb.base.errors import BadInput
from kopt_kb.base.markup.blocks import Bullets, Cell, CellText, FactsBlock, PageBlock, ReportPage, Section, TableBlock
from kopt_kb.base.markup.text import clipped
from kopt_kb.cli.kit.judged_text import JudgedKernel, total_s
from kopt_kb.cli.kit.page_output import made_by, save_report
from kopt_kb.quantity.readable import duration, percent, rounded
from kopt_kb.report.drawing_files import figure, picture_table
from kopt_kb.report.picture import DrawnRoof, Picture
from kopt_kb.report.profile_roofline import level_points, level_roofs, picture_of_report, run_roofs
from kopt_kb.tuning.page.fitted import LEVELS, CutLevel, fitted
from kopt_kb.tuning.page.markdown import markdown

if TYPE_CHECKING:
    from kopt_kb.analysis.profile.launch import Dim3
    from kopt_kb.cli.kit.judged import JudgedReports
    from kopt_kb.cli.profile.diff import KernelComparison, MetricDifference, ProfileDiff

__all__ = ["diff_page", "read_page", "save_diff", "save_read"]

_LEVELS = (CutLevel(2000, 120), CutLevel(400, 40), CutLevel(200, 20), CutLevel(60, 5))
_METRICS = 40
_SMALL_PCT = 1.0


def save_read(args: argparse.Namespace, reports: JudgedReports) -> list[str]:
    """Write the reports of `kb profile read`; return one line a file."""
    program, picture = made_by(), _picture(reports.kernels)
    name = ", ".join(dict.fromkeys(one.file for one in reports.reports))

    def make(level: CutLevel) -> ReportPage:
        return read_page(reports, picture, program, level)

    return save_report(args, lambda: fitted(make, name, _LEVELS), lambda: markdown(make(_LEVELS[1])))


def save_diff(args: argparse.Namespace, found: ProfileDiff) -> list[str]:
    """Write the reports of `kb profile diff`; return one line a file."""
    program = made_by()

    def make(level: CutLevel) -> ReportPage:
        return diff_page(found, program, level)

    return save_report(args, lambda: fitted(make, found.baseline, _LEVELS), lambda: markdown(make(_LEVELS[1])))


def _picture(kernels: Sequence[JudgedKernel]) -> Picture | None:
    """Return the roofline of the kernels, None where the report has no operations or nobody knows a roof."""
    points = level_points([one.profile for one in kernels])
    products = {one.platform.id: one.platform for one in kernels if one.platform is not None}
    roofs: list[DrawnRoof] = [roof for product in products.values() for roof in level_roofs(product, points).values()]
    try:
        return picture_of_report("Kernels under their roofs", points, [*roofs, *run_roofs(points).values()])
    except BadInput as error:
        if error.error_code != "KB047":
            raise
        return None


def read_page(
    reports: JudgedReports, picture: Picture | None, program: str, level: CutLevel = _LEVELS[0]
) -> ReportPage:
    """Return the page of reports: kernels by time, their roofline, a section for each verdict."""
    letters = level.letters
    files: list[tuple[str, CellText]] = [
        (
            "report",
            clipped(
                f"{report.file} ({report.format}, {report.tool} {report.tool_version or ''}".rstrip() + ")", letters
            ),
        )
        for report in reports.reports
    ]
    products = ", ".join(dict.fromkeys(str(one.platform.id) for one in reports.kernels if one.platform is not None))
    files += [("product", products or Cell("not known", tone="warn")), ("kernels", str(len(reports.kernels)))]
    shown = reports.kernels[: level.rows]
    lead: list[PageBlock] = [FactsBlock(tuple(files[-40:])), _kernels(shown, reports.kernels, letters)]
    if len(reports.kernels) > len(shown):
        text = f"{len(reports.kernels) - len(shown)} kernels that take less are left out; --json has all."
        lead.append(Cell(text, tone="warn"))
    sections = []
    if picture is not None:
        caption = (
            "Counted operations over the bytes of each level of memory, on logarithmic axes; every dot was measured."
        )
        sections.append(
            Section("Roofline", (figure(picture, caption), picture_table(picture, letters=letters, most=level.rows)))
        )
    sections += [_section(one, letters) for one in shown]
    notes = dict.fromkeys(clipped(note, letters) for one in shown for note in one.profile.notes)
    if notes:
        sections.append(Section("Notes", (Bullets(tuple(notes)),)))
    return ReportPage(
        "Profile " + clipped(", ".join(dict.fromkeys(Path(one.file).name for one in reports.reports)), 200),
        tuple(lead),
        sections,
        program,
    )


def _kernels(shown: Sequence[JudgedKernel], every: Sequence[JudgedKernel], letters: int) -> TableBlock:
    whole_s = sum(map(total_s, every))
    rows: list[tuple[CellText, ...]] = []
    for one in shown:
        profile, spent_s = one.profile, total_s(one)
        name = Cell(clipped(profile.function, min(letters, 200)), clipped(profile.demangled or profile.name, letters))
        times = (duration(spent_s), percent(spent_s / whole_s)) if whole_s else ("-", "-")
        limiter = Cell(one.verdict.limiter, clipped(one.verdict.proof, letters))
        rows.append(
            (name, str(profile.launch_count), *times, duration(profile.duration_s), one.verdict.bottleneck, limiter)
        )
    head = ("kernel", "launches", "time", "share", "median of a launch", "bottleneck", "limiter")
    return TableBlock("Kernels by total time", head, tuple(rows), frozenset({1, 2, 3, 4}))


def _section(kernel: JudgedKernel, letters: int) -> Section:
    profile = kernel.profile
    where: list[tuple[str, CellText]] = [
        ("grid, block", f"{_axes(profile.grid)}, {_axes(profile.block)}"),
        ("device", clipped(profile.device or "not named", letters)),
    ]
    blocks: list[PageBlock] = [FactsBlock(tuple(where)), *verdict_blocks(kernel.verdict, letters)]
    if kernel.gap is not None:
        blocks.append(Cell("Between the time and the roof", tone="quiet"))
        blocks.append(Bullets(tuple(Cell(clipped(line.strip(), letters)) for line in kernel.gap.text().split("\n"))))
    return Section(clipped(profile.function, 200), tuple(blocks))


def _axes(one: Dim3 | None) -> str:
    return "-" if one is None else f"{one.x}x{one.y}x{one.z}"


def diff_page(found: ProfileDiff, program: str, level: CutLevel = LEVELS[0]) -> ReportPage:
    """Return the page of a comparison: what became slower, then each report's kernels and metrics."""
    letters = level.letters
    slower: list[tuple[CellText, ...]] = []
    for one in found.slower[: level.rows]:
        change = one.kernel.duration.change_pct or 0.0
        slower.append(
            (clipped(one.kernel.name, letters), clipped(one.file, letters), Cell(f"+{rounded(change)} %", tone="bad"))
        )
    lead: list[PageBlock] = [Cell(f"Compared with {clipped(found.baseline, letters)}.")]
    if found.threshold_pct is not None:
        allowed = f"allowed are {rounded(found.threshold_pct)} %"
        table = TableBlock(f"Slower kernels; {allowed}", ("kernel", "report", "change"), tuple(slower), frozenset({2}))
        lead.append(table if slower else Cell(f"No kernel is slower; {allowed}.", tone="good"))
    sections = [Section(clipped(one.file, 200), tuple(_compared(one.kernels, level))) for one in found.reports]
    return ReportPage(f"Profiles compared with {clipped(found.baseline, 160)}", tuple(lead), sections, program)


def _compared(kernels: Sequence[KernelComparison], level: CutLevel) -> list[PageBlock]:
    rows: list[tuple[CellText, ...]] = []
    for kernel in kernels[: level.rows]:
        speedup = "-" if kernel.speedup is None else f"{rounded(kernel.speedup)}×"
        was, now = kernel.limiter
        limiter = f"{was} -> {now}" if was and now and was != now else now or was or "-"
        only = " (only before)" if now is None else " (only after)" if was is None else ""
        times = (duration(kernel.duration.before), duration(kernel.duration.after))
        rows.append(
            (clipped(kernel.name, min(level.letters, 200)), *times, _change(kernel.duration), speedup, limiter + only)
        )
    head = ("kernel", "before", "after", "change", "times as fast", "limiter")
    blocks: list[PageBlock] = [TableBlock("Median time of a launch", head, tuple(rows), frozenset({1, 2, 3, 4}))]
    if len(kernels) > len(rows):
        blocks.append(Cell(f"{len(kernels) - len(rows)} more kernels are left out; --json has all.", tone="warn"))
    for one in kernels[: level.rows]:
        blocks += _metrics(one, level.letters)
    return blocks


def _metrics(comparison: KernelComparison, letters: int) -> list[PageBlock]:
    """Return the metrics of a kernel that changed, those that changed most first."""
    changed = [
        each for each in comparison.metrics if each.change_pct is not None and abs(each.change_pct) >= _SMALL_PCT
    ]
    changed.sort(key=lambda each: -abs(each.change_pct or 0.0))
    rows: list[tuple[CellText, ...]] = [
        (each.metric, _number(each.before), _number(each.after), each.unit, _change(each))
        for each in changed[:_METRICS]
    ]
    head = ("metric", "before", "after", "unit", "change")
    table = TableBlock(
        f"Metrics of {clipped(comparison.name, 120)} that changed most", head, tuple(rows), frozenset({1, 2, 4})
    )
    notes = [Bullets(tuple(clipped(f"Note: {each}", letters) for each in comparison.notes))] if comparison.notes else []
    return [*((table,) if rows else ()), *notes]


def _number(value: float | None) -> str:
    return "-" if value is None else rounded(value)


def _change(difference: MetricDifference) -> str:
    return (
        "-"
        if difference.change_pct is None
        else f"{'+' if difference.change_pct > 0 else ''}{rounded(difference.change_pct)} %"
    )
