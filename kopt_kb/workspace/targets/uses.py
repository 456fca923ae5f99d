"""How much of each roof a time uses: the amount of a work that counts under the roof, its rate, its share."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from kopt_kb.analysis.roofline.recorded import RecordedRoofline
from kopt_kb.wire import Wire

__all__ = ["DRAM", "RoofUse", "roof_uses"]

DRAM = "dram"
"""Name of device memory's roof."""


@dataclass(frozen=True, slots=True)
class RoofUse(Wire):
    """A time under one roof.

    Attributes:
        name: Roof, such as `bf16 matrix` or `dram`.
        unit: FLOP/s or B/s, the unit of every rate here.
        achieved_per_s: Amount over time.
        documented_per_s: What a data sheet promises; None when nobody says.
        measured_per_s: What a program of this project reached; None when nobody measured it.
    """

    WIRE: ClassVar = (
        "name", "unit", "achieved_si=achieved_per_s", "documented_si=documented_per_s", "documented_share",
        "measured_si=measured_per_s", "measured_share",
    )  # fmt: skip
    name: str
    unit: str
    achieved_per_s: float
    documented_per_s: float | None
    measured_per_s: float | None

    @property
    def documented_share(self) -> float | None:
        """Achieved over documented; None without a documented roof."""
        return self.achieved_per_s / self.documented_per_s if self.documented_per_s else None

    @property
    def measured_share(self) -> float | None:
        """Achieved over measured, which may be beaten; None without a measured roof."""
        return self.achieved_per_s / self.measured_per_s if self.measured_per_s else None


def roof_uses(roofline: RecordedRoofline, median_s: float) -> tuple[RoofUse, ...]:
    """Return the use of every roof of a roofline by a time in seconds."""
    return tuple(
        RoofUse(
            one.name,
            one.unit_si,
            roofline.amount_under(one.name) / median_s,
            _float(one.per_s("documented")),
            _float(one.per_s("measured")),
        )
        for one in roofline.ceilings
    )


def _float(value: Fraction | None) -> float | None:
    return None if value is None else float(value)
