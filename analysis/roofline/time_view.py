"""The time-based roofline of several kernels: least time of each under every roof, and its share of the whole.

Model: Yang, Wang, Li, Hsieh, "Time-based roofline for deep learning performance analysis", DLS 2020.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from kopt_kb.analysis.roofline.roofline import Roofline
from kopt_kb.base.wire import Wire
from kopt_kb.quantity.quantity import Quantity, Unknown

__all__ = ["KernelTime", "time_view"]


@dataclass(frozen=True, slots=True)
class KernelTime(Wire):
    """One kernel's place in the whole.

    Attributes:
        least_s: Least time under the roofs, None when one is UNKNOWN.
        measured_s: Measured time; None without a measurement.
        by_roof_s: Least time under each roof by itself.
        share: Share of the whole: of the measured time where every kernel has one, else of the least time.
    """

    WIRE: ClassVar = ("name", "limiter", "least_s", "measured_s", "by_roof_s", "share", "headroom_s")
    name: str
    limiter: str
    least_s: float | None
    measured_s: float | None
    by_roof_s: Mapping[str, float | None]
    share: float | None

    @property
    def headroom_s(self) -> float | None:
        """Seconds between the measured and the least time."""
        if self.least_s is None or self.measured_s is None:
            return None
        return self.measured_s - self.least_s


def _seconds(value: Quantity | Unknown) -> float | None:
    return None if isinstance(value, Unknown) else value.value_si


def _least(times: Mapping[str, float | None]) -> float | None:
    known = [value for value in times.values() if value is not None]
    return max(known) if len(known) == len(times) and known else None


def time_view(kernels: Mapping[str, Roofline], measured_s: Mapping[str, float] | None = None) -> tuple[KernelTime, ...]:
    """Return the kernels, longest first: measured time where every kernel has one, else least time.

    Args:
        kernels: Name → roofline.
        measured_s: Name → median seconds.
    """
    measured = dict(measured_s or {})
    by_roof = {name: {roof: _seconds(value) for roof, value in one.times().items()} for name, one in kernels.items()}
    least = {name: _least(times) for name, times in by_roof.items()}
    basis: dict[str, float | None] = {name: measured.get(name) for name in kernels}
    if any(value is None for value in basis.values()):
        basis = dict(least)
    known = [value for value in basis.values() if value is not None]
    whole = sum(known) if len(known) == len(basis) else None
    found = [
        KernelTime(
            name, one.limiter, least[name], measured.get(name), by_roof[name],
            None if whole is None or basis[name] is None else (basis[name] or 0.0) / whole,
        )
        for name, one in kernels.items()
    ]  # fmt: skip
    return tuple(sorted(found, key=lambda one: -(basis[one.name] or 0.0)))
