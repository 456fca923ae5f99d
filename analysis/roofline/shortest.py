"""The shortest time that a Stop Condition may ask for: a launch on this product, else what its clock resolves."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from kopt_kb.base.wire import Wire
from kopt_kb.quantity.quantity import Quantity, Unknown
from kopt_kb.quantity.readable import duration
from kopt_kb.wiki.registry import Platform

if TYPE_CHECKING:
    from kopt_kb.analysis.roofline.roofline import Roofline


__all__ = ["LAUNCH_WAYS", "ShortestTime", "empty_launch", "shortest_time", "target_s"]

LAUNCH_WAYS = ("events", "graph")
"""Ways to time an empty kernel, the judge's own first; launches of a graph are the shortest and bound the others."""

CLOCK_STEP_S = Fraction(5, 10**7)
"""Resolution of the events that time a kernel: cudaEventElapsedTime documents "around 0.5 microseconds"."""


@dataclass(frozen=True, slots=True)
class ShortestTime(Wire):
    """What no target may be shorter than.

    Attributes:
        seconds: The time.
        what: What takes it, such as `the launch of an empty kernel, 2.85 us on H200_SXM (measured/h200_sxm.md:L86)`.
        is_launch: Whether it was measured on the product; else it is what the clock resolves.
    """

    WIRE: ClassVar = ("seconds=_seconds", "what", "is_launch")
    seconds: Fraction
    what: str
    is_launch: bool

    @property
    def _seconds(self) -> float:
        return float(self.seconds)


def empty_launch(platform: Platform, ways: tuple[str, ...] = ("events",)) -> Quantity | None:
    """Return the time of an empty kernel measured on this very product; None without a row, whatever its siblings have.

    Args:
        platform: The product.
        ways: How it was timed (`events`, `graph`, `host`); the first of them that has a row.
    """
    for way in ways:
        values = [platform.quantity(row) for row in platform.rows("measured_launch", by=way)]
        known = [value for value in values if isinstance(value, Quantity)]
        if known:
            return min(known, key=lambda each: each.si)
    return None


def shortest_time(platform: Platform) -> ShortestTime:
    """Return what no target on a product may be shorter than."""
    launch = empty_launch(platform, LAUNCH_WAYS)
    if launch is None:
        step = duration(CLOCK_STEP_S)
        return ShortestTime(
            CLOCK_STEP_S, f"the {step} that events resolve; nobody measured a launch on {platform.id}", False
        )
    where = ", ".join(str(one.location) for one in launch.citations())
    return ShortestTime(launch.si, f"the launch of an empty kernel, {launch} on {platform.id} ({where})", True)


def target_s(roofline: Roofline) -> Fraction | None:
    """Return the time at which the target of the bound is met; None where its roof is UNKNOWN."""
    target = roofline.target
    if isinstance(target.value, Unknown) or not target.value.si:
        return None
    return roofline.work.amount_under(target.name) / target.value.si
