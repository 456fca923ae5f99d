"""A drawing as SVG, as PNG and as a page: sources are in all three."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kopt_kb.base.files import write_new
from kopt_kb.base.markup.blocks import Cell, CellText, Figure, ReportPage, Section, TableBlock
from kopt_kb.base.markup.elements import Element, element
from kopt_kb.base.markup.html import page
from kopt_kb.base.markup.style import LIGHT, StyleSheet
from kopt_kb.base.markup.text import clipped, visible
from kopt_kb.report.drawing import Drawing, drawn
from kopt_kb.report.labels import Placed
from kopt_kb.report.marks import DrawnLine
from kopt_kb.report.picture import Picture, check_picture
from kopt_kb.report.terminal_plot import terminal
from kopt_kb.report.text_width import FONT_PX, TITLE_PX

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["figure", "html_bytes", "picture_table", "png_bytes", "svg", "svg_bytes", "write_picture"]

_SOFTWARE = "kopt-kb"
_POINTS_PER_INCH = 72.0
_SHOWN_PX = 600.0
"""A file of its own is shown as wide where there is room: its text has then the size of a page's."""
_BASE = 0.26
"""Part of the height of a text that is below its base line."""
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
        element("polyline", _over(each.over), points=_points(each.points), class_=each.classes,
                stroke_dasharray=each.dash or None)
        for each in one.lines
    ]  # fmt: skip
    leads = [element("polyline", points=_points((each.lead[:2], each.lead[2:])), class_="line drop")
             for each in one.labels if each.lead is not None]  # fmt: skip
    marks = [element("polygon", _over(each.over), points=_points(each.corners), class_=each.classes)
             for each in one.marks]  # fmt: skip
    size = (_SHOWN_PX, one.height * _SHOWN_PX / one.width) if alone else (None, None)
    paper = element("rect", x=0, y=0, width=one.width, height=one.height, class_="paper") if alone else None
    return element(
        "svg", element("title", one.title), element("desc", one.told),
        element("style", StyleSheet.PICTURE) if alone else None, paper, *lines, *leads, *marks, *map(_text, one.labels),
        xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {one.width:g} {one.height:g}", role="img",
        aria_label=one.title, width=size[0], height=size[1],
    )  # fmt: skip


def _text(label: Placed) -> Element:
    over = f"{label.text}\n{label.over}" if label.text not in label.over else label.over
    classes = " ".join(filter(None, (label.classes, "" if label.anchor == "start" else label.anchor)))
    x, y = _place(label)
    return element("text", label.text, _over(over if label.over else ""), x=x, y=y, class_=classes or None)


def _place(label: Placed) -> tuple[float, float]:
    """Return where a text begins, is centred or ends, and its base line."""
    box = label.box
    x = {"start": box.left, "middle": (box.left + box.right) / 2, "end": box.right}[label.anchor]
    return x, box.bottom - (box.bottom - box.top) * _BASE


def _over(text: str) -> Element | None:
    return element("title", text) if text else None


def _points(places: Sequence[Sequence[float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)


def svg_bytes(picture: Picture) -> bytes:
    """Return an SVG file: letters are text, hover texts and a description carry the sources."""
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{svg(drawn(picture), alone=True)}'.encode()


def figure(picture: Picture, caption: str) -> Figure:
    """Return a picture as a part of a report."""
    return Figure(svg(drawn(picture, titled=False), alone=False), terminal(picture, width=96), caption)


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
        picture, "Both axes are logarithmic. Marks are measured, bars are what roofs allow, dotted lines are targets."
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
    canvas = Canvas(figsize=(one.width / _POINTS_PER_INCH, one.height / _POINTS_PER_INCH), dpi=3 * _POINTS_PER_INCH)
    axes = canvas.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, one.width), ylim=(one.height, 0))
    axes.axis("off")
    _paint(axes, one)
    out = io.BytesIO()
    told = {"Title": visible(one.title), "Description": visible(one.told), "Software": _SOFTWARE}
    canvas.savefig(out, format="png", metadata=told)
    return out.getvalue()


def _paint(axes: Axes, drawing: Drawing) -> None:
    """Paint a drawing; a pixel of it is a point of the file."""
    led = [DrawnLine((each.lead[:2], each.lead[2:]), "drop") for each in drawing.labels if each.lead is not None]
    for line in (*drawing.lines, *led):
        xs, ys = zip(*line.points, strict=True)
        dash = (0, tuple(map(float, line.dash.split()))) if line.dash else "-"
        bold = line.classes.startswith("line") and not {"thin", "drop"} & set(line.classes.split())
        axes.plot(xs, ys, color=_colour(line.classes), linestyle=dash, linewidth=2 if bold else 1, clip_on=False)
    for mark in drawing.marks:
        face, edge = _colour(mark.classes), LIGHT["ground"]
        face, edge = (edge, face) if "open" in mark.classes.split() else (face, edge)
        axes.fill(*zip(*mark.corners, strict=True), facecolor=face, edgecolor=edge, linewidth=1.2, zorder=3)
    for label in drawing.labels:
        words = label.classes.split()
        halo = {"facecolor": LIGHT["ground"], "alpha": 0.8, "linewidth": 0, "pad": 0.5} if "over" in words else None
        axes.text(
            *_place(label), label.text, color=LIGHT["quiet"] if "quiet" in words else LIGHT["text"],
            fontsize=TITLE_PX if "title" in words else FONT_PX, family="DejaVu Sans", parse_math=False,
            weight="bold" if {"title", "number"} & set(words) else "normal", va="baseline", zorder=4,
            ha=_ALIGNED[label.anchor], bbox=halo,
        )  # fmt: skip


_ALIGNED = {"start": "left", "middle": "center", "end": "right"}


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
