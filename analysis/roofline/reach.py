"""What a roofline means in seconds: time at each roof, the floor, time at the target, and a measured time against them.

People hold a latency in the hand. Launch time, the size of the L2 and the best bandwidth or rate that anybody measured
say how far the roof itself can be trusted for a work.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from kopt_kb.analysis.roofline.ceilings import best_bandwidth, best_known, pattern_of
from kopt_kb.analysis.roofline.floor import Floor, work_floor
from kopt_kb.analysis.roofline.roofline import LEVELS, Roofline
from kopt_kb.analysis.roofline.shortest import ShortestTime, shortest_time, target_s
from kopt_kb.base.wire import Wire
from kopt_kb.problem.tolerances import Tolerance
from kopt_kb.quantity.quantity import Quantity, Unknown, counted
from kopt_kb.quantity.readable import duration, said
from kopt_kb.wiki.registry import Platform

__all__ = [
    "MeasuredReach",
    "Reach",
    "RoofTime",
    "RooflineInTime",
    "RooflinesInTime",
    "reach",
]


@dataclass(frozen=True, slots=True)
class RoofTime(Wire):
    """The time at one basis of the roofs: what the declared arithmetic takes at least on the declared engine.

    Attributes:
        basis: `documented`, `measured` (by ourselves), `vendor_measured` (where nothing is documented) or `reachable`
            (the best that anybody measured of the roof that binds). Other arithmetic than the declared may beat each;
            what nothing beats is the floor.
        name: Of the roof that binds: `dram`, `bf16 matrix`.
        value: Of that roof, as printed.
        citations: The rows that its value rests on.
    """

    WIRE: ClassVar = ("basis", "roof", "seconds", "citations")
    basis: str
    name: str
    value: str
    seconds: float
    citations: tuple[str, ...]

    @property
    def roof(self) -> str:
        """The roof that binds with its value, as printed."""
        return f"{self.name} {self.value}"


@dataclass(frozen=True, slots=True)
class MeasuredReach(Wire):
    """A time that was measured, against roof and target.

    Attributes:
        basis: Of the roof that `share` and `gap_s` are about: `documented` where that is known, else `measured` or
            `vendor_measured`, which may be beaten; empty where none is.
        share: Least time under that roof over the measured time: 1 is the roof.
        gap_s: Seconds above that least time.
        to_target: Measured time over the time at the target, at most 1 where that is met; None where the target is
            UNKNOWN or shorter than a launch.
        rate: What it reached under the roof that binds, in `unit`.
    """

    seconds: float
    basis: str
    share: float | None
    gap_s: float | None
    to_target: float | None
    rate: float | None
    unit: str

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None where there is none to judge by."""
        return None if self.to_target is None else self.to_target <= 1


@dataclass(frozen=True, slots=True)
class Reach(Wire):
    """A roofline in seconds.

    Attributes:
        least: Least time under each basis there is.
        target_s: Time at which the target of the bound is met; None where its roof is UNKNOWN.
        floor: Below this a time is impossible, whichever arithmetic ran; None where nothing is known.
        launch_s: Time of a kernel that does nothing, measured on this product; None without a row.
        cache: The last cache that holds all compulsory bytes at once, with its capacity; None when none does.
        measured: The times that were given.
        warnings: What a reader of the times must know.
    """

    least: tuple[RoofTime, ...]
    target_s: float | None
    launch_s: float | None
    cache: str | None
    measured: tuple[MeasuredReach, ...]
    warnings: tuple[str, ...]
    floor: Floor | None = None

    def of(self, basis: str) -> RoofTime | None:
        """Return the least time of a basis, None when there is none."""
        return next((one for one in self.least if one.basis == basis), None)


@dataclass(frozen=True, slots=True)
class RooflineInTime(Wire):
    """A roofline with its times."""

    WIRE: ClassVar = (*(f"{m.split('=')[0]}=found.{m.split('=')[-1]}" for m in Roofline.WIRE), "times")
    found: Roofline
    times: Reach

    def __repr__(self) -> str:
        target = "UNKNOWN" if self.times.target_s is None else duration(self.times.target_s)
        measured = ", ".join(duration(one.seconds) for one in self.times.measured) or "nothing"
        product, work = self.found.platform, self.found.work
        name = " ".join(filter(None, (product, work.op, "x".join(map(str, work.shape)), work.dtype)))
        return f"RooflineInTime({name}: {measured} measured, {target} at the target)"

    @property
    def met(self) -> bool | None:
        """Whether every measured time meets the target; None where it is UNKNOWN or nothing was measured."""
        said = [one.met for one in self.times.measured]
        return None if None in said or not said else all(said)

    @property
    def possible(self) -> bool:
        """Whether no measured time is below the floor: such a time, the work or the wiki is wrong."""
        floor = self.times.floor
        return floor is None or all(one.seconds >= floor.seconds for one in self.times.measured)


@dataclass(frozen=True, slots=True)
class RooflinesInTime(Wire):
    """The rooflines of several shapes or platforms, with their times."""

    rooflines: tuple[RooflineInTime, ...]


