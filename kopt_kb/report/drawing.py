"""A picture of a roofline laid out in pixels: lines, marks and labels, the same for SVG, PNG and HTML."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from kopt_kb.base.markup.style import GROUPS
from kopt_kb.base.markup.text import clipped, visible
from kopt_kb.quantity.readable import rounded, si
from kopt_kb.report.labels import CHAR_PX, LINE_PX, Box, Placed, Spot, WantedLabel, box_of, place, width_px
from kopt_kb.report.picture import DrawnRoof, Picture, Point

__all__ = ["Drawing", "DrawnLine", "Mark", "drawn", "number", "ticks"]

_WIDTH, _PLOT_HEIGHT = 820.0, 430.0
_LEFT, _TOP, _RIGHT, _BOTTOM = 58.0, 34.0, 14.0, 46.0
_NAME_CHARS = 44
_LABELLED = 60
"""So many measured points have a label in the plot; the legend numbers the others."""
_DRAWN = 400
"""And so many are drawn at all."""
_LEGEND_ROWS = 120
_TICKS = 10
_LEAST_PLAIN, _MOST_PLAIN = 1e-3, 1e5
_ANGLES = ((1, 0), (1, -1), (1, 1), (-1, 0), (-1, -1), (-1, 1), (0, -1), (0, 1))
_RADII = (9.0, 18.0, 30.0, 44.0, 60.0, 80.0, 105.0, 135.0)
_ALONG = tuple(at / 32 for at in range(1, 32))


@dataclass(frozen=True, slots=True)
class DrawnLine:
    """A line through points, in pixels; `dash` as SVG has it."""

    points: tuple[tuple[float, float], ...]
    classes: str
    dash: str = ""
    over: str = ""


@dataclass(frozen=True, slots=True)
class Mark:
    """A dot (its shape tells the product) or the bar of what is attainable or asked for."""

    x: float
    y: float
    shape: str
    classes: str
    over: str = ""


@dataclass(frozen=True, slots=True)
class Drawing:
    """What is to be drawn, in pixels from the top left.

    Attributes:
        labels: All texts with the boxes that they fill: no two of them overlap.
        unplaced: Labels that found no place; the legend has them.
        sources: Where roofs and measurements come from, each once.
    """

    title: str
    width: float
    height: float
    lines: tuple[DrawnLine, ...]
    marks: tuple[Mark, ...]
    labels: tuple[Placed, ...]
    unplaced: tuple[str, ...]
    sources: tuple[str, ...]


@dataclass(slots=True)
class _Plot:
    """The axes: numbers to pixels."""

    picture: Picture
    frame: Box = field(default_factory=lambda: Box(_LEFT, _TOP, _WIDTH - _RIGHT, _TOP + _PLOT_HEIGHT))

    def x(self, intensity: float) -> float:
        low, high = map(math.log10, self.picture.range())
        return self.frame.left + (self.frame.right - self.frame.left) * (math.log10(intensity) - low) / (high - low)

    def y(self, rate: float) -> float:
        low, high = map(math.log10, self.picture.rates())
        return self.frame.bottom - (self.frame.bottom - self.frame.top) * (math.log10(rate) - low) / (high - low)

    def group(self, name: str) -> str:
        return f"group{self.picture.groups.index(name) % GROUPS}"

    def path(self, roof: DrawnRoof) -> tuple[tuple[float, float], ...]:
        """Return the corners of a roof: on these axes it is two straight lines."""
        low, high = self.picture.range()
        places = [low, *([roof.ridge] if low < roof.ridge < high else []), high]
        return tuple((self.x(one), self.y(roof.at(one))) for one in places)


def drawn(picture: Picture, *, legend: bool = True) -> Drawing:
    """Return a picture laid out.

    Args:
        picture: What is drawn.
        legend: Whether names, values and sources stand below; a page has a table for them.
    """
    plot = _Plot(picture)
    points = _points(picture)
    lines = [*_grid(plot), *_roof_lines(plot), *_drops(plot, points)]
    marks = tuple(_mark(plot, one) for one in points)
    segments = [
        (*a, *b)
        for line in lines
        if "grid" not in line.classes
        for a, b in zip(line.points, line.points[1:], strict=False)
    ]
    taken = [Box(mark.x - 6, mark.y - 6, mark.x + 6, mark.y + 6) for mark in marks]
    title = "".join(_wrapped(visible(picture.title), 1))
    fixed = [*_axis_labels(plot), Placed(title, _left_box(title, 10, 11), "title")]
    wanted = [*_point_labels(plot, points), *_roof_labels(plot), *_ridge_labels(plot)]
    placed, unplaced = place(wanted, plot.frame, taken, segments)
    bottom = plot.frame.bottom + _BOTTOM
    rows = list(_legend(picture, points)) if legend else []
    written = [_row(row, bottom + LINE_PX * (at + 0.5)) for at, row in enumerate(rows)]
    height = bottom + LINE_PX * len(rows) + 4
    labels = (*fixed, *placed, *written)
    return Drawing(picture.title, _WIDTH, height, tuple(lines), marks, labels, tuple(unplaced), picture.sources)


def _points(picture: Picture) -> tuple[Point, ...]:
    """Return the points that are drawn, measured ones first."""
    return tuple(sorted(picture.drawable, key=lambda one: not one.is_measured)[:_DRAWN])


def _row(text: str, y: float) -> Placed:
    """Return a row of the legend; what goes on from the row above stands further in."""
    shown = text.lstrip()
    return Placed(shown, _left_box(shown, 12 + CHAR_PX * (len(text) - len(shown)), y), "quiet")


def _left_box(text: str, left: float, y: float) -> Box:
    return box_of(text, left + width_px(text) / 2, y)


def ticks(low: float, high: float) -> list[float]:
    """Return powers of ten between two numbers, with 2 and 5 between them where there is room, ten at most."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    step = max(1, math.ceil((last - first) / _TICKS))
    decades = [one for power in range(first, last + 1, step) if low <= (one := 10.0**power) <= high]
    finer = [part * 10.0**power for power in range(first, last + 1) for part in (1, 2, 5)]
    fine = [one for one in finer if low <= one <= high]
    return fine if len(decades) < 3 and len(fine) <= _TICKS else decades


