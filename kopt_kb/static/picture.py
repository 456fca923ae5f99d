"""Pictures of rooflines: in the terminal, as SVG or PNG, as one self-contained HTML file with hover."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kopt_kb.analysis.roofline.ceilings import compute_ceiling, memory_ceiling
from kopt_kb.analysis.roofline.roofline import Roofline
from kopt_kb.errors import BadInput, MissingTool
from kopt_kb.quantity.quantity import Quantity
from kopt_kb.wiki.registry import Platform

__all__ = ["Picture", "Point", "Roof", "picture_of", "roofs_of", "terminal", "write_picture"]

_MARGIN = 4.0
_EDGES = (0.01, 10000.0)
_SAMPLES = 64


@dataclass(frozen=True, slots=True)
class Roof:
    """One roof: a slope of bandwidth up to a flat peak.

    Attributes:
        name: Platform and dtype, such as `H20 bf16 matrix`.
        bandwidth: Bytes a second of the slope.
        peak: Operations a second of the flat part.
        source: Citations of both, for the hover text.
    """

    name: str
    bandwidth: float
    peak: float
    source: str

    @property
    def ridge(self) -> float:
        """Operations a byte where slope and peak meet."""
        return self.peak / self.bandwidth

    def at(self, intensity: float) -> float:
        """Return the attainable rate at an intensity."""
        return min(self.peak, self.bandwidth * intensity)


@dataclass(frozen=True, slots=True)
class Point:
    """One kernel: attainable (on the roof) or measured."""

    name: str
    intensity: float
    rate: float
    is_measured: bool


@dataclass(frozen=True, slots=True)
class Picture:
    """What is drawn."""

    title: str
    roofs: tuple[Roof, ...]
    points: tuple[Point, ...]

    def range(self) -> tuple[float, float]:
        """Return the intensities to draw, from left of the leftmost thing to right of the rightmost."""
        places = [roof.ridge for roof in self.roofs] + [point.intensity for point in self.points]
        return max(min(places) / _MARGIN**2, _EDGES[0]), min(max(places) * _MARGIN**2, _EDGES[1])

    def samples(self) -> list[float]:
        """Return intensities evenly spaced on a logarithmic axis, ridges included."""
        low, high = self.range()
        steps = [low * (high / low) ** (at / (_SAMPLES - 1)) for at in range(_SAMPLES)]
        return sorted([*steps, *(roof.ridge for roof in self.roofs if low < roof.ridge < high)])


def _where(*values: Quantity) -> str:
    return "; ".join(str(one.citations()[0]) for one in values if one.citations())


def roofs_of(platform: Platform, kinds: Sequence[tuple[str, str]], footprint_bytes: int = 1 << 30) -> list[Roof]:
    """Return the roofs of a platform for (dtype, engine) pairs; a pair whose roof is UNKNOWN is left out."""
    memory = memory_ceiling(platform, "copy", footprint_bytes)
    found = []
    for dtype, engine in kinds:
        peak = compute_ceiling(platform, dtype, engine)
        for basis in ("documented", "measured"):
            slope, flat = getattr(memory, basis), getattr(peak, basis)
            if isinstance(slope, Quantity) and isinstance(flat, Quantity):
                name = f"{platform.id} {peak.name}" + (", measured" if basis == "measured" else "")
                found.append(Roof(name, slope.value_si, flat.value_si, _where(slope, flat)))
    return found


def picture_of(
    title: str, platforms: Sequence[Platform], rooflines: Sequence[Roofline], measured_s: Sequence[float | None] = ()
) -> Picture:
    """Return the picture of some work on one or more platforms.

    Args:
        title: Heading.
        platforms: Whose roofs are drawn, for the types the work uses.
        rooflines: The work, one a shape; its points stand on their own platform's roof.
        measured_s: Median seconds of each, in order, where there are any: drawn below the roof.

    Raises:
        BadInput: No roof is known.
    """
    kinds = list(dict.fromkeys((flop.dtype, flop.engine) for one in rooflines for flop in one.work.flops))
    roofs = [roof for platform in platforms for roof in roofs_of(platform, kinds)]
    if not roofs:
        names = ", ".join(platform.id for platform in platforms)
        raise BadInput(
            f"no roof of {names} is known for this work",
            fix="`kb roofline` without a picture names the rows",
            code="KB047",
        )
    points = []
    for at, one in enumerate(rooflines):
        name = " ".join(filter(None, (one.platform, one.work.op, "x".join(map(str, one.work.shape)))))
        attainable = one.attainable.get("measured", one.attainable["documented"])
        if isinstance(attainable, Quantity):
            points.append(Point(name, one.intensity.value_si, attainable.value_si, is_measured=False))
        seconds = measured_s[at] if at < len(measured_s) else None
        if seconds:
            total = sum(flop.useful.value for flop in one.work.flops)
            points.append(Point(f"{name}, measured", one.intensity.value_si, total / seconds, is_measured=True))
    return Picture(title, tuple(roofs), tuple(points))


_ROOF_MARKS = '*+=~:.^"'


def terminal(picture: Picture, *, width: int = 96, height: int = 24) -> str:
    """Return the picture as text: both axes logarithmic, a mark for each roof, o attainable, x measured."""
    low, high = picture.range()
    xs = [low * (high / low) ** (at / (width - 1)) for at in range(width)]
    rates = [roof.at(x) for roof in picture.roofs for x in (low, high)] + [point.rate for point in picture.points]
    bottom, top = min(rates) / 2, max(rates) * 2
    grid = [[" "] * width for _ in range(height)]

    def put(column: int, rate: float, mark: str) -> None:
        row = round((height - 1) * math.log(rate / bottom) / math.log(top / bottom))
        grid[height - 1 - min(max(row, 0), height - 1)][column] = mark

    for roof, mark in zip(picture.roofs, itertools.cycle(_ROOF_MARKS), strict=False):
        for column, x in enumerate(xs):
            put(column, roof.at(x), mark)
    for point in picture.points:
        column = round((width - 1) * math.log(point.intensity / low) / math.log(high / low))
        put(min(max(column, 0), width - 1), point.rate, "x" if point.is_measured else "o")
    lines = [picture.title, f"{top:9.2e} FLOP/s", *("|" + "".join(row).rstrip() for row in grid)]
    lines += ["+" + "-" * width, f"{bottom:9.2e} FLOP/s at {low:.3g} FLOP/B".ljust(width - 14) + f"{high:.3g} FLOP/B"]
    marks = zip(picture.roofs, itertools.cycle(_ROOF_MARKS), strict=False)
    lines += [f"  {mark}  {roof.name}: {roof.bandwidth:.4g} B/s, {roof.peak:.4g} FLOP/s" for roof, mark in marks]
    lines += [
        f"  {'x' if point.is_measured else 'o'}  {point.name}: {point.rate:.4g} FLOP/s" for point in picture.points
    ]
    return "\n".join(lines)


def write_picture(picture: Picture, path: Path) -> None:
    """Write the picture: `.svg` and `.png` as drawings, `.html` as one file with hover.

    Raises:
        BadInput: Another suffix, or something is there already.
        MissingTool: The plotting library is not installed.
    """
    writers = {".svg": _write_drawing, ".png": _write_drawing, ".html": _write_html}
    writer = writers.get(path.suffix)
    if writer is None:
        raise BadInput(
            f"no picture of kind {path.suffix!r}",
            where=str(path),
            fix=f"end the name in {', '.join(writers)}",
            code="KB106",
        )
    if path.exists():
        raise BadInput(
            "the file exists already", where=str(path), fix="name a new one; nothing is overwritten", code="KB113"
        )
    try:
        writer(picture, path)
    except ImportError as error:
        raise MissingTool(f"{error.name} is not installed", fix="install kopt-kb[plot]", code="KB120") from error


def _write_drawing(picture: Picture, path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 6), layout="constrained")
    axes = figure.add_subplot()
    xs = picture.samples()
    for roof in picture.roofs:
        axes.loglog(xs, [roof.at(x) for x in xs], label=roof.name, linestyle="--" if "measured" in roof.name else "-")
    for point in picture.points:
        axes.plot(point.intensity, point.rate, "x" if point.is_measured else "o", label=point.name)
    axes.set(title=picture.title, xlabel="arithmetic intensity, FLOP/B", ylabel="FLOP/s")
    axes.grid(visible=True, which="both", alpha=0.3)
    axes.legend(fontsize="small")
    figure.savefig(path)


def _write_html(picture: Picture, path: Path) -> None:
    import plotly.graph_objects as go

    figure = go.Figure(layout={"title": picture.title, "template": "plotly_white"})
    xs = picture.samples()
    for roof in picture.roofs:
        text = f"{roof.name}<br>{roof.source}"
        figure.add_trace(go.Scatter(x=xs, y=[roof.at(x) for x in xs], mode="lines", name=roof.name, hovertext=text))
    for point in picture.points:
        symbol = "x" if point.is_measured else "circle"
        text = f"{point.name}<br>{point.rate:.4g} FLOP/s at {point.intensity:.4g} FLOP/B"
        figure.add_trace(
            go.Scatter(
                x=[point.intensity], y=[point.rate], mode="markers", name=point.name, hovertext=text,
                marker={"symbol": symbol, "size": 11},
            )
        )  # fmt: skip
    figure.update_xaxes(type="log", title="arithmetic intensity, FLOP/B")
    figure.update_yaxes(type="log", title="FLOP/s")
    figure.write_html(path, include_plotlyjs=True, full_html=True)
