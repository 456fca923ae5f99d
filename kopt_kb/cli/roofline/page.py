"""`kb roofline --html FILE`, `--markdown FILE`: rooflines as a report to send round."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from kopt_kb.analysis.roofline.basis import basis_name
from kopt_kb.analysis.roofline.reach import RooflineInTime
from kopt_kb.analysis.roofline.shown import roofline_blocks, roofline_title
from kopt_kb.base.markup.blocks import Cell, CellText, PageBlock, ReportPage, Section, TableBlock
from kopt_kb.cli.kit.page_output import made_by, save_report
from kopt_kb.quantity.quantity import Unknown
from kopt_kb.quantity.readable import duration
from kopt_kb.report.drawing_files import figure, picture_table
from kopt_kb.report.picture import Picture
from kopt_kb.tuning.page.fitted import LEVELS, CutLevel, fitted
from kopt_kb.tuning.page.markdown import markdown

__all__ = ["roofline_page", "save_rooflines"]


def save_rooflines(args: argparse.Namespace, timed: Sequence[RooflineInTime], picture: Picture | None) -> list[str]:
    """Write what was asked for; return one line a file."""
    program = made_by()
    products = ", ".join(dict.fromkeys(one.found.platform for one in timed))
    title = f"Roofline of {timed[0].found.work.op or 'work'} on {products}"

    def make(level: CutLevel) -> ReportPage:
        return roofline_page(title, timed, picture, program, level)

    return save_report(args, lambda: fitted(make, title), lambda: markdown(make(LEVELS[0])))


def roofline_page(
    title: str, timed: Sequence[RooflineInTime], picture: Picture | None, program: str, level: CutLevel
) -> ReportPage:
    """Return the page of rooflines: all in one table, a picture, a section each.

    Args:
        title: Heading.
        timed: Rooflines of shapes and products, with their times.
        picture: None where no roof is known.
        program: Program and version.
        level: How many are shown.
    """
    shown = timed[: level.rows]
    rows = [row for one in shown for row in _rows(one)]
    head = ("product", "shape", "bound", "target", "least time", "at the target", "measured")
    lead: list[PageBlock] = [TableBlock("Verdicts", head, tuple(rows), frozenset({4, 5, 6}))]
    if len(timed) > len(shown):
        lead.append(Cell(f"{len(timed) - len(shown)} more rooflines are left out; --json has all.", tone="warn"))
    sections = []
    if picture is not None:
        caption = "Both axes are logarithmic. Dots are measured; bars are what roofs allow and targets ask for."
        blocks = (figure(picture, caption), picture_table(picture, letters=level.letters))
        sections.append(Section("Picture", blocks))
    sections += [Section(roofline_title(one.found), roofline_blocks(one.found, one.times)) for one in shown]
    return ReportPage(title, tuple(lead), sections, program)


def _rows(time: RooflineInTime) -> list[tuple[CellText, ...]]:
    found, times = time.found, time.times
    value = found.target.value
    target = Cell("UNKNOWN", tone="warn") if isinstance(value, Unknown) else Cell(f">= {value}", found.target.line())
    least = min(times.least, key=lambda each: each.basis != "measured", default=None)
    first = (
        Cell("UNKNOWN", tone="warn")
        if least is None
        else Cell(duration(least.seconds), f"{basis_name(least.basis)}, {least.roof}")
    )
    shape = "x".join(map(str, found.work.shape)) or "-"
    at = duration(times.target_s) if times.target_s is not None else "UNKNOWN"
    measured = [duration(each.seconds) for each in times.measured] or ["-"]
    return [(found.platform, shape, found.limiter or found.bound, target, first, at, each) for each in measured]
