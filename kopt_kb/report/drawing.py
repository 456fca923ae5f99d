"""A picture of a roofline laid out in pixels: lines, marks and words, the same for SVG, PNG and HTML.

The canvas is as narrow as a phone, so that its text can be read there and has the size of the words around it on a
desk. Series differ in colour and in shape, what a line says in its dashes; sources stand over what is pointed at.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kopt_kb.base.markup.text import visible
from kopt_kb.quantity.readable import rounded, si
from kopt_kb.report.axes import AXES, Plot
from kopt_kb.report.key import PointEntry, Style, laid_key, point_entries, point_text, roof_text
from kopt_kb.report.labels import Box, Placed, Segment, Spot, TextAnchor, WantedLabel, place
from kopt_kb.report.marks import DrawnLine, Mark
from kopt_kb.report.picture import DrawnRoof, Picture, Point
from kopt_kb.report.text_width import LINE_PX, TITLE_PX, lines_of, shortened, width_px

__all__ = ["Drawing", "drawn"]

_WIDTH, _PLOT_HEIGHT = 480.0, 310.0
_LEFT, _RIGHT, _EDGE = 58.0, 14.0, 12.0
_TITLE_LINE, _TITLE_LINES = 20.0, 3
_NAMED = 4
"""Up to so many measurements have their names in the plot, as far as all of them find a place; more have numbers."""
_NAME_PX = 150.0
_LABELLED = 80
_CROWD, _CROWD_HEIGHT = 30, 120.0
"""More kernels than these are drawn at the first level of memory alone, in a plot that is higher."""
_SIZE, _SMALL = 4.5, 3.2
"""Half the width of marks, and of those of further levels of memory."""
_DRAWN = 400
"""So many points are drawn at all."""
_ROOF_LABELS = 4
_ANGLES = ((1, 0), (1, -1), (1, 1), (-1, 0), (-1, -1), (-1, 1), (0, -1), (0, 1))
_RADII = (8.0, 15.0, 26.0, 38.0, 52.0, 70.0, 92.0, 120.0)
_ALONG = tuple(at / 24 for at in range(23, 0, -1))


@dataclass(frozen=True, slots=True)
class Drawing:
    """What is to be drawn, in pixels from the top left.

    Attributes:
        told: What is drawn, for those who can't see it, with where roofs and measurements come from.
        labels: All texts with the boxes that they stay in: no two of them overlap.
        unplaced: Labels that found no place in the plot; the key has them.
    """

    title: str
    told: str
    width: float
    height: float
    lines: tuple[DrawnLine, ...]
    marks: tuple[Mark, ...]
    labels: tuple[Placed, ...]
    unplaced: tuple[str, ...]


def drawn(picture: Picture, *, titled: bool = True) -> Drawing:
    """Return a picture laid out, with its title or under that of a page."""
    titles = lines_of(visible(picture.title), _WIDTH - 2 * _EDGE, _TITLE_LINES) if titled else []
    top = _EDGE + _TITLE_LINE * len(titles) + LINE_PX + 8
    points = sorted(picture.drawable, key=lambda one: not one.is_measured)
    entries = point_entries(points)
    if len(entries) > _CROWD:
        points = [one for one in points if not one.level or one.level == points[0].level][:_DRAWN]
        entries = point_entries(points)
    height = _PLOT_HEIGHT + (_CROWD_HEIGHT if len(entries) > _CROWD else 0)
    plot = Plot(picture, Box(_LEFT, top, _WIDTH - _RIGHT, top + height))
    roofs = list(_roof_lines(plot))
    joined = list(_joined(plot, entries))
    marks = [*_ridge_marks(plot), *(_mark(plot, one) for one in reversed(points) if one.kind != "target")]
    placed, unplaced, entries = _labels(plot, entries, marks, [*roofs, *joined])
    key = laid_key(picture, entries, plot.frame.bottom + LINE_PX * 2 + 22, _WIDTH)
    heads = [_title(text, _EDGE + _TITLE_LINE * at) for at, text in enumerate(titles)]
    return Drawing(
        picture.title, _told(picture), _WIDTH, key.bottom + 4,
        (*plot.grid(), *roofs, *_drops(plot, points), *joined, *key.lines),
        (*marks, *key.marks), (*heads, *plot.words(), *placed, *key.labels), tuple(unplaced),
    )  # fmt: skip


def _title(text: str, y: float) -> Placed:
    width = width_px(text, TITLE_PX, bold=True)
    return Placed(text, Box(_EDGE, y, _EDGE + width, y + _TITLE_LINE), "title")


def _told(picture: Picture) -> str:
    """Return the picture in words."""
    across, up = AXES
    rows = [f"{up} over {across}, both logarithmic."]
    rows += [roof_text(one).replace("\n", " (") + (")" if one.source else "") for one in picture.roofs]
    rows += [point_text(one).replace("\n", " (") + (")" if one.source else "") for one in picture.points[:_LABELLED]]
    return "\n".join(rows)


def _labels(
    plot: Plot, entries: list[PointEntry], marks: Sequence[Mark], lines: Sequence[DrawnLine]
) -> tuple[list[Placed], list[str], list[PointEntry]]:
    """Return the words in the plot: names where they are few and find a place, else numbers that the key explains."""
    taken = [Box(one.x - 5.5, one.y - 5.5, one.x + 5.5, one.y + 5.5) for one in marks]
    segments: list[Segment] = [(*a, *b) for line in lines for a, b in itertools.pairwise(line.points)]
    roofs, ridges = list(_roof_labels(plot)), list(_ridge_labels(plot))
    if len(entries) <= _NAMED:
        names = [shortened(visible(one.points[0].label or one.points[0].name), _NAME_PX) for one in entries]
        wanted = [_around(plot, text, one) for text, one in zip(names, entries, strict=True)]
        placed, unplaced = place([*roofs, *wanted, *ridges], plot.frame, taken, segments)
        if len(set(names)) == len(names) and not set(unplaced) & set(names):
            return placed, unplaced, [PointEntry(one.points, "") for one in entries]
    numbers = [_around(plot, one.number, one) for one in entries[:_LABELLED]]
    placed, unplaced = place([*roofs, *numbers, *ridges], plot.frame, taken, segments)
    return placed, unplaced, entries


def _roof_lines(plot: Plot) -> Iterator[DrawnLine]:
    """Yield roofs; where levels of memory share flat parts, slopes have their colours and flat parts none."""
    style = Style(plot.picture)
    if not plot.picture.has_levels:
        for roof in reversed(plot.picture.roofs):
            thin = " thin" if roof.basis == "target" else ""
            yield DrawnLine(plot.path(roof), f"line {style.colour(roof)}{thin}", style.dash(roof), roof_text(roof))
        return
    slopes = {(one.level, one.group): one for one in sorted(plot.picture.roofs, key=lambda one: one.ridge)}
    flats = {(one.engine, one.group): one for one in sorted(plot.picture.roofs, key=lambda one: -one.ridge)}
    for roof in flats.values():
        yield DrawnLine(plot.path(roof)[1:], "line neutral", style.dash(roof), roof_text(roof))
    for roof in slopes.values():
        yield DrawnLine(plot.path(roof)[:2], f"line {style.colour(roof)}", style.dash(roof), roof_text(roof))


def _ridge_marks(plot: Plot) -> Iterator[Mark]:
    """Yield the shape of each product at its ridges, for whom colours are not enough."""
    style = Style(plot.picture)
    if plot.picture.has_levels or len(plot.picture.series) < 2:
        return
    for roof in plot.picture.roofs:
        if roof.basis != "target":
            x, y = plot.path(roof)[1]
            yield Mark(x, y, style.shape(roof), f"mark open {style.colour(roof)}", roof_text(roof), 4.0)


def _drops(plot: Plot, points: Sequence[Point]) -> Iterator[DrawnLine]:
    """Yield a line down to the axis from what is attainable, and from the ridge of a product that is alone."""
    for x, y in dict.fromkeys((plot.x(one.intensity), plot.y(one.rate)) for one in points if one.kind == "attainable"):
        yield DrawnLine(((x, y), (x, plot.frame.bottom)), "line drop", "2 4")
    for roof in _ridged(plot):
        yield DrawnLine((plot.path(roof)[1], (plot.x(roof.ridge), plot.frame.bottom)), "line drop", "2 4")


def _joined(plot: Plot, entries: Sequence[PointEntry]) -> Iterator[DrawnLine]:
    """Yield a line through the points of a kernel: levels of memory move it aside, its rate is one."""
    for entry in entries:
        xs = [plot.x(one.intensity) for one in entry.points]
        if len(xs) > 1:
            y = plot.y(entry.points[0].rate)
            yield DrawnLine(((min(xs), y), (max(xs), y)), "line drop")


def _ridged(plot: Plot) -> list[DrawnRoof]:
    """Return the documented roofs of a single product, those whose ridges are less than ten pixels apart once."""
    roofs: list[DrawnRoof] = []
    if not plot.picture.has_levels and len(plot.picture.series) == 1:
        for roof in plot.picture.roofs:
            x = plot.x(roof.ridge)
            if roof.basis == "documented" and all(abs(plot.x(one.ridge) - x) >= 10 for one in roofs):
                roofs.append(roof)
    return roofs


def _mark(plot: Plot, point: Point) -> Mark:
    style = Style(plot.picture)
    shape = style.shape(point) if point.is_measured else "bar"
    size = _SMALL if point.level and point.level != plot.picture.points[0].level else _SIZE
    x, y = plot.x(point.intensity), plot.y(point.rate)
    return Mark(x, y, shape, f"mark {style.colour(point)}", point_text(point), size)


def _around(plot: Plot, text: str, entry: PointEntry) -> WantedLabel:
    """Return a label with the places around its mark, near ones first."""
    one = entry.points[0]
    x, y, half = plot.x(one.intensity), plot.y(one.rate), width_px(text) / 2
    spots = []
    for at, radius in enumerate(_RADII):
        for turn, (right, down) in enumerate(_ANGLES):
            across = (half + radius * (1.0 if down == 0 else 0.7)) * right
            along = (radius + LINE_PX / 2) * down * (1.0 if right == 0 else 0.7)
            side: TextAnchor = "start" if right > 0 else "end" if right < 0 else "middle"
            spots.append(Spot(x + across, y + along, 10 * at + turn, side))
    return WantedLabel(text, tuple(spots), (x, y), "over")


def _roof_labels(plot: Plot) -> Iterator[WantedLabel]:
    """Yield what a roof is beside it: values of a product that is alone, else names; none where there are many."""
    picture = plot.picture
    if not picture.has_levels and len(picture.series) > _ROOF_LABELS:
        return
    seen: set[str] = set()
    for roof in picture.roofs:
        if roof.basis not in {"documented", "counters"} or (
            picture.has_levels and roof.group != picture.roofs[0].group
        ):
            continue
        if picture.has_levels:
            texts = (roof.engine, roof.level)
        elif len(picture.series) > 1:
            texts = (roof.group, "")
        else:
            texts = (si(roof.peak, "FLOP/s"), si(roof.bandwidth, "B/s"))
        start, ridge, end = plot.path(roof)
        for text, (low, high) in zip(texts, ((ridge, end), (start, ridge)), strict=True):
            if text and text not in seen and low[0] < high[0]:
                seen.add(text)
                short = shortened(visible(text), _NAME_PX)
                yield WantedLabel(short, tuple(_beside(short, low, high)), low, "over", float("inf"))


def _beside(text: str, start: tuple[float, float], end: tuple[float, float]) -> Iterator[Spot]:
    """Yield places above and below a line: on a slope to its left and right."""
    half, is_flat = width_px(text) / 2, abs(start[1] - end[1]) < 1
    for at, part in enumerate(_ALONG):
        x, y = start[0] + (end[0] - start[0]) * part, start[1] + (end[1] - start[1]) * part
        if is_flat:
            x = min(x, end[0] - half)
            yield from (Spot(x, y - 11, at, "end"), Spot(x, y + 12, 8 + at, "end"))
        else:
            yield from (Spot(x - half - 9, y - 2, at, "end"), Spot(x + half + 9, y + 4, 8 + at, "start"))


def _ridge_labels(plot: Plot) -> Iterator[WantedLabel]:
    for roof in _ridged(plot):
        text = f"ridge {rounded(roof.ridge)} FLOP/byte"
        x, half = plot.x(roof.ridge), width_px(text) / 2
        heights = [plot.frame.bottom - 12 - LINE_PX * at for at in range(12)]
        sides: tuple[tuple[int, TextAnchor], ...] = ((1, "start"), (-1, "end"))
        spots = tuple(Spot(x + side * (half + 5), y, at, by) for at, y in enumerate(heights) for side, by in sides)
        yield WantedLabel(text, spots, (x, heights[0]), "quiet over", float("inf"))
