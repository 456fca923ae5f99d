"""What the limiter leaves on the table against the sourced roofs of a platform.

Rates of the run (bytes or operations over time) are compared with documented roofs. The profiler's own peaks hold at
the clock of the run and are never mixed with them; a compute roof is also shown scaled to that clock, where the sheet
says at which clock it holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kopt_kb.analysis.profile import KernelProfile
from kopt_kb.analysis.roofline.ceilings import Ceiling, compute_ceiling, memory_ceiling, traffic_pattern
from kopt_kb.errors import BadInput
from kopt_kb.problem.work import Work
from kopt_kb.quantity.quantity import Quantity
from kopt_kb.wiki.json import number_json
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
    """

    name: str
    achieved_si: float
    roof: Quantity
    basis: str
    notes: tuple[str, ...] = ()

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
            "roof_si": number_json(self.roof.si),
            "share": self.share,
            "basis": self.basis,
            "citations": [str(one) for one in self.roof.citations()],
            "notes": list(self.notes),
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
    rate, notes = profile.rate("dram_bytes"), []
    if work is not None and profile.duration_s:
        moved = int(work.compulsory("dram").value)
        rate = moved / profile.duration_s
        notes.append("compulsory bytes of the work")
    elif profile.bound("dram_bytes") != "exact":
        notes.append(f"the bytes are a {profile.bound('dram_bytes')} bound")
    if rate is None or not moved:
        return []
    return _under(memory_ceiling(platform, traffic_pattern(read, written), moved), rate, notes)


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
        try:
            found += _under(compute_ceiling(platform, dtype, engine), rate, notes)
        except BadInput:  # the part has no such engine, or the wiki no such axis
            continue
    return found


def _under(ceiling: Ceiling, rate_si: float, notes: list[str]) -> list[Headroom]:
    if not isinstance(ceiling.roof, Quantity):
        return []
    return [Headroom(ceiling.name, rate_si, ceiling.roof, ceiling.basis, (*notes, *ceiling.notes))]
