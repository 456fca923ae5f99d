"""What the limiter leaves on the table against the sourced roofs of a platform.

Rates of the run (bytes or operations over time) are compared with documented roofs. The profiler's own peaks hold at
the clock of the run and are never mixed with them; a compute roof is also shown scaled to that clock, where the sheet
says at which clock it holds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from kopt_kb.analysis.profile import KernelProfile
from kopt_kb.analysis.roofline.ceilings import Ceiling, compute_ceiling, memory_ceiling, traffic_pattern
from kopt_kb.errors import BadInput
from kopt_kb.problem.work import Work
from kopt_kb.quantity.quantity import Quantity
from kopt_kb.quantity.units import si_number
from kopt_kb.wiki.registry import Platform

__all__ = ["Headroom", "headroom_of"]


@dataclass(frozen=True, slots=True)
class Headroom:
    """An achieved rate under a roof.

    Attributes:
        name: Roof: `dram`, `bf16 matrix`.
        achieved_si: Rate of the run, B/s or op/s.
        roof: Measured or documented ceiling with its citations.
        basis: Which of the two.
        notes: Bounds, clocks, and what was not scaled.
        possible: Whether nothing contradicts the roof; a share above 1 without a reason is a fault.
    """

    name: str
    achieved_si: float
    roof: Quantity
    basis: str
    notes: tuple[str, ...] = ()
    possible: bool = True

    @property
    def share(self) -> float:
        """Achieved over roof."""
        return self.achieved_si / float(self.roof.si)

    def __str__(self) -> str:
        """One line with share, roof and citations."""
        where = ", ".join(str(one) for one in self.roof.citations())
        text = f"{self.name}: {100 * self.share:.1f} % of {self.roof} ({self.basis}; {where})"
        return "; ".join((text, *self.notes))

    def to_json(self) -> dict[str, Any]:
        """Return the fields; the roof in SI with citations."""
        return {
            "name": self.name,
            "achieved_si": self.achieved_si,
            "roof_si": si_number(self.roof.si),
            "share": self.share,
            "basis": self.basis,
            "citations": [str(one) for one in self.roof.citations()],
            "notes": list(self.notes),
            "possible": self.possible,
        }


def headroom_of(profile: KernelProfile, platform: Platform, work: Work | None = None) -> tuple[Headroom, ...]:
    """Return each roof of the platform that the run can be compared with, the nearest first.

    Args:
        profile: Bytes, operations and times.
        platform: Where the roofs stand; one whose roof is UNKNOWN or absent is left out.
        work: Useful operations and compulsory bytes, used instead of counted ones.
    """
    found = [*_memory(profile, platform, work), *_compute(profile, platform, work)]
    return tuple(sorted(found, key=lambda one: -one.share))


def _memory(profile: KernelProfile, platform: Platform, work: Work | None) -> list[Headroom]:
    read, written = (int(profile.get(f"dram_{kind}_bytes") or 0) for kind in ("read", "write"))
    moved = int(profile.get("dram_bytes") or 0)
    rate, notes, excess = profile.rate("dram_bytes"), [], ""
    bound = profile.bound("dram_bytes")
    if work is not None and profile.duration_s:
        moved = int(work.compulsory("dram").value)
        rate = moved / profile.duration_s
        notes.append("compulsory bytes of the work")
        excess = "caches kept what the work counts as read from DRAM"
    elif bound != "exact":
        notes.append(f"the bytes are {'an upper' if bound == 'upper' else 'a lower'} bound")
        excess = "a memory-side cache answered a part of the bytes" if bound == "upper" else ""
    if rate is None or not moved:
        return []
    return _under(memory_ceiling(platform, traffic_pattern(read, written), moved), rate, notes, excess)


def _compute(profile: KernelProfile, platform: Platform, work: Work | None) -> list[Headroom]:
    rates: dict[tuple[str, str], float] = {}
    if work is not None and profile.duration_s:
        for one in work.flops:
            rates[one.dtype, one.engine] = float(one.useful.value) / profile.duration_s
    else:
        for (dtype, engine), amount in profile.flops.items():
            rate = profile.rate(f"flops.{engine}.{dtype}")
            if amount and rate is not None:
                rates[dtype, engine] = rate
    found: list[Headroom] = []
    clock = profile.get("sm_frequency_hz")
    notes = [f"the run was at {clock / 1e9:.2f} GHz, the roof is not scaled to it"] if clock else []
    for (dtype, engine), rate in rates.items():
        upper = profile.bound(f"flops.{engine}.{dtype}") == "upper"
        excess = "sparse products count the operations they leave out" if upper and work is None else ""
        try:
            found += _under(compute_ceiling(platform, dtype, engine), rate, notes, excess)
        except BadInput:  # the part has no such engine, or the wiki no such axis
            continue
    return found


def _under(ceiling: Ceiling, rate_si: float, notes: list[str], excess: str) -> list[Headroom]:
    """Return the rate under a roof that it doesn't exceed, or says why it does.

    Args:
        ceiling: The roof; above our own measurement the documented value is the roof.
        rate_si: Rate of the run.
        notes: What a reader must know of the rate.
        excess: Why the rate may be above the documented roof; empty when it may not.
    """
    if not isinstance(ceiling.roof, Quantity):
        return []
    found = Headroom(ceiling.name, rate_si, ceiling.roof, ceiling.basis, (*notes, *ceiling.notes))
    if found.share <= 1:
        return [found]
    if ceiling.measured is not None and isinstance(ceiling.documented, Quantity):
        above = f"faster than our own measurement of {ceiling.measured}"
        found = replace(found, roof=ceiling.documented, basis="documented", notes=(*found.notes, above))
    if found.share <= 1:
        return [found]
    why = excess or "impossible: a counter is wrong, or the run was on another product"
    return [replace(found, notes=(*found.notes, f"above the roof: {why}"), possible=bool(excess))]
