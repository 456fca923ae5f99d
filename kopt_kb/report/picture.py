"""Pictures of rooflines: what is drawn of works and measurements, and the files it is written to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from kopt_kb.analysis.roofline.basis import basis_words
from kopt_kb.analysis.roofline.ceilings import Ceiling
from kopt_kb.analysis.roofline.recorded import DRAM, RecordedCeiling, RecordedRoofline, RecordedTarget
from kopt_kb.analysis.roofline.roofline import Roofline
from kopt_kb.analysis.roofline.targets import RoofTarget
from kopt_kb.base.errors import BadInput, MissingTool
from kopt_kb.base.files import check_new
from kopt_kb.quantity.quantity import Quantity
from kopt_kb.quantity.readable import rounded, si
from kopt_kb.quantity.recorded import RecordedQuantity
from kopt_kb.quantity.units import unit

__all__ = ["Dot", "DrawnRoof", "Picture", "Point", "check_picture", "picture_of", "recorded_picture"]

_MARGIN = 4.0
_LEAST, _MOST = 1e-100, 1e100
DrawnBasis = Literal["documented", "measured", "target", "counters"]
DrawnKind = Literal["measured", "attainable", "target"]


@dataclass(frozen=True, slots=True)
class DrawnRoof:
    """One roof: a slope of bandwidth up to a flat peak.

    Attributes:
        name: Platform and engine, such as `H20 bf16 matrix`.
        bandwidth: Bytes a second of the slope.
        peak: Operations a second of the flat part.
        source: Citations of both, for the hover text.
        group: Whose it is: a product, or the run of a profiler.
        basis: Whether it is documented, was measured, is the share of a roof that a target asks for, or what a
            profiler's counters say of the run.
        level: Level of memory, in a picture that shows several.
        engine: Dtype and engine of the flat part, such as `bf16 matrix`.
    """

    name: str
    bandwidth: float
    peak: float
    source: str
    group: str = ""
    basis: DrawnBasis = "documented"
    level: str = ""
    engine: str = ""

    @property
    def series(self) -> str:
        """What shares a colour and a shape: the level where a picture shows several, else the product."""
        return self.level or self.group

    @property
    def ridge(self) -> float:
        """Operations a byte where slope and peak meet."""
        return self.peak / self.bandwidth

    def at(self, intensity: float) -> float:
        """Return the attainable rate at an intensity."""
        return min(self.peak, self.bandwidth * intensity)

    @property
    def values(self) -> str:
        """Slope and peak in print."""
        return f"{si(self.bandwidth, 'B/s')}, {si(self.peak, 'FLOP/s')}"


@dataclass(frozen=True, slots=True)
class Point:
    """A rate at an intensity: measured, or what a roof or a target allows there.

    Attributes:
        name: What it is of.
        intensity: Operations a byte.
        rate: Operations a second.
        kind: Measured rates are dots; what is attainable or asked for is a bar on its line, never a dot.
        source: Where it comes from.
        group: Whose it is.
        level: Level of memory whose bytes the intensity counts, in a picture that shows several.
        label: What stands beside it, shorter than its name; points with the same label share it.
    """

    name: str
    intensity: float
    rate: float
    kind: DrawnKind = "measured"
    source: str = ""
    group: str = ""
    level: str = ""
    label: str = ""

    @property
    def series(self) -> str:
        """What shares a colour and a shape: the level where a picture shows several, else the product."""
        return self.level or self.group

    @property
    def is_measured(self) -> bool:
        """Whether somebody timed it."""
        return self.kind == "measured"

    @property
    def is_drawable(self) -> bool:
        """Whether both numbers have a place on logarithmic axes."""
        return all(_LEAST < one < _MOST for one in (self.intensity, self.rate))

    @property
    def values(self) -> str:
        """Rate and intensity in print."""
        return f"{si(self.rate, 'FLOP/s')} at {rounded(self.intensity)} FLOP/B"


@dataclass(frozen=True)
class Picture:
    """What is drawn."""

    title: str
    roofs: tuple[DrawnRoof, ...]
    points: tuple[Point, ...]

    @property
    def series(self) -> tuple[str, ...]:
        """Products, or levels of memory, in the order of their roofs."""
        return tuple(dict.fromkeys([*(one.series for one in self.roofs), *(one.series for one in self.points)]))

    @property
    def has_levels(self) -> bool:
        """Whether slopes are of several levels of memory and flat parts are shared by them."""
        return any(one.level for one in self.roofs)

    @cached_property
    def drawable(self) -> tuple[Point, ...]:
        """The points that have a place."""
        return tuple(one for one in self.points if one.is_drawable)

    @property
    def sources(self) -> tuple[str, ...]:
        """Where roofs and points come from, each once."""
        found = [*(one.source for one in self.roofs), *(one.source for one in self.points)]
        return tuple(dict.fromkeys(filter(None, found)))

    @cached_property
    def range(self) -> tuple[float, float]:
        """The intensities to draw, from left of the leftmost thing to right of the rightmost."""
        places = [roof.ridge for roof in self.roofs] + [point.intensity for point in self.drawable]
        return min(places) / _MARGIN**2, max(places) * _MARGIN**2

    @cached_property
    def rates(self) -> tuple[float, float]:
        """The rates to draw."""
        low, _ = self.range
        known = [one.at(low) for one in self.roofs] + [one.peak for one in self.roofs]
        known += [point.rate for point in self.drawable]
        return min(known) / 2, max(known) * _MARGIN


def _pair(platform: str, memory: Ceiling | RecordedCeiling, engine: Ceiling | RecordedCeiling) -> list[DrawnRoof]:
    """Return the documented roof of device memory and an engine, and the measured one where either was measured."""
    found = []
    name = f"{platform} {engine.name}"
    sides: tuple[tuple[DrawnBasis, list[object]], ...] = (
        ("documented", [memory.documented, engine.documented]),
        ("measured", [memory.roof, engine.roof]),
    )
    for basis, (slope, flat) in sides:
        if basis == "measured" and memory.measured is None and engine.measured is None:
            continue
        low, high = _rate(slope), _rate(flat)
        if low and high:
            words = ", measured" if basis == "measured" else ""
            found.append(DrawnRoof(name + words, low, high, _sources(slope, flat), platform, basis, engine=engine.name))
    return found


def _rate(value: object) -> float:
    """Return a known value in base units, 0 where nobody knows it."""
    if isinstance(value, Quantity):
        return value.value_si
    return float(value.si) if isinstance(value, RecordedQuantity) else 0.0


def _sources(*values: object) -> str:
    """Return the first citation of each value."""
    found = []
    for value in values:
        if isinstance(value, Quantity | RecordedQuantity):
            cited = value.citations() if isinstance(value, Quantity) else value.citations
            found += [str(cited[0])] if cited else []
    return "; ".join(dict.fromkeys(found))


@dataclass(frozen=True, slots=True)
class Dot:
    """A measurement to draw: its name, the shape it is of, its median in seconds, and its record."""

    name: str
    shape: str
    median_s: float
    source: str = ""


def picture_of(title: str, rooflines: Sequence[Roofline], measured_s: Sequence[float | None] = ()) -> Picture:
    """Return the picture of some work on one or more platforms.

    Args:
        title: Heading.
        rooflines: The work, one a shape and platform, with the roofs that are drawn.
        measured_s: Median seconds of each, in order, where there are any: drawn at the rate that they are.

    Raises:
        BadInput: No roof is known.
    """
    roofs = [roof for one in rooflines for engine in one.compute for roof in _pair(one.platform, one.memory, engine)]
    if not roofs:
        names = ", ".join(dict.fromkeys(one.platform for one in rooflines))
        raise BadInput(
            f"no roof of {names} is known for this work",
            fix="`kb roofline` without a picture names the rows",
            code="KB047",
        )
    points: list[Point] = []
    for at, one in enumerate(rooflines):
        seconds = measured_s[at] if at < len(measured_s) else None
        points += _points(one, [Dot("measured", "", seconds)] if seconds else [], rooflines)
    aims = [roof for one in rooflines for roof in _aims(one)]
    return Picture(title, tuple(dict.fromkeys([*roofs, *aims])), tuple(points))


def recorded_picture(title: str, rooflines: Iterable[RecordedRoofline], dots: Sequence[Dot]) -> Picture | None:
    """Return the picture of recorded rooflines with measurements; None when no roof of theirs is known."""
    roofs: list[DrawnRoof] = []
    points: list[Point] = []
    every = list(rooflines)
    for roofline in every:
        memory = roofline.ceiling(DRAM)
        engines = [each for each in roofline.ceilings if each.is_engine]
        roofs += [roof for engine in engines if memory is not None for roof in _pair(roofline.platform, memory, engine)]
        roofs += _aims(roofline)
        points += _points(roofline, [dot for dot in dots if dot.shape == roofline.shape], every)
    return Picture(title, tuple(dict.fromkeys(roofs)), tuple(points)) if roofs else None


def _points(
    one: Roofline | RecordedRoofline, dots: Sequence[Dot], every: Sequence[Roofline | RecordedRoofline]
) -> list[Point]:
    """Return what a work can attain, what its target asks for, and what was measured of it; labels say what differs."""
    shape = "x".join(map(str, one.work.shape))
    platform = one.platform if len({each.platform for each in every}) > 1 else ""
    several = len({(each.work.op, each.work.shape) for each in every}) > 1
    name = " ".join(filter(None, (platform, one.work.op, shape)))
    short = " ".join(filter(None, (platform, shape if several else "")))
    intensity = one.intensity.value_si if isinstance(one.intensity, Quantity) else float(one.intensity)
    total = sum(flop.useful.value for flop in one.work.flops)
    basis: Literal["documented", "measured"] = "measured" if "measured" in one.attainable else "documented"
    attainable, wanted = _rate(one.attainable[basis]), _target_rate(one, total)
    found = []
    if attainable:
        found.append(Point(f"{name}, attainable", intensity, attainable, "attainable", f"{basis} roofs", one.platform))
    if wanted:
        found.append(Point(f"{name}, target", intensity, wanted, "target", _aim_text(one.target), one.platform))
    for dot in dots:
        rate = total / dot.median_s if dot.median_s else 0.0
        label = f"{short} {dot.name}".strip()
        words = f"{name} {dot.name}"
        found.append(Point(words, intensity, rate, "measured", dot.source, one.platform, label=label))
    return found


def _aim_text(target: RecordedTarget | RoofTarget) -> str:
    return f"{float(target.factor):g} x {basis_words(target.basis)} {target.name}"


def _target_rate(one: Roofline | RecordedRoofline, total: float) -> float:
    """Return the target of the bound as useful operations a second, 0 where it is UNKNOWN."""
    per_s, amount = _aim(one.target), one.work.amount_under(one.target.name)
    return total / amount * per_s if per_s and amount else 0.0


def _aim(target: RecordedTarget | RoofTarget) -> float:
    """Return a target in base units a second, 0 where it is UNKNOWN."""
    if isinstance(target, RecordedTarget):
        return float(target.value * unit(target.unit).factor) if target.value and target.unit else 0.0
    return _rate(target.value)


def _aims(one: Roofline | RecordedRoofline) -> list[DrawnRoof]:
    """Return the lines that the targets of a work draw, one an engine."""
    memory = next((_aim(each) for each in one.targets if each.metric == "bandwidth"), 0.0)
    found = []
    for each in one.targets:
        if each.metric == "compute" and memory and _aim(each):
            words = f"{one.platform} {each.name}, target"
            found.append(
                DrawnRoof(words, memory, _aim(each), _aim_text(each), one.platform, "target", engine=each.name)
            )
    return found


_KINDS = (".svg", ".png", ".html")


def check_picture(path: Path) -> None:
    """Refuse a picture that can't be written, before anything is computed for it.

    Raises:
        BadInput: Another suffix, something is there already, or its folder is not.
        MissingTool: The plotting library is not installed.
    """
    if path.suffix not in _KINDS:
        fix = f"end the name in {', '.join(_KINDS)}"
        raise BadInput(f"no picture of kind {path.suffix!r}", where=str(path), fix=fix, code="KB106")
    check_new(path)
    if path.suffix == ".png" and find_spec("matplotlib") is None:
        raise MissingTool("matplotlib is not installed", fix="install kopt-kb[plot], or write .svg", code="KB120")
