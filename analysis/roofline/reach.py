"""What a roofline means in seconds: least time, time at the target, and how far a measured time is from both.

People hold a latency in the hand. Launch time, the size of the L2 and the best bandwidth or rate that anybody measured
say how far the roof itself can be trusted for a work.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kopt_kb.analysis.roofline.ceilings import best_known
from kopt_kb.analysis.roofline.roofline import LEVELS, Roofline
from kopt_kb.quantity.quantity import Quantity, Unknown, counted
from kopt_kb.quantity.readable import said
from kopt_kb.wiki.registry import Platform
from kopt_kb.wire import Wire

__all__ = ["MeasuredReach", "Reach", "RoofTime", "RooflineInTime", "RooflinesInTime", "empty_launch", "reach"]

SHORT_S = 1e-5
"""Work that takes less may be ruled by its launch, so a launch time is looked for."""


@dataclass(frozen=True, slots=True)
class RoofTime(Wire):
    """The least time under one basis of the roofs.

    Attributes:
        basis: `documented`, `measured` (by ourselves), or `reachable` (the best that anybody measured of the roof that
            binds).
        roof: The roof that binds, as printed.
        citations: The rows that its value rests on.
    """

    basis: str
    roof: str
    seconds: float
    citations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MeasuredReach(Wire):
    """A time that was measured, against roof and target.

    Attributes:
        basis: Of the roof that `share` and `gap_s` are about: `documented` where that is known, else `measured`, which
            may be beaten; empty where neither is.
        share: Least time under that roof over the measured time: 1 is the roof.
        gap_s: Seconds above that least time.
        to_target: Measured time over the time at the target; at most 1 where the target is met.
        rate: What it reached under the roof that binds, in `unit`.
    """

    seconds: float
    basis: str
    share: float | None
    gap_s: float | None
    to_target: float | None
    rate: float | None
    unit: str


@dataclass(frozen=True, slots=True)
class Reach(Wire):
    """A roofline in seconds.

    Attributes:
        least: Least time under each basis there is.
        target_s: Time at which the target of the bound is met; None where its roof is UNKNOWN.
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

    def of(self, basis: str) -> RoofTime | None:
        """Return the least time of a basis, None when there is none."""
        return next((one for one in self.least if one.basis == basis), None)


@dataclass(frozen=True, slots=True)
class RooflineInTime(Wire):
    """A roofline with its times."""

    WIRE: ClassVar = (*(f"{m.split('=')[0]}=found.{m.split('=')[-1]}" for m in Roofline.WIRE), "times")
    found: Roofline
    times: Reach


@dataclass(frozen=True, slots=True)
class RooflinesInTime(Wire):
    """The rooflines of several shapes or platforms, with their times."""

    rooflines: tuple[RooflineInTime, ...]


def reach(found: Roofline, platform: Platform, measured_s: tuple[float, ...] = ()) -> Reach:
    """Return a roofline in seconds.

    Args:
        found: Of this platform.
        platform: Whose launch time, caches and measurements are looked up.
        measured_s: Times of the same work, in seconds.
    """
    least = tuple(filter(None, (_least(found, basis) for basis in ("documented", "measured"))))
    best = _reachable(found, platform)
    if best is not None:
        least = (*least, best)
    target_s = _target_s(found)
    launch, owner = empty_launch(platform, min((one.seconds for one in least), default=None))
    cache = _cache(found, platform)
    warnings = tuple(filter(None, (_short(least, launch, owner), _cached(cache), _above(target_s, best))))
    judged = tuple(_judged(one, found, least, target_s) for one in measured_s)
    own_s = launch.value_si if launch is not None and owner == platform.id else None
    return Reach(least, target_s, own_s, cache, judged, warnings)


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
    return RoofTime(basis, f"{slowest} {said(roof)}", times[slowest].value_si, roof.citation_texts)


