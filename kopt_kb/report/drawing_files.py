"""A drawing as SVG, as PNG and as a page: sources are in all three."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from kopt_kb.base.files import write_new
from kopt_kb.base.markup.blocks import Cell, CellText, Figure, ReportPage, Section, TableBlock
from kopt_kb.base.markup.elements import Element, element
from kopt_kb.base.markup.html import page
from kopt_kb.base.markup.style import LIGHT, StyleSheet
from kopt_kb.base.markup.text import clipped, visible
from kopt_kb.report.drawing import Drawing, DrawnLine, Mark, drawn
from kopt_kb.report.picture import Picture, check_picture
from kopt_kb.report.terminal_plot import terminal

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["figure", "html_bytes", "picture_table", "png_bytes", "svg", "svg_bytes", "write_picture"]

_SOFTWARE = "kopt-kb"
_POINTS_PER_INCH = 72.0
_CENTRE_PX = 4.0
_NAME_CHARS = 160
_ROWS = 500
_BASES = {"target": "target", "counters": "roof by the profiler's counters"}


def svg(one: Drawing, *, alone: bool) -> Element:
    """Return a drawing as an element.

    Args:
        one: The drawing.
        alone: Whether it is a file of its own, with its own sheet, and not a part of a page.
    """
    lines = [
        element(
            "polyline", _over(each.over), points=_points(each), class_=each.classes, stroke_dasharray=each.dash or None
        )
        for each in one.lines
    ]
    led = [(each.lead, each.box) for each in one.labels if each.lead is not None]
    leads = [
        element(
            "line", x1=lead[0], y1=lead[1], x2=(box.left + box.right) / 2, y2=(box.top + box.bottom) / 2, class_="lead"
        )
        for lead, box in led
    ]  # fmt: skip
    boxes = [_ground(each.box.left, each.box.top, each.box.right, each.box.bottom) for each in one.labels]
    marks = [_mark(each) for each in one.marks]
    texts = [
        element("text", each.text, x=each.box.left, y=each.box.bottom - 3, class_=each.classes or None)
        for each in one.labels
    ]
    paper = element("rect", x=0, y=0, width=one.width, height=one.height, class_="paper") if alone else None
    return element(
        "svg", element("title", one.title), element("desc", "; ".join(one.sources) or "no source"),
        element("style", StyleSheet.PICTURE) if alone else None, paper, *lines, *leads, *boxes, *marks, *texts,
        xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {one.width:g} {one.height:g}", role="img",
        aria_label=one.title, width=one.width if alone else None, height=one.height if alone else None,
    )  # fmt: skip


def _ground(left: float, top: float, right: float, bottom: float) -> Element:
    return element("rect", x=left, y=top, width=right - left, height=bottom - top, class_="ground")


def _over(text: str) -> Element | None:
    return element("title", text) if text else None


def _points(line: DrawnLine) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in line.points)


_SHAPES = {
    "square": "{a},{c} {b},{c} {b},{d} {a},{d}",
    "triangle": "{a},{d} {b},{d} {x},{c}",
    "diamond": "{x},{c} {b},{y} {x},{d} {a},{y}",
}


def _mark(mark: Mark) -> Element:
    size = _CENTRE_PX
    if mark.shape == "dot":
        return element("circle", _over(mark.over), cx=mark.x, cy=mark.y, r=size, class_=mark.classes)
    if mark.shape == "bar":
        return element(
            "line", _over(mark.over), x1=mark.x - 9, x2=mark.x + 9, y1=mark.y, y2=mark.y, class_=mark.classes
        )
    corners = {"a": mark.x - size, "b": mark.x + size, "c": mark.y - size, "d": mark.y + size, "x": mark.x, "y": mark.y}
    shown = {name: f"{value:.1f}" for name, value in corners.items()}
    return element("polygon", _over(mark.over), points=_SHAPES[mark.shape].format(**shown), class_=mark.classes)


def svg_bytes(picture: Picture) -> bytes:
    """Return an SVG file: letters are text, hover texts and a description carry the sources."""
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{svg(drawn(picture), alone=True)}'.encode()


def figure(picture: Picture, caption: str) -> Figure:
    """Return a picture as a part of a report."""
    return Figure(svg(drawn(picture, legend=False), alone=False), terminal(picture, width=96), caption)


def picture_table(picture: Picture, *, letters: int = _NAME_CHARS, most: int = _ROWS) -> TableBlock:
    """Return roofs and points with their values and sources, as the legend of a picture."""
    rows: list[tuple[CellText, ...]] = []
    for roof in picture.roofs:
        cited = (roof.source,) if roof.source else ()
        rows.append((roof.name, _BASES.get(roof.basis, f"{roof.basis} roof"), Cell(roof.values, "", cited)))
    for point in picture.points:
        kind = point.kind if point.is_drawable else f"{point.kind}, not drawn"
        rows.append(
            (
                clipped(point.name, min(letters, _NAME_CHARS)),
                kind,
                Cell(point.values, clipped(point.source, 4 * letters)),
            )
        )
    left_out = len(rows) - most
    shown = (*rows[:most], *([(f"{left_out} more", "left out", "")] if left_out > 0 else []))
    return TableBlock("What is drawn", ("name", "what", "values"), shown)


def html_bytes(picture: Picture) -> bytes:
    """Return a page with the picture and a table of what is drawn."""
    shown = figure(
        picture, "Both axes are logarithmic. Dots are measured; bars are what roofs allow and targets ask for."
    )
    made = ReportPage(picture.title, (shown,), (Section("Values", (picture_table(picture),)),), _SOFTWARE)
    return page(made).encode()


def png_bytes(picture: Picture) -> bytes:
    """Return a PNG file of the same drawing; its metadata carry the sources.

    Raises:
        ImportError: matplotlib is not installed.
    """
    from matplotlib.figure import Figure as Canvas

    one = drawn(picture)
    canvas = Canvas(figsize=(one.width / _POINTS_PER_INCH, one.height / _POINTS_PER_INCH), dpi=2 * _POINTS_PER_INCH)
    axes = canvas.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, one.width), ylim=(one.height, 0))
    axes.axis("off")
    _paint(axes, one)
    out = io.BytesIO()
    told = {"Title": visible(one.title), "Description": visible("; ".join(one.sources)), "Software": _SOFTWARE}
    canvas.savefig(out, format="png", metadata=told)
    return out.getvalue()


_MARKERS = {"dot": "o", "square": "s", "triangle": "^", "diamond": "D", "bar": "_"}


def _paint(axes: Axes, drawing: Drawing) -> None:
    """Paint a drawing; a pixel of it is a point of the file."""
    for line in drawing.lines:
        xs, ys = zip(*line.points, strict=True)
        dash = (0, tuple(map(float, line.dash.split()))) if line.dash else "-"
        axes.plot(xs, ys, color=_colour(line.classes), linestyle=dash, linewidth=1.0 if "grid" in line.classes else 1.8)
    for mark in drawing.marks:
        axes.plot(
            mark.x,
            mark.y,
            _MARKERS[mark.shape],
            color=_colour(mark.classes),
            markersize=18 if mark.shape == "bar" else 8,
        )
    for label in drawing.labels:
        x, y = label.box.left, (label.box.top + label.box.bottom) / 2
        if label.lead is not None:
            axes.plot((label.lead[0], x), (label.lead[1], y), color=LIGHT["quiet"], linewidth=1.0)
        colour = LIGHT["quiet"] if "quiet" in label.classes else LIGHT["text"]
        axes.text(
            x, y, label.text, color=colour, fontsize=11, family="monospace", va="center_baseline", parse_math=False
        )


def _colour(classes: str) -> str:
    """Return the colour of a class on white."""
    words = classes.split()
    group = next((word for word in words if word.startswith("group")), "")
    return LIGHT[group] if group else LIGHT["rule"] if "grid" in words else LIGHT["quiet"]


_MAKERS: Mapping[str, Callable[[Picture], bytes]] = {".svg": svg_bytes, ".png": png_bytes, ".html": html_bytes}


def write_picture(picture: Picture, path: Path) -> None:
    """Write the picture: `.svg` and `.png` as drawings, `.html` as one page; only `.png` needs an extra.

    Raises:
        BadInput: As `check_picture`, or the system refuses.
        MissingTool: The plotting library is not installed.
    """
    check_picture(path)
    write_new(path, _MAKERS[path.suffix](picture))