def number(value: float) -> str:
    """Return a number at a tick."""
    return f"{value:g}" if _LEAST_PLAIN <= value < _MOST_PLAIN else si(value, "").replace(" ", "")


def _axis_labels(plot: _Plot) -> Iterator[Placed]:
    """Yield the numbers at the ticks and the names of the axes."""
    frame = plot.frame
    for value in ticks(*plot.picture.rates()):
        text = si(value, "").strip()
        y = min(max(plot.y(value), frame.top + LINE_PX), frame.bottom - LINE_PX)
        yield Placed(text, box_of(text, frame.left - 6 - width_px(text) / 2, y), "quiet")
    for value in ticks(*plot.picture.range()):
        text = number(value)
        x = min(max(plot.x(value), frame.left + 12), frame.right - width_px(text) / 2)
        yield Placed(text, box_of(text, x, frame.bottom + 11), "quiet")
    for text, x, y in (("FLOP/s", 4.0, frame.top - 6), ("operations a byte, FLOP/B", frame.left, frame.bottom + 27)):
        yield Placed(text, _left_box(text, x, y), "quiet")


def _grid(plot: _Plot) -> Iterator[DrawnLine]:
    frame = plot.frame
    for value in ticks(*plot.picture.rates()):
        yield DrawnLine(((frame.left, plot.y(value)), (frame.right, plot.y(value))), "grid")
    for value in ticks(*plot.picture.range()):
        yield DrawnLine(((plot.x(value), frame.top), (plot.x(value), frame.bottom)), "grid")
    corners = ((frame.left, frame.top), (frame.left, frame.bottom), (frame.right, frame.bottom))
    yield DrawnLine(corners, "axis grid")


_DASHES = {"documented": "", "measured": "7 4", "target": "2 3", "counters": "12 3"}


def _roof_lines(plot: _Plot) -> Iterator[DrawnLine]:
    """Yield roofs, and under each ridge a line down to the axis."""
    for roof in plot.picture.roofs:
        over = "\n".join(filter(None, (f"{roof.name}: {roof.values}", roof.source)))
        thin = " thin" if roof.basis == "target" else ""
        yield DrawnLine(plot.path(roof), f"line {plot.group(roof.group)}{thin}", _DASHES[roof.basis], over)
    for roof in _ridged(plot):
        x = plot.x(roof.ridge)
        over = f"ridge of {roof.name}: {rounded(roof.ridge)} FLOP/B"
        yield DrawnLine(((x, plot.y(roof.peak)), (x, plot.frame.bottom)), "axis", "1 4", over)


def _ridged(plot: _Plot) -> list[DrawnRoof]:
    """Return one roof for each ridge: of those less than four pixels apart the first; targets have none."""
    roofs: list[DrawnRoof] = []
    for roof in plot.picture.roofs:
        x = plot.x(roof.ridge)
        if roof.basis != "target" and all(abs(plot.x(one.ridge) - x) >= 4 for one in roofs):
            roofs.append(roof)
    return roofs


def _drops(plot: _Plot, points: Iterable[Point]) -> Iterator[DrawnLine]:
    """Yield a line from what is attainable down to the axis: the work's own intensity."""
    for point in points:
        if point.kind == "attainable":
            x = plot.x(point.intensity)
            yield DrawnLine(
                ((x, plot.y(point.rate)), (x, plot.frame.bottom)), f"line thin {plot.group(point.group)}", "1 6"
            )


_SHAPES = ("dot", "square", "triangle", "diamond")


def _mark(plot: _Plot, point: Point) -> Mark:
    at = plot.picture.groups.index(point.group)
    shape = _SHAPES[at % len(_SHAPES)] if point.is_measured else "bar"
    over = "\n".join(filter(None, (f"{point.name}: {point.values}", point.source)))
    full = " full" if point.is_measured else ""
    return Mark(plot.x(point.intensity), plot.y(point.rate), shape, f"mark {plot.group(point.group)}{full}", over)


