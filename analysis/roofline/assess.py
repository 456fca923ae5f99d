"""A measured time of a work, judged by the roofs of a product."""

from __future__ import annotations

from collections.abc import Sequence

from kopt_kb.analysis.roofline.reach import RooflineInTime, reach
from kopt_kb.analysis.roofline.roofline import roofline
from kopt_kb.analysis.roofline.targets import TARGET_FACTOR, Aim
from kopt_kb.problem.work import Work
from kopt_kb.quantity.units import MeasuredTime, seconds_of
from kopt_kb.wiki.registry import Product, platform_of

__all__ = ["assess"]


def assess(
    time: MeasuredTime | Sequence[MeasuredTime],
    work: Work,
    product: Product,
    *,
    min_grade: str | None = None,
    aim: Aim = TARGET_FACTOR,
) -> RooflineInTime:
    """Return where measured times stand: share of the roof, against target and floor; what `kb roofline --time` prints.

    Args:
        time: One time or several of the same work; seconds, or text such as "52us".
        work: What was computed.
        product: Where, or its name.
        min_grade: Refuse roofs that rest on a weaker grade: vendor, device or measured.
        aim: Share of the roofs that the target asks for, or a performance target.

    Raises:
        BadInput: A time is not above 0; else as `roofline`.
    """
    platform = platform_of(product)
    seconds = tuple(map(seconds_of, time if isinstance(time, list | tuple) else (time,)))
    return RooflineInTime(
        found := roofline(work, platform, min_grade=min_grade, aim=aim), reach(found, platform, seconds)
    )
