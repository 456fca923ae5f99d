"""kb profile roofline: the kernels of a report under the roofs of every level of memory, as table and picture."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from kopt_kb.analysis.profile import KernelProfile
from kopt_kb.analysis.readers.read import read_profiles
from kopt_kb.analysis.rules.product import product_of
from kopt_kb.base.errors import ExitCode
from kopt_kb.base.wire import Wire, inside
from kopt_kb.cli.kit.columns import legend
from kopt_kb.cli.kit.output import add_wiki, open_registry, print_values, printable, printable_lines, table
from kopt_kb.quantity.readable import percent, rounded, si
from kopt_kb.report.drawing_files import write_picture
from kopt_kb.report.picture import DrawnRoof, check_picture
from kopt_kb.report.profile_roofline import (
    LevelPoint,
    half_moves,
    level_points,
    level_roofs,
    picture_of_report,
    run_roofs,
)
from kopt_kb.report.terminal_plot import terminal
from kopt_kb.wiki.registry import Platform, Registry

__all__ = ["ReportRoofline", "add_arguments", "run"]

Roofs = Mapping[tuple[str, str], DrawnRoof]
_NAME_CHARS = 60
_RUN = "run"


@dataclass(frozen=True, slots=True)
class RoofAbove(Wire):
    """The roof over a point.

    Attributes:
        product: Whose roof it is; `run` for the profiler's own.
        attainable_si: Rate that it allows at the point's intensity, FLOP/s.
        share: The point's rate over it.
        source: Who says so.
    """

    product: str
    attainable_si: float
    share: float
    source: str


@dataclass(frozen=True, slots=True)
class PointUnderRoofs(Wire):
    """A kernel at one level of memory, with the roofs over it."""

    WIRE: ClassVar = (*inside("point", LevelPoint), "roofs")
    point: LevelPoint
    roofs: tuple[RoofAbove, ...]


@dataclass(frozen=True, slots=True)
class ReportRoofline(Wire):
    """The kernels of a report under roofs, and the names of those that lack operations, bytes or a time."""

    points: tuple[PointUnderRoofs, ...]
    without: tuple[str, ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the action's arguments."""
    parser.add_argument("report", metavar="REPORT", help="report, or folder of one, with operations and bytes")
    parser.add_argument("--kernel", metavar="REGEX", help="only kernels whose name matches; none matching is an error")
    parser.add_argument("--platform", metavar="ID", help="product of the run (default: what the report names)")
    parser.add_argument("--compare", metavar="A,B", help="draw the roofs of these products too")
    parser.add_argument("--plot", action="store_true", help="draw in the terminal")
    parser.add_argument("--picture", metavar="FILE", help="write a new .svg, .html or .png (extra plot)")
    add_wiki(parser)


def run(args: argparse.Namespace) -> int:
    """Print the points of every kernel and level with the part of their roof, and draw them."""
    if args.picture:
        check_picture(Path(args.picture))
    registry = open_registry(args)
    profiles = list(read_profiles(args.report, kernel=args.kernel))
    points = level_points(profiles)
    roofs = _roofs(args, registry, profiles, points)
    picture = picture_of_report(
        f"Roofline of {Path(args.report).name}", points, [one for found in roofs.values() for one in found.values()]
    )
    if args.picture:
        write_picture(picture, Path(args.picture))
    if args.json:
        drawn = ReportRoofline(tuple(_under(point, roofs) for point in points), _without(profiles, points))
        print_values(drawn, registry.wikis)
        return ExitCode.OK
    print(_text(points, roofs))
    for name in _without(profiles, points):
        print(f"not drawn: {printable(name)[:_NAME_CHARS]}: no operations, bytes or time were counted")
    for profile in profiles:
        if moved := half_moves(profile):
            name = printable(profile.function)[:_NAME_CHARS]
            print(
                f"not counted: {name}: {si(moved, 'FLOP')} of half FMAs alone, which compilers write to move registers"
            )
    if args.plot:
        print()
        print(printable_lines(terminal(picture)))
    return ExitCode.OK


def _roofs(
    args: argparse.Namespace, registry: Registry, profiles: Sequence[KernelProfile], points: Sequence[LevelPoint]
) -> dict[str, Roofs]:
    """Return roofs by product, and those that the profiler gives for the run."""
    asked = None if args.platform is None else registry.platform(args.platform)
    products: dict[str, Platform] = {}
    for profile in profiles:
        product = product_of(profile, registry, asked)
        if product is not None:
            products[product.id] = product
    for name in filter(None, (args.compare or "").split(",")):
        other = registry.platform(name)
        products[other.id] = other
    found: dict[str, Roofs] = {name: level_roofs(product, points) for name, product in products.items()}
    found[_RUN] = run_roofs(points)
    return {name: roofs for name, roofs in found.items() if roofs}


def _without(profiles: Sequence[KernelProfile], points: Sequence[LevelPoint]) -> tuple[str, ...]:
    drawn = {point.kernel for point in points}
    return tuple(dict.fromkeys(profile.function for profile in profiles if profile.function not in drawn))


def _roof(point: LevelPoint, product: str, roofs: Mapping[str, Roofs]) -> DrawnRoof | None:
    """Return the roof of a point: the profiler's own is that of the point's own run."""
    return point.run if product == _RUN else roofs[product].get((point.level, f"{point.dtype} {point.engine}"))


def _under(point: LevelPoint, roofs: Mapping[str, Roofs]) -> PointUnderRoofs:
    above = []
    for product in roofs:
        roof = _roof(point, product, roofs)
        if roof is not None:
            attainable_si = roof.at(point.intensity)
            above.append(RoofAbove(product, attainable_si, point.rate_si / attainable_si, roof.source))
    return PointUnderRoofs(point, tuple(above))


def _text(points: Sequence[LevelPoint], roofs: Mapping[str, Roofs]) -> str:
    head = ("kernel", "level", "type", "FLOP/B", "GFLOP/s", *(f"% of {product}" for product in roofs))
    rows = [list(head)]
    for point in points:
        kind = f"{point.dtype} {point.engine}"
        found = [_roof(point, product, roofs) for product in roofs]
        shares = ["-" if roof is None else percent(point.rate_si / roof.at(point.intensity)) for roof in found]
        sign = {"lower": ">= ", "upper": "<= "}.get(point.bound, "")
        name = printable(point.kernel)[:_NAME_CHARS]
        rows.append(
            [name, point.level, kind, f"{sign}{rounded(point.intensity)}", rounded(point.rate_si / 1e9), *shares]
        )
    told = f"{legend(head)}; %: of the roof at that level, of the product or of the run"
    return f"{table(rows, right=range(3, len(head)))}\n{told}"
