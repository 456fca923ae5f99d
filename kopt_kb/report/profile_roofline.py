"""Hierarchical roofline of a report's own kernels: counted operations over the bytes of every level, and its roofs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from kopt_kb.analysis.profile import KernelProfile
from kopt_kb.analysis.roofline.ceilings import compute_ceiling, level_ceiling, memory_ceiling
from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import Wire
from kopt_kb.quantity import Exactness
from kopt_kb.quantity.quantity import Quantity
from kopt_kb.report.picture import DrawnRoof, Picture, Point
from kopt_kb.wiki.registry import Platform

__all__ = ["LEVELS", "LevelPoint", "half_moves", "level_points", "level_roofs", "picture_of_report", "run_roofs"]

LEVELS = ("dram", "l2", "l1", "shared")
_FOOTPRINT_BYTES = 1 << 30
_HALF, _HALF_METRIC = ("fp16", "vector"), "flops.vector.fp16"


@dataclass(frozen=True, slots=True)
class LevelPoint(Wire):
    """A kernel at one level of memory.

    Attributes:
        kernel: Bare function name.
        level: `dram`, `l2`, `l1` or `shared`.
        dtype: Type of most of its operations.
        engine: Engine of most of its operations.
        intensity: Counted operations over the bytes of the level, FLOP/B.
        rate_si: Counted operations over time, FLOP/s.
        bound: Whether the intensity is exact, or a bound because the bytes are one.
        run: The profiler's own roof at the clock of this kernel's run, None where it gives none.
    """

    kernel: str
    level: str
    dtype: str
    engine: str
    intensity: float
    rate_si: float
    bound: Exactness
    run: DrawnRoof | None = None

    WIRE: ClassVar = ("kernel", "level", "dtype", "engine", "intensity", "rate_si", "bound")


def level_points(profiles: Iterable[KernelProfile]) -> list[LevelPoint]:
    """Return the points of kernels that have operations, bytes and a time, in the order of the kernels."""
    points: list[LevelPoint] = []
    for profile in profiles:
        moves = half_moves(profile)
        kinds = {kind: amount for kind, amount in profile.flops.items() if amount and not (moves and kind == _HALF)}
        total = sum(kinds.values())
        stats = profile.durations
        if not total or stats is None:
            continue
        dtype, engine = max(kinds, key=lambda kind: kinds[kind])
        rate_si = total * stats.count / stats.total_s
        for level in LEVELS:
            moved = profile.get(f"{level}_bytes")
            if moved:
                bound = _turned(profile.bound(f"{level}_bytes"))
                run = _run_roof(profile, level, (dtype, engine))
                points.append(LevelPoint(profile.function, level, dtype, engine, total / moved, rate_si, bound, run))
    return points


def half_moves(profile: KernelProfile) -> float:
    """Return operations counted of half FMAs alone: compilers write moves of registers so, and they are no work."""
    return profile.get(_HALF_METRIC) or 0.0 if profile.bound(_HALF_METRIC) == "upper" else 0.0


def _turned(bound: Exactness) -> Exactness:
    """An upper bound of the bytes is a lower bound of the intensity."""
    turned: dict[Exactness, Exactness] = {"upper": "lower", "lower": "upper"}
    return turned.get(bound, bound)


def level_roofs(platform: Platform, points: Sequence[LevelPoint]) -> dict[tuple[str, str], DrawnRoof]:
    """Return the documented roofs of a product by level and `dtype engine`, as far as the wiki knows both parts."""
    found: dict[tuple[str, str], DrawnRoof] = {}
    for dtype, engine in dict.fromkeys((one.dtype, one.engine) for one in points):
        try:
            flat = compute_ceiling(platform, dtype, engine).documented
        except BadInput:  # the part has no such engine
            continue
        for level in LEVELS:
            memory = level == "dram"
            slope = (
                memory_ceiling(platform, "copy", _FOOTPRINT_BYTES) if memory else level_ceiling(platform, level)
            ).documented
            if isinstance(slope, Quantity) and isinstance(flat, Quantity):
                source = "; ".join(str(one.citations()[0]) for one in (slope, flat) if one.citations())
                kind = f"{dtype} {engine}"
                name = f"{platform.id} {level}, {kind}"
                values = slope.value_si, flat.value_si
                found[level, kind] = DrawnRoof(name, *values, source, platform.id, level=level, engine=kind)
    return found


def run_roofs(points: Sequence[LevelPoint]) -> dict[tuple[str, str], DrawnRoof]:
    """Return the roofs that the profiler itself gives, for drawing the highest of the kernels."""
    found: dict[tuple[str, str], DrawnRoof] = {}
    for point in points:
        key = (point.level, f"{point.dtype} {point.engine}")
        if point.run is not None and (key not in found or point.run.peak > found[key].peak):
            found[key] = point.run
    return found


def _run_roof(profile: KernelProfile, level: str, kind: tuple[str, str]) -> DrawnRoof | None:
    """Return the profiler's own peaks at the clock of this run, None where it gives none."""
    dtype, engine = kind
    flat, slope = profile.get(f"run_peak.{engine}.{dtype}"), profile.get(f"run_peak.{level}_bytes_per_s")
    if not flat or not slope:
        return None
    name, source = f"run {level}, {dtype} {engine}", "the profiler, at the clock of the run"
    return DrawnRoof(name, slope, flat, source, "run", "counters", level, f"{dtype} {engine}")


def picture_of_report(title: str, points: Sequence[LevelPoint], roofs: Iterable[DrawnRoof]) -> Picture:
    """Return the picture of measured points under roofs.

    Raises:
        BadInput: There is no point or no roof.
    """
    drawn = tuple(roofs)
    if not points or not drawn:
        raise BadInput(
            "no kernel has operations and bytes" if not points else "no roof is known for the kernels of the report",
            fix="record with --set full, or name the product with --platform",
            code="KB047",
        )
    dots = (
        Point(f"{one.level} {one.kernel}", one.intensity, one.rate_si, level=one.level, label=one.kernel)
        for one in points
    )
    return Picture(title, drawn, tuple(dots))
