"""What the limiter leaves on the table: against the sourced roofs of a platform, else against the counters' own peak.

Rates of the run (bytes or operations over time) are compared with documented or measured roofs. The profiler's own
peaks hold at the clock of the run and are never mixed with them: they serve where the wiki has no roof of a unit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from kopt_kb.analysis.profile import KernelProfile
from kopt_kb.analysis.roofline.basis import basis_name
from kopt_kb.analysis.roofline.ceilings import (
    Ceiling,
    compute_ceiling,
    level_ceiling,
    memory_ceiling,
    traffic_pattern,
)
from kopt_kb.analysis.rules.derived import DerivedMetrics
from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import Wire
from kopt_kb.problem.work import Work
from kopt_kb.quantity.quantity import Quantity
from kopt_kb.quantity.units import si_number
from kopt_kb.wiki.registry import Platform

__all__ = ["Headroom", "headroom_of"]

_LEVELS = ("l2", "l1", "shared")
_ROOFS: Mapping[str, str] = {
    "dram": "dram", "l2": "l2", "l1": "l1", "shared": "shared", "bank-conflict": "shared", "spill": "l1",
    "tensor": "matrix", "fp32": "fp32 vector", "fp64": "fp64", "int": "int32 vector",
}  # fmt: skip
"""Which roof a limiter is about: its name, or its last word."""
_PIPES: Mapping[str, str] = {"tensor": "tensor", "fp32": "fma", "fp64": "fp64", "sfu": "xu", "int": "alu"}


@dataclass(frozen=True, slots=True)
class Headroom(Wire):
    """An achieved rate under a roof.

    Attributes:
        name: Roof or unit: `dram`, `bf16 matrix`, `sfu`.
        share: Achieved over roof.
        basis: `measured`, `documented` or `vendor_measured` for a roof of the wiki, `counters` for the profiler's own
            peak.
        achieved_si: Rate of the run, B/s or op/s; None for a share of counters.
        roof: Ceiling with its citations; None for a share of counters.
        notes: Bounds, clocks, and what was not scaled.
        possible: Whether nothing contradicts the roof; a share above 1 without a reason is a fault.
        of_limiter: Whether it is the roof of what limits the kernel.
    """

    name: str
    share: float
    basis: str
    achieved_si: float | None = None
    roof: Quantity | None = None
    notes: tuple[str, ...] = ()
    possible: bool = True
    of_limiter: bool = False

    WIRE: ClassVar = (
        "name", "achieved_si", "roof_si", "share", "basis", "citations", "notes", "possible", "of_limiter"
    )  # fmt: skip

    @property
    def roof_si(self) -> int | float | None:
        """The roof in base units."""
        return None if self.roof is None else si_number(self.roof.si)

    @property
    def citations(self) -> tuple[str, ...]:
        """Wiki rows of the roof."""
        return () if self.roof is None else tuple(str(one) for one in self.roof.citations())

    def __str__(self) -> str:
        """One line with share, roof and citations."""
        if self.roof is None:
            return "; ".join((f"{self.name}: {100 * self.share:.1f} % of its peak", *self.notes))
        whence = f"{basis_name(self.basis)}; {', '.join(self.citations)}"
        text = f"{self.name}: {100 * self.share:.1f} % of {self.roof} ({whence})"
        return "; ".join((text, *self.notes))


def headroom_of(
    kernel: DerivedMetrics, limiter: str, platform: Platform | None = None, work: Work | None = None
) -> tuple[Headroom, ...]:
    """Return the roofs that the run can be compared with: that of the limiter first, then the nearest.

    Args:
        kernel: Bytes, operations and times; shares of units.
        limiter: Word of the closed table.
        platform: Where the roofs stand; one whose roof is UNKNOWN or absent is left out. None leaves the counters.
        work: Useful operations and compulsory bytes, used instead of counted ones.
    """
    profile = kernel.profile
    headrooms: list[Headroom] = []
    if platform is not None:
        headrooms = [*_memory(profile, platform, work), *_levels(profile, platform), *_compute(profile, platform, work)]
    wanted = _ROOFS.get(limiter, "")
    headrooms = [replace(one, of_limiter=bool(wanted) and _is(one.name, wanted)) for one in headrooms]
    if not any(one.of_limiter for one in headrooms):
        headrooms += _of_counters(kernel, limiter)
    return tuple(sorted(headrooms, key=lambda one: (not one.of_limiter, -one.share)))


def _is(name: str, wanted: str) -> bool:
    return name == wanted or wanted in name.split()


def _of_counters(kernel: DerivedMetrics, limiter: str) -> list[Headroom]:
    """Return the share of the limiting unit as the profiler counts it."""
    slots = None if kernel.issue_pct is None else kernel.issue_pct * kernel.active_share
    shares = {
        "dram": kernel.stream_pct, "l2": kernel.l2_pct, "l1": kernel.l1_pct, "shared": kernel.shared_use_pct,
        "bank-conflict": kernel.shared_use_pct, "issue": slots, "compute": kernel.compute_pct,
        "memory": kernel.memory_pct, "uncoalesced": kernel.memory_pct,
        **{one: kernel.pipes.get(pipe, kernel.pipes.get("valu")) for one, pipe in _PIPES.items()},
    }  # fmt: skip
    share = shares.get(limiter)
    if share is None:
        return []
    note = "by the profiler's counters, at the clock of the run"
    return [Headroom(limiter, share / 100, "counters", notes=(note,), of_limiter=True)]


def _levels(profile: KernelProfile, platform: Platform) -> list[Headroom]:
    headrooms: list[Headroom] = []
    for level in _LEVELS:
        rate = profile.rate(f"{level}_bytes")
        if not rate:
            continue
        bound = profile.bound(f"{level}_bytes")
        notes = [] if bound == "exact" else [f"the bytes are {_article(bound)} bound"]
        clock = profile.get("sm_frequency_hz")
        if clock and level != "l2":
            notes.append(f"the run was at {clock / 1e9:.2f} GHz, the roof is not scaled to it")
        excess = "an access counts as a whole line" if bound == "upper" else ""
        headrooms += _under(level_ceiling(platform, level), rate, notes, excess)
    return headrooms


def _article(bound: str) -> str:
    return "an upper" if bound == "upper" else "a lower"


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
        notes.append(f"the bytes are {_article(bound)} bound")
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
    headrooms: list[Headroom] = []
    clock = profile.get("sm_frequency_hz")
    notes = [f"the run was at {clock / 1e9:.2f} GHz, the roof is not scaled to it"] if clock else []
    for (dtype, engine), rate in rates.items():
        upper = profile.bound(f"flops.{engine}.{dtype}") == "upper"
        excess = "sparse products count the operations they leave out" if upper and work is None else ""
        try:
            headrooms += _under(compute_ceiling(platform, dtype, engine), rate, notes, excess)
        except BadInput:  # the part has no such engine, or the wiki no such axis
            continue
    return headrooms


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
    headroom = Headroom(
        ceiling.name, rate_si / float(ceiling.roof.si), ceiling.basis, rate_si, ceiling.roof, (*notes, *ceiling.notes)
    )
    if headroom.share <= 1:
        return [headroom]
    if ceiling.is_vendors:
        beaten = "faster than the vendor's own measurement, which is no limit"
        return [replace(headroom, notes=(*headroom.notes, beaten))]
    if ceiling.measured is not None and isinstance(ceiling.documented, Quantity):
        above = f"faster than our own measurement of {ceiling.measured}"
        share = rate_si / float(ceiling.documented.si)
        headroom = replace(
            headroom, share=share, roof=ceiling.documented, basis="documented", notes=(*headroom.notes, above)
        )
    if headroom.share <= 1:
        return [headroom]
    why = excess or "impossible: a counter is wrong, or the run was on another product"
    return [replace(headroom, notes=(*headroom.notes, f"above the roof: {why}"), possible=bool(excess))]