def reach(
    found: Roofline, platform: Platform, measured_s: tuple[float, ...] = (), tolerance: Tolerance | None = None
) -> Reach:
    """Return a roofline in seconds.

    Args:
        found: Of this platform.
        platform: Whose launch time, caches and measurements are looked up.
        measured_s: Times of the same work, in seconds.
        tolerance: Of the check that a result has to pass, which says how fast arithmetic may be; None: the package's
            own of the storage type.
    """
    least = tuple(filter(None, (_least(found, basis) for basis in ("documented", "measured"))))
    best = _reachable(found, platform)
    if best is not None:
        least = (*least, best)
    at_target = target_s(found)
    shortest = shortest_time(platform)
    cache = _cache(found, platform)
    warned = (_short(least, shortest), _cached(cache), _above(at_target, best), *_better(measured_s, best))
    warnings = tuple(filter(None, warned))
    limit = None if at_target is None or at_target < shortest.seconds else at_target
    judged = tuple(_judged(one, found, least, limit) for one in measured_s)
    launch_s = float(shortest.seconds) if shortest.is_launch else None
    return Reach(
        least,
        None if at_target is None else float(at_target),
        launch_s,
        cache,
        judged,
        warnings,
        work_floor(found.work, platform, tolerance),
    )


def _least(roofline: Roofline, basis: str) -> RoofTime | None:
    """Return the least time under the documented roofs, or where the roof that binds is measured, under those."""
    roofs = roofline.roofs()
    times = {name: value for name, value in roofline.times(basis).items() if isinstance(value, Quantity)}
    if len(times) < len(roofline.times(basis)):
        return None
    slowest = max(times, key=lambda name: times[name].si)
    ceiling = next(one for one in roofs if one.name == slowest)
    roof = ceiling.measured if basis == "measured" else ceiling.documented
    if not isinstance(roof, Quantity):
        return None
    word = "vendor_measured" if ceiling.is_vendors else basis
    return RoofTime(word, slowest, said(roof), times[slowest].value_si, roof.citation_texts)


def _best(roofline: Roofline, platform: Platform) -> Quantity | None:
    """Return the best measurement by anybody of the roof that binds."""
    name = roofline.limiter
    if not name:
        return None
    if name in LEVELS:
        return best_bandwidth(platform, name, pattern_of(roofline.work))
    dtype, engine = name.split()
    return best_known(platform, "measured_compute", dtype=dtype, engine=engine)


def _reachable(roofline: Roofline, platform: Platform) -> RoofTime | None:
    best = _best(roofline, platform)
    if best is None or not best.si:
        return None
    seconds = counted(roofline.work.amount_under(roofline.limiter), _unit(roofline.limiter), "work") / best
    if isinstance(seconds, Unknown):
        return None
    return RoofTime("reachable", roofline.limiter, said(best), seconds.value_si, best.citation_texts)


def _unit(name: str) -> str:
    return "B" if name in LEVELS else "FLOP"


def _cache(roofline: Roofline, platform: Platform) -> str | None:
    moved = roofline.work.compulsory_bytes("dram")
    for level, metric in (("L2", "l2_capacity"), ("last-level cache", "llc_capacity")):
        for row in platform.rows(metric):
            value = platform.quantity(row)
            if isinstance(value, Quantity) and 0 < moved <= value.si:
                return f"{level} of {said(value)} ({', '.join(str(one.location) for one in value.citations())})"
    return None


def _short(least: tuple[RoofTime, ...], shortest: ShortestTime) -> str:
    least_s = min((one.seconds for one in least), default=None)
    if least_s is None or least_s >= shortest.seconds:
        return ""
    then = "no roof is reached" if shortest.is_launch else "no target can be judged"
    return f"shorter than {shortest.what}: {then}"


def _cached(cache: str | None) -> str:
    return f"all bytes fit the {cache}: a warm run can be faster than device memory allows" if cache else ""


def _above(at_target: Fraction | None, best: RoofTime | None) -> str:
    if at_target is None or best is None or at_target >= best.seconds:
        return ""
    where = best.citations[0].rpartition("<- ")[2]
    return f"the target asks for more than the best that anybody measured, {best.roof} ({where})"


def _better(measured_s: tuple[float, ...], best: RoofTime | None) -> list[str]:
    """Say which of the times at hand are shorter than the best measurement allows: one of the two is not comparable."""
    if best is None:
        return []
    where = best.citations[0].rpartition("<- ")[2]
    return [
        f"{duration(one)} is faster than the best that anybody measured, {best.roof} ({where})"
        for one in measured_s
        if one < best.seconds
    ]


def _judged(
    seconds: float, roofline: Roofline, least: tuple[RoofTime, ...], at_target: Fraction | None
) -> MeasuredReach:
    """Judge a time by the least time that is printed beside it, of the documented roofs where they are known."""
    target = roofline.target
    rate, unit = roofline.work.amount_under(target.name) / seconds, f"{_unit(target.name)}/s"
    order = ("documented", "measured", "vendor_measured")
    roof = next((one for basis in order for one in least if one.basis == basis), None)
    if roof is None:
        return MeasuredReach(seconds, "", None, None, None, rate, unit)
    share, gap_s = roof.seconds / seconds, seconds - roof.seconds
    to_target = None if at_target is None else seconds / float(at_target)
    return MeasuredReach(seconds, roof.basis, share, gap_s, to_target, rate, unit)