def _around(text: str, x: float, y: float) -> tuple[Spot, ...]:
    """Return the places around a mark, near ones first."""
    half = width_px(text) / 2
    spots = []
    for at, radius in enumerate(_RADII):
        for turn, (right, down) in enumerate(_ANGLES):
            shift = (half + radius * (1.0 if down == 0 else 0.7)) * right
            spots.append(
                Spot(x + shift, y + (radius + LINE_PX / 2) * down * (1.0 if right == 0 else 0.7), 10 * at + turn)
            )
    return tuple(spots)


def _point_labels(plot: _Plot, points: Iterable[Point]) -> Iterator[WantedLabel]:
    """Yield a label for each measured point: its name, else its number in the legend."""
    for number, one in enumerate((each for each in points if each.is_measured), 1):
        if number > _LABELLED:
            return
        x, y = plot.x(one.intensity), plot.y(one.rate)
        texts = (clipped(visible(one.name), _NAME_CHARS), str(number))
        yield WantedLabel(texts, tuple(_around(text, x, y) for text in texts), (x, y))


def _roof_labels(plot: _Plot) -> Iterator[WantedLabel]:
    """Yield the value at each flat part and each slope, a text once."""
    alone = len(plot.picture.groups) == 1
    seen: set[str] = set()
    for roof in plot.picture.roofs:
        if roof.basis == "target":
            continue
        own = roof.name.removeprefix(f"{roof.group} ") if alone else roof.name
        slope = (
            f"{si(roof.bandwidth, 'B/s')}"
            + ("" if alone else f" {roof.group}")
            + (" measured" if roof.basis == "measured" else "")
        )
        path = plot.path(roof)
        corner = path[1] if len(path) > 2 else path[0 if roof.ridge <= plot.picture.range()[0] else 1]
        for text, (start, end) in (
            (f"{si(roof.peak, 'FLOP/s')} {own}", (corner, path[-1])),
            (slope, (path[0], corner)),
        ):
            short = clipped(visible(text), _NAME_CHARS)
            if short not in seen and start != end:
                seen.add(short)
                yield WantedLabel(
                    (short,), (tuple(_beside(short, start, end)),), ((start[0] + end[0]) / 2, start[1]), "", math.inf
                )


def _beside(text: str, start: tuple[float, float], end: tuple[float, float]) -> Iterator[Spot]:
    """Yield places above and below a line: on a slope to its left and right."""
    half, is_flat = width_px(text) / 2, abs(start[1] - end[1]) < 1
    for at, part in enumerate(reversed(_ALONG)):
        x, y = start[0] + (end[0] - start[0]) * part, start[1] + (end[1] - start[1]) * part
        if is_flat:
            yield from (Spot(x, y - 9, at), Spot(x, y + 10, 8 + at), Spot(x, y - 23, 16 + at), Spot(x, y + 24, 24 + at))
        else:
            yield from (Spot(x - half - 8, y, at), Spot(x + half + 8, y + 4, 8 + at))


def _ridge_labels(plot: _Plot) -> Iterator[WantedLabel]:
    for roof in _ridged(plot):
        text = f"ridge {rounded(roof.ridge)} FLOP/B"
        x, half = plot.x(roof.ridge), width_px(text) / 2
        heights = [plot.frame.bottom - 10 - 15 * at for at in range(12)]
        spots = tuple(Spot(x + side * (half + 5), y, at) for at, y in enumerate(heights) for side in (1, -1))
        yield WantedLabel((text,), (spots,), (x, heights[0]), "quiet", math.inf)


def _legend(picture: Picture, points: tuple[Point, ...]) -> Iterator[str]:
    """Yield the rows below the plot: roofs, what is not drawn, points, each with its values and source."""
    rows = [_told(_LINES_OF[one.basis], one) for one in picture.roofs]
    more = len(picture.drawable) - len(points)
    rows += [f"not drawn: {more} more points"] if more else []
    rows += [_told("not drawn:", one) for one in picture.points if not one.is_drawable]
    rows += [_told(str(at), one) for at, one in enumerate((one for one in points if one.is_measured), 1)]
    rows += [_told("bar", one) for one in points if not one.is_measured]
    lines = [line for row in rows for line in _wrapped(visible(row))]
    yield from lines[:_LEGEND_ROWS]
    if len(lines) > _LEGEND_ROWS:
        yield f"and {len(lines) - _LEGEND_ROWS} more rows"


def _told(sign: str, one: DrawnRoof | Point) -> str:
    return f"{sign} {one.name}: {one.values}" + (f" ({one.source})" if one.source else "")


def _wrapped(text: str, most: int = 8) -> list[str]:
    """Return a text as lines that fit the paper, the second and later ones further in."""
    chars = int((_WIDTH - 24) / CHAR_PX)
    letters = chars if width_px(text) <= CHAR_PX * len(text) else chars // 2
    wrap = textwrap.TextWrapper(letters, subsequent_indent="    ", break_on_hyphens=False, max_lines=most)
    return wrap.wrap(text)


_LINES_OF = {"documented": "──", "measured": "- -", "target": "···", "counters": "—-"}
