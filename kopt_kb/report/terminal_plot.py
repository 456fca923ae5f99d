"""Pictures of rooflines as characters: no line is wider than the terminal."""

from __future__ import annotations

import itertools
import math
import shutil
import string
import textwrap

from kopt_kb.base.markup.text import clipped, visible
from kopt_kb.quantity.readable import rounded, si
from kopt_kb.report.axes import AXES, number, ticks
from kopt_kb.report.key import PointEntry, point_entries
from kopt_kb.report.picture import Picture

__all__ = ["terminal"]

_ROOF_MARKS = '*+=~:"^,'
_POINT_MARKS = "123456789" + string.ascii_uppercase + string.ascii_lowercase.replace("o", "")
_ORDER = ("target", "counters", "measured", "documented")
"""Of roofs in one place the last is seen."""
_LEAST, _MOST = 40, 120
_GUTTER = 7


def terminal(picture: Picture, *, width: int | None = None, height: int = 22) -> str:
    """Return the picture as text.

    Both axes are logarithmic with a number at each tick; a sign for each roof, `|` under the ridge of a product that is
    alone, `.` for targets, `o` for what is attainable, a number or letter for what was measured.

    Args:
        picture: What is drawn.
        width: Columns; None asks the terminal (`COLUMNS`). Between 40 and 120 are used.
        height: Lines of the plot.
    """
    columns = min(max(width or shutil.get_terminal_size((96, 24)).columns, _LEAST), _MOST)
    plot = _Plot(picture, columns - _GUTTER - 1, height)
    plot.draw()
    body = textwrap.wrap(visible(picture.title), columns, max_lines=2)
    body += [AXES[1], *plot.rows(), *plot.axis()]
    for one, mark in plot.marked():
        body += _told(f"{mark}  {one}", columns)
    return "\n".join(body)


def _told(text: str, columns: int) -> list[str]:
    wrap = textwrap.TextWrapper(columns, initial_indent="  ", subsequent_indent=" " * 5, max_lines=4)
    wrap.break_on_hyphens = False
    return wrap.wrap(visible(text))


class _Plot:
    """A grid of characters under a picture's axes."""

    def __init__(self, picture: Picture, width: int, height: int) -> None:
        self.picture, self.width, self.height = picture, width, height
        self.low, self.high = picture.range
        self.bottom, self.top = picture.rates
        self.grid = [[" "] * width for _ in range(height)]
        self.entries = point_entries(picture.drawable)

    def column(self, intensity: float) -> int:
        part = math.log(intensity / self.low) / math.log(self.high / self.low)
        return min(max(round((self.width - 1) * part), 0), self.width - 1)

    def row(self, rate: float) -> int:
        part = math.log(rate / self.bottom) / math.log(self.top / self.bottom)
        return self.height - 1 - min(max(round((self.height - 1) * part), 0), self.height - 1)

    def draw(self) -> None:
        """Put ridges, roofs and points, what matters most last."""
        roofs = sorted(zip(self.picture.roofs, self._marks(), strict=True), key=lambda one: _ORDER.index(one[0].basis))
        for roof, _ in roofs:
            if roof.basis == "documented" and len(self.picture.series) == 1:
                for row in range(self.row(roof.peak), self.height):
                    self.grid[row][self.column(roof.ridge)] = "|"
        for roof, mark in roofs:
            for column in range(self.width):
                intensity = self.low * (self.high / self.low) ** (column / (self.width - 1))
                self.grid[self.row(roof.at(intensity))][column] = mark
        attained = [(one, "o") for one in self.picture.drawable if one.kind == "attainable"]
        timed = [(one, _mark(entry)) for entry in reversed(self.entries) for one in reversed(entry.points)]
        for point, mark in attained + timed:
            self.grid[self.row(point.rate)][self.column(point.intensity)] = mark

    def _marks(self) -> list[str]:
        free = itertools.cycle(_ROOF_MARKS)
        return ["." if roof.basis == "target" else next(free) for roof in self.picture.roofs]

    def rows(self) -> list[str]:
        """Return the lines of the plot, with a number at each tick."""
        named = {self.row(value): si(value, "").replace(" ", "") for value in ticks(self.bottom, self.top)}
        lines = []
        for at, row in enumerate(self.grid):
            sign = "+" if at in named else "|"
            lines.append((f"{named.get(at, ''):>{_GUTTER}}{sign}" + "".join(row)).rstrip())
        return lines

    def axis(self) -> list[str]:
        """Return the lower axis with a number under each tick, as far as they do not run into each other."""
        line, numbers = ["-"] * self.width, [" "] * self.width
        end = -1
        for value in ticks(self.low, self.high):
            at, text = self.column(value), number(value)
            line[at] = "+"
            start = min(at, self.width - len(text))
            if start > end:
                numbers[start : start + len(text)] = text
                end = start + len(text)
        pad = " " * (_GUTTER + 1)
        name = pad + AXES[0].center(self.width).rstrip()
        return [" " * _GUTTER + "+" + "".join(line), (pad + "".join(numbers)).rstrip(), name]

    def marked(self) -> list[tuple[str, str]]:
        """Return what each mark stands for."""
        found = [
            (
                f"{one.name}: {one.values}" + ("" if one.basis == "target" else f", ridge {rounded(one.ridge)} FLOP/B"),
                mark,
            )
            for one, mark in zip(self.picture.roofs, self._marks(), strict=True)
        ]
        found += [
            (f"{clipped(one.name, 80)}: {one.values}", "o") for one in self.picture.points if one.kind == "attainable"
        ]
        found += [(_measured(one), _mark(one)) for one in self.entries]
        return found + [
            (f"{clipped(point.name, 80)}: not drawn, {point.values}", "-")
            for point in self.picture.points
            if not point.is_drawable
        ]


def _mark(entry: PointEntry) -> str:
    at = int(entry.number) - 1
    return _POINT_MARKS[at] if at < len(_POINT_MARKS) else "x"


def _measured(entry: PointEntry) -> str:
    """Return a measurement: its rate, and its intensity at each level."""
    first = entry.points[0]
    at = ", ".join(f"{rounded(one.intensity)} {one.level}".strip() for one in entry.points)
    return f"{clipped(entry.name, 80)}: {si(first.rate, 'FLOP/s')} at {at} FLOP/B"
