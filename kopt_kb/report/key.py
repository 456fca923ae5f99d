"""The key below a plot: what lines and marks mean, and the numbers of roofs and points in columns."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kopt_kb.base.markup.style import GROUPS
from kopt_kb.base.markup.text import visible
from kopt_kb.quantity.readable import rounded, si
from kopt_kb.report.labels import Box, Placed
from kopt_kb.report.marks import DrawnLine, Mark, series_shape
from kopt_kb.report.picture import DrawnRoof, Picture, Point
from kopt_kb.report.text_width import LINE_PX, shortened, width_px

__all__ = ["LaidKey", "PointEntry", "Style", "laid_key", "point_entries", "point_text", "roof_text"]

_EDGE, _SAMPLE, _NAME, _GAP = 12.0, 32.0, 54.0, 14.0
_ROW = LINE_PX + 2
_ROWS = 80
"""So many kernels, products and roofs have a row; the table of a page has all."""
_BASES = {"documented": "documented", "measured": "measured", "target": "target", "counters": "the profiler's own"}
_DASHES = {"documented": "", "measured": "7 3", "target": "1.5 3", "counters": "10 3 2 3"}
_OWNERS = ("", "8 3", "1.5 3", "6 2 2 2", "12 3", "3 2", "9 2 2 2 2 2")


@dataclass(frozen=True, slots=True)
class Style:
    """How the lines and marks of a picture look: colour and shape by series, the kind of line by what it says."""

    picture: Picture

    def colour(self, one: DrawnRoof | Point) -> str:
        """Return the class of a colour."""
        return f"group{self.picture.series.index(one.series) % GROUPS}"

    def shape(self, one: DrawnRoof | Point) -> str:
        """Return the shape of a series."""
        return series_shape(self.picture.series.index(one.series))

    def dash(self, roof: DrawnRoof) -> str:
        """Return the kind of line: by basis, or by owner where colours are of levels."""
        if not self.picture.has_levels or roof.basis == "counters":
            return _DASHES[roof.basis]
        owners = list(dict.fromkeys(one.group for one in self.picture.roofs if one.basis != "counters"))
        return _OWNERS[owners.index(roof.group) % len(_OWNERS)]


@dataclass(frozen=True, slots=True)
class PointEntry:
    """Points that share a label: a kernel at each level of memory, else one measurement."""

    points: tuple[Point, ...]
    number: str

    @property
    def name(self) -> str:
        """What tells it from the others; the title says what they share."""
        return self.points[0].label or self.points[0].name


def point_entries(points: Iterable[Point]) -> list[PointEntry]:
    """Return measured points with their numbers, those of one kernel at several levels together."""
    measured = [one for one in points if one.is_measured]
    keys = [(one.label, one.rate) if one.level else at for at, one in enumerate(measured)]
    runs = itertools.groupby(zip(keys, measured, strict=True), key=lambda each: each[0])
    return [PointEntry(tuple(one for _, one in run), str(at)) for at, (_, run) in enumerate(runs, 1)]


@dataclass(frozen=True, slots=True)
class KeyRow:
    """One row: a sample, a name, a number of each column; a row without a colour is a heading."""

    cells: tuple[str, str, str]
    colour: str = ""
    dash: str | None = None
    shape: str = ""
    number: str = ""
    over: str = ""


@dataclass(frozen=True, slots=True)
class LaidKey:
    """The key in its place."""

    lines: tuple[DrawnLine, ...]
    marks: tuple[Mark, ...]
    labels: tuple[Placed, ...]
    bottom: float


def laid_key(picture: Picture, entries: Sequence[PointEntry], top: float, width: float) -> LaidKey:
    """Return the key of a picture.

    Args:
        picture: What is drawn.
        entries: Its measured points.
        top: Where the key begins, in pixels.
        width: Of the paper.
    """
    lines: list[DrawnLine] = []
    marks: list[Mark] = []
    labels: list[Placed] = []
    y = top
    if not picture.has_levels:
        y = _signs(picture, y, width, (lines, marks, labels))
    for rows in (list(_roofs(picture, entries)), list(_points(picture, entries))):
        for row in rows:
            labels += _texts(row, rows, y, width)
            if row.dash is not None:
                ends = ((_EDGE, y + _ROW / 2), (_EDGE + _SAMPLE, y + _ROW / 2))
                lines.append(DrawnLine(ends, f"line {row.colour}", row.dash, row.over))
            if row.shape:
                x = _EDGE + (_SAMPLE / 2 if row.dash is not None else 9)
                full = "" if row.dash is None else " open"
                marks.append(Mark(x, y + _ROW / 2, row.shape, f"mark {row.colour}{full}", row.over))
            y += _ROW
        y += _GAP / 2
    return LaidKey(tuple(lines), tuple(marks), tuple(labels), y)


def _signs(picture: Picture, y: float, width: float, onto: tuple[list[DrawnLine], list[Mark], list[Placed]]) -> float:
    """Lay out what kinds of lines and bars mean, in as many rows as it takes; return where the rest begins."""
    lines, marks, labels = onto
    kinds = {point.kind for point in picture.drawable}
    signs: list[tuple[str, str]] = [("line", one) for one in dict.fromkeys(roof.basis for roof in picture.roofs)]
    signs += [("bar", "attainable here")] if "attainable" in kinds else []
    if len(signs) < 2:
        return y
    x = _EDGE
    for sign, word in signs:
        text = f"{_BASES[word]} roof" if word in _BASES and word != "target" else word
        if x + _SAMPLE + 6 + width_px(text) > width - _EDGE:
            x, y = _EDGE, y + _ROW
        if sign == "line":
            ends = ((x, y + _ROW / 2), (x + _SAMPLE - 4, y + _ROW / 2))
            lines.append(DrawnLine(ends, "line neutral", _DASHES[word]))
        else:
            marks.append(Mark(x + 12, y + _ROW / 2, sign, "mark neutral"))
        labels.append(_at_left(text, x + _SAMPLE + 2, y, "quiet"))
        x += _SAMPLE + width_px(text) + _GAP
    return y + _ROW + _GAP / 2


def _at_left(text: str, left: float, y: float, classes: str, over: str = "") -> Placed:
    return Placed(text, _box(left, left + width_px(text), y), classes, over=over)


def _box(left: float, right: float, y: float) -> Box:
    return Box(left, y + (_ROW - LINE_PX) / 2, right, y + (_ROW + LINE_PX) / 2)


def _texts(row: KeyRow, rows: Sequence[KeyRow], y: float, width: float) -> Iterator[Placed]:
    """Yield the words of a row; columns are as wide as their widest number, the name has the rest."""
    is_head = not row.colour
    classes = "quiet" if is_head else ""
    end = width - _EDGE
    for at in (2, 1):
        wide = max(width_px(one.cells[at]) for one in rows)
        if row.cells[at]:
            yield Placed(row.cells[at], _box(end - width_px(row.cells[at]), end, y), classes, "end")
        end -= wide + (_GAP if wide else 0)
    if row.number:
        right = _EDGE + _SAMPLE + 4
        yield Placed(row.number, _box(right - width_px(row.number), right, y), "number", "end")
    left = _EDGE if is_head else _NAME
    yield _at_left(shortened(visible(row.cells[0]), end - left), left, y, classes, row.over)


def _roofs(picture: Picture, entries: Sequence[PointEntry]) -> Iterator[KeyRow]:
    """Yield a row for each roof; where levels share flat parts, one for each slope and one for each flat part."""
    style = Style(picture)
    shown = [one for one in picture.roofs if one.basis != "target"]
    engines = dict.fromkeys(one.engine for one in shown)
    alone = next(iter(engines)) if len(engines) == 1 and not picture.has_levels else ""
    yield KeyRow(("Roofs", "memory", alone or "compute"))
    rows: Iterable[KeyRow]
    if picture.has_levels:
        rows = _parts(shown, style, [point for one in entries for point in one.points])
    else:
        several = len(picture.series) > 1
        rows = (
            KeyRow(
                (one.group if alone and one.group else one.name.removesuffix(", measured"),
                 si(one.bandwidth, "B/s"), si(one.peak, "FLOP/s")),
                style.colour(one), style.dash(one),
                style.shape(one) if several else "", over=roof_text(one),
            )
            for one in shown
        )  # fmt: skip
    yield from _cut(list(rows), "roofs")


def _parts(roofs: Sequence[DrawnRoof], style: Style, points: Sequence[Point]) -> Iterator[KeyRow]:
    """Yield slopes by level and owner, then flat parts by engine and owner."""
    slopes: Mapping[object, DrawnRoof] = {(one.level, one.group, one.bandwidth): one for one in reversed(roofs)}
    for one in reversed(list(slopes.values())):
        cells = (f"{one.group} {one.level}", si(one.bandwidth, "B/s"), "")
        yield KeyRow(cells, style.colour(one), style.dash(one), style.shape(one), over=roof_text(one))
    known = {one.level for one in roofs}
    for point in {one.level: one for one in points if one.level not in known}.values():
        yield KeyRow((f"{point.level}, no roof known", "", ""), style.colour(point), None, style.shape(point))
    flats: Mapping[object, DrawnRoof] = {(one.engine, one.group, one.peak): one for one in reversed(roofs)}
    for one in reversed(list(flats.values())):
        cells = (f"{one.group} {one.engine}", "", si(one.peak, "FLOP/s"))
        yield KeyRow(cells, "neutral", style.dash(one), over=roof_text(one))


def _points(picture: Picture, entries: Sequence[PointEntry]) -> Iterator[KeyRow]:
    style = Style(picture)
    level = entries[0].points[0].level if entries else ""
    if entries:
        more = "" if any(len(one.points) > 1 for one in entries) or not level else f", at {level}"
        yield KeyRow((f"{len(entries)} measured{more}", f"FLOP/byte{', ' if level else ''}{level}", "performance"))
    rows = []
    for entry in entries:
        one = entry.points[0]
        cells = (entry.name, rounded(one.intensity), si(one.rate, "FLOP/s"))
        shape = "" if one.level else style.shape(one)
        over = "\n".join(point_text(each) for each in entry.points)
        rows.append(KeyRow(cells, style.colour(one), None, shape, entry.number, over))
    yield from _cut(rows, "measurements")
    absent = [one for one in picture.points if not one.is_drawable]
    if absent:
        yield KeyRow((f"not drawn, no place on the axes: {', '.join(one.name for one in absent)}", "", ""))


def _cut(rows: list[KeyRow], what: str) -> Iterator[KeyRow]:
    yield from rows[:_ROWS]
    if len(rows) > _ROWS:
        yield KeyRow((f"and {len(rows) - _ROWS} more {what}", "", ""))


def roof_text(roof: DrawnRoof) -> str:
    """Return what stands over a roof: its values, its ridge, its sources."""
    values = f"{roof.name}: {roof.values}, ridge {rounded(roof.ridge)} FLOP/B"
    return "\n".join(filter(None, (values, roof.source)))


def point_text(point: Point) -> str:
    """Return what stands over a point: its values and its source."""
    return "\n".join(filter(None, (f"{point.name}: {point.values}", point.source)))
