"""Pictures of rooflines as characters: no line is wider than the terminal."""

from __future__ import annotations

import itertools
import math
import shutil
import textwrap

from kopt_kb.base.markup.text import clipped, visible
from kopt_kb.quantity.readable import rounded, si
from kopt_kb.report.drawing import number, ticks
from kopt_kb.report.picture import Picture, Point

__all__ = ["terminal"]

_ROOF_MARKS = '*+=~:"^,'
_LEAST, _MOST = 40, 120
_GUTTER = 7


def terminal(picture: Picture, *, width: int | None = None, height: int = 22) -> str:
    """Return the picture as text.

    Both axes are logarithmic with a number at each tick; a mark for each roof, `|` under its ridge, `.` for targets,
    `o` for what is attainable, `x` for what was measured.

    Args:
        picture: What is drawn.
        width: Columns; None asks the terminal (`COLUMNS`). Between 40 and 120 are used.
        height: Lines of the plot.
    """
    columns = min(max(width or shutil.get_terminal_size((96, 24)).columns, _LEAST), _MOST)
    plot = _Plot(picture, columns - _GUTTER - 1, height)
    plot.draw()
    body = textwrap.wrap(visible(picture.title), columns, max_lines=2)
    body += [f"{'FLOP/s':>{_GUTTER}}", *plot.rows(), *plot.axis()]
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
        self.low, self.high = picture.range()
        self.bottom, self.top = picture.rates()
        self.grid = [[" "] * width for _ in range(height)]

    def column(self, intensity: float) -> int:
        part = math.log(intensity / self.low) / math.log(self.high / self.low)
        return min(max(round((self.width - 1) * part), 0), self.width - 1)

    def row(self, rate: float) -> int:
        part = math.log(rate / self.bottom) / math.log(self.top / self.bottom)
        return self.height - 1 - min(max(round((self.height - 1) * part), 0), self.height - 1)

    def draw(self) -> None:
        """Put ridges, roofs and points, what matters most last."""
        roofs = sorted(zip(self.picture.roofs, self._marks(), strict=True), key=lambda one: one[0].basis != "target")
        for roof, _ in roofs:
            if roof.basis != "target":
                for row in range(self.row(roof.peak), self.height):
                    self.grid[row][self.column(roof.ridge)] = "|"
        for roof, mark in roofs:
            for column in range(self.width):
                intensity = self.low * (self.high / self.low) ** (column / (self.width - 1))
                self.grid[self.row(roof.at(intensity))][column] = mark
        for point in sorted(self.picture.drawable, key=lambda one: one.is_measured):
            if point.kind != "target":  # its line is there
                self.grid[self.row(point.rate)][self.column(point.intensity)] = _mark(point)

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
        name = "FLOP/B".rjust(self.width)
        return [" " * _GUTTER + "+" + "".join(line), (pad + "".join(numbers)).rstrip(), pad + name]

    def marked(self) -> list[tuple[str, str]]:
        """Return what each mark stands for."""
        found = [
            (
                f"{one.name}: {one.values}" + ("" if one.basis == "target" else f", ridge {rounded(one.ridge)} FLOP/B"),
                mark,
            )
            for one, mark in zip(self.picture.roofs, self._marks(), strict=True)
        ]
        found += [(f"{clipped(one.name, 80)}: {one.values}", _mark(one)) for one in self.picture.drawable]
        return found + [
            (f"{clipped(point.name, 80)}: not drawn, {point.values}", "-")
            for point in self.picture.points
            if not point.is_drawable
        ]


def _mark(point: Point) -> str:
    return {"measured": "x", "attainable": "o", "target": "."}[point.kind]