def _best(roofline: Roofline, platform: Platform) -> Quantity | None:
    """Return the best measurement by anybody of the roof that binds."""
    name = roofline.limiter
    if not name:
        return None
    if name in LEVELS:
        return best_known(platform, "measured_bandwidth", level=name)
    dtype, engine = name.split()
    return best_known(platform, "measured_compute", dtype=dtype, engine=engine)


def _reachable(roofline: Roofline, platform: Platform) -> RoofTime | None:
    best = _best(roofline, platform)
    if best is None or not best.si:
        return None
    seconds = counted(roofline.work.amount_under(roofline.limiter), _unit(roofline.limiter), "work") / best
    if isinstance(seconds, Unknown):
        return None
    return RoofTime("reachable", f"{roofline.limiter} {said(best)}", seconds.value_si, best.citation_texts)


def _unit(name: str) -> str:
    return "B" if name in LEVELS else "FLOP"


def _target_s(roofline: Roofline) -> float | None:
    target = roofline.target
    if isinstance(target.value, Unknown) or not target.value.si:
        return None
    return float(roofline.work.amount_under(target.name) / target.value.si)


def empty_launch(platform: Platform, least_s: float | None) -> tuple[Quantity | None, str]:
    """Return the time of an empty kernel and the product it was measured on.

    Without a row of its own and with work that is short enough to ask, that of a product of the same vendor, first of
    the same architecture: launches differ by host and driver more than by product.
    """
    own = platform.identity
    others = [one for one in platform.wiki.names.identities.values() if one.vendor == own.vendor and one != own]
    others.sort(key=lambda one: one.arch != own.arch)
    asked = [platform, *(Platform(platform.wiki, one) for one in others)]
    for one in asked if least_s is not None and least_s < SHORT_S else asked[:1]:
        values = [one.quantity(row) for row in one.rows("measured_launch", by="events")]
        known = [value for value in values if isinstance(value, Quantity)]
        if known:
            return min(known, key=lambda each: each.si), one.id
    return None, ""


def _cache(roofline: Roofline, platform: Platform) -> str | None:
    moved = roofline.work.compulsory_bytes("dram")
    for level, metric in (("L2", "l2_capacity"), ("last-level cache", "llc_capacity")):
        for row in platform.rows(metric):
            value = platform.quantity(row)
            if isinstance(value, Quantity) and 0 < moved <= value.si:
                return f"{level} of {value} ({', '.join(str(one.location) for one in value.citations())})"
    return None


def _short(least: tuple[RoofTime, ...], launch: Quantity | None, owner: str) -> str:
    shortest = min((one.seconds for one in least), default=None)
    if shortest is None or launch is None or shortest >= launch.value_si:
        return ""
    where = ", ".join(str(one.location) for one in launch.citations())
    return f"shorter than the launch of an empty kernel, {launch} on {owner} ({where}): no roof is reached"


def _cached(cache: str | None) -> str:
    return f"all bytes fit the {cache}: a warm run can be faster than device memory allows" if cache else ""


def _above(target_s: float | None, best: RoofTime | None) -> str:
    if target_s is None or best is None or target_s >= best.seconds:
        return ""
    where = best.citations[0].rpartition("<- ")[2]
    return f"the target asks for more than the best that anybody measured, {best.roof} ({where})"


def _judged(seconds: float, roofline: Roofline, least: tuple[RoofTime, ...], target_s: float | None) -> MeasuredReach:
    """Judge a time by the least time that is printed beside it, of the documented roofs where they are known."""
    target = roofline.target
    rate, unit = roofline.work.amount_under(target.name) / seconds, f"{_unit(target.name)}/s"
    roof = next((one for basis in ("documented", "measured") for one in least if one.basis == basis), None)
    if roof is None or target_s is None:
        return MeasuredReach(seconds, "", None, None, None, rate, unit)
    share, gap_s = roof.seconds / seconds, seconds - roof.seconds
    return MeasuredReach(seconds, roof.basis, share, gap_s, seconds / target_s, rate, unit)
