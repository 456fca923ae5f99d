"""Roofs of a work for its gap: least time as documented, at the clock of the run, as ever measured, and as executed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from kopt_kb.analysis.evidence import Evidence
from kopt_kb.analysis.gap.causes import Certainty
from kopt_kb.analysis.profile import KernelProfile
from kopt_kb.analysis.roofline.ceilings import Ceiling, best_known, compute_ceiling, memory_ceiling, traffic_pattern
from kopt_kb.base.errors import BadInput
from kopt_kb.problem.counts import ByteCount, Count, FlopCount
from kopt_kb.problem.work import Work
from kopt_kb.quantity.quantity import Quantity
from kopt_kb.wiki.registry import Platform

__all__ = ["Reached", "RoofTimes", "counted_work", "roofs_of"]

_HZ_OF_GHZ = 1e9


@dataclass(frozen=True, slots=True)
class Reached:
    """The best rate that this machine gave for a roof, with the same footprint or shape.

    Attributes:
        roof: `dram`, or `bf16 matrix`.
        rate_si: B/s or op/s.
        what: Who reached it: a probe's record, or a row of the wiki.
    """

    roof: str
    rate_si: float
    what: str


@dataclass(frozen=True, slots=True)
class RoofTimes:
    """Seconds that a work takes under one roof, by what is known of it; each at least the one before.

    Attributes:
        name: `dram`, or `bf16 matrix`.
        least_s: Useful amount at the documented rate.
        clocked_s: The same at the clock of the run.
        reached_s: The same at the best measured rate.
        used_s: The executed amount at that rate.
        citations: Rows of the documented rate.
        evidence: By step: `clock`, `reach`, `used`.
        certainty: How sure the executed amount is.
    """

    name: str
    least_s: float
    clocked_s: float
    reached_s: float
    used_s: float
    citations: tuple[str, ...]
    evidence: Mapping[str, tuple[Evidence, ...]]
    certainty: Certainty = "measured"

    @property
    def is_memory(self) -> bool:
        """Whether it is the roof of device memory."""
        return self.name == "dram"


def counted_work(profiles: Iterable[KernelProfile]) -> Work | None:
    """Return the work that reports count, operations and DRAM bytes; None when they count neither.

    It stands in for the work of a problem nobody named: padding and bytes moved twice are part of it.
    """
    flops: dict[tuple[str, str], float] = {}
    moved = {"read": 0.0, "write": 0.0}
    both, known = 0.0, False
    for profile in profiles:
        for key, amount in profile.flops.items():
            flops[key] = flops.get(key, 0.0) + amount
        parts = {kind: profile.get(f"dram_{kind}_bytes") for kind in moved}
        whole = profile.get("dram_bytes")
        if all(value is not None for value in parts.values()):
            moved = {kind: moved[kind] + (parts[kind] or 0.0) for kind in moved}
            known = True
        elif whole is not None:
            both, known = both + whole, True
    bytes_ = [(kind, amount) for kind, amount in (*moved.items(), ("both", both)) if amount]
    operations = [(key, amount) for key, amount in flops.items() if amount]
    if not operations and not (known and bytes_):
        return None
    return Work(
        op="counted",
        shape=(),
        dtype="mixed",
        flops=tuple(
            FlopCount(dtype, "matrix" if engine == "matrix" else "vector", Count(round(amount), "upper"))
            for (dtype, engine), amount in operations
        ),
        bytes=tuple(
            ByteCount("dram", "read" if kind == "read" else "write" if kind == "write" else "both",
                      Count(round(amount), "upper"))
            for kind, amount in bytes_
        ),
    )  # fmt: skip


def roofs_of(
    work: Work,
    platform: Platform,
    profiles: tuple[KernelProfile, ...],
    *,
    clock_hz: float | None,
    reached: tuple[Reached, ...] = (),
    scale: float = 1.0,
    padding: Evidence | None = None,
) -> tuple[RoofTimes, ...]:
    """Return the roofs of a work: of each engine it uses, and of device memory; one that is UNKNOWN is left out.

    Args:
        work: Useful operations, executed ones where a count of the kernel has them, and compulsory bytes.
        platform: Where the roofs stand.
        profiles: Kernels that did the work, with what their counters say was executed.
        clock_hz: Mean clock of the SMs while the time was taken; None when nobody read it.
        reached: Best rates by roof, preferred to the rows of the wiki.
        scale: The time that is accounted for over the time of the profiles.
        padding: Matrix operations executed over useful ones, where neither counters nor the work say how many.
    """
    probes = {one.roof: one for one in reached}
    found = []
    for flop in work.flops:
        try:
            ceiling = compute_ceiling(platform, flop.dtype, flop.engine)
        except BadInput:  # the part has no such engine
            continue
        roof = _engine(flop, ceiling, platform, clock_hz, probes.get(ceiling.name))
        found += [] if roof is None else [_executed(roof, flop, profiles, scale, padding)]
    if any(one.level == "dram" for one in work.bytes):
        roof = _memory(work, platform, profiles, probes.get("dram"))
        found += [roof] if roof is not None else []
    return tuple(found)


def _rate(ceiling: Ceiling) -> Quantity | None:
    return ceiling.documented if isinstance(ceiling.documented, Quantity) else None


def _cited(value: Quantity) -> tuple[str, ...]:
    return tuple(str(one.location) for one in value.citations())


def _engine(
    flop: FlopCount, ceiling: Ceiling, platform: Platform, clock_hz: float | None, probe: Reached | None
) -> RoofTimes | None:
    documented = _rate(ceiling)
    if documented is None or not flop.useful.value:
        return None
    rate = float(documented.si)
    least = flop.useful.value / rate
    clocked, evidence = least, {}
    at = _peak_clock(platform, flop.engine, documented)
    if clock_hz and at is not None and clock_hz < float(at.si):
        clocked = least * float(at.si) / clock_hz
        note = f"the documented peak holds at {float(at.si) / _HZ_OF_GHZ:.3g} GHz ({', '.join(_cited(at))})"
        evidence["clock"] = (Evidence("sm_frequency_hz", clock_hz, "Hz", None, note),)
    best = _best(ceiling, probe) or _third_party(platform, "measured_compute", dtype=flop.dtype, engine=flop.engine)
    reached = clocked
    if best is not None and flop.useful.value / best.rate_si > clocked:
        reached = flop.useful.value / best.rate_si
        evidence["reach"] = (Evidence("reached_rate", best.rate_si, "FLOP/s", None, best.what),)
    return RoofTimes(ceiling.name, least, clocked, reached, reached, _cited(documented), evidence)


def _executed(
    roof: RoofTimes, flop: FlopCount, profiles: tuple[KernelProfile, ...], scale: float, padding: Evidence | None
) -> RoofTimes:
    """Return the roof with what was executed: by counters, the kernel's own count, whole tiles, else the busy pipe."""
    useful = flop.useful.value
    name = f"flops.{flop.engine}.{flop.dtype}"
    counted = [profile.get(name) for profile in profiles]
    executed = sum(one for one in counted if one) if profiles and None not in counted else None
    what = "counted while it ran"
    if not executed and flop.executed is not None:
        executed, what = float(flop.executed.value), "counted in its code"
    if executed:
        used = max(roof.used_s, roof.reached_s * executed / useful)
        proof = Evidence("executed_over_useful", executed / useful, "1", None, f"{flop.dtype} operations, {what}")
        return replace(roof, used_s=used, evidence={**roof.evidence, "used": (proof,)})
    if padding is not None and flop.engine == "matrix":
        used = max(roof.used_s, roof.reached_s * padding.value)
        return replace(roof, used_s=used, evidence={**roof.evidence, "used": (padding,)})
    shares = [profile.get("pipe_elapsed.tensor_pct") for profile in profiles] if flop.engine == "matrix" else []
    busy = sum((share or 0.0) / 100 * (one.duration_s or 0.0) for share, one in zip(shares, profiles, strict=False))
    used = busy * scale * roof.reached_s / roof.clocked_s
    if not shares or None in shares or used <= roof.used_s:
        return roof
    proof = Evidence("pipe_elapsed.tensor_pct", 100 * busy / _total_s(profiles), "%", None, "matrix pipe, busy")
    return replace(roof, used_s=used, evidence={**roof.evidence, "used": (proof,)})


_LEAST_RATE = 1.0
"""Bytes a second below which a counter says nothing: it was not collected, or is not of this kernel."""


def _total_s(profiles: tuple[KernelProfile, ...]) -> float:
    return sum(one.duration_s or 0.0 for one in profiles)


def _memory(
    work: Work, platform: Platform, profiles: tuple[KernelProfile, ...], probe: Reached | None
) -> RoofTimes | None:  # fmt: skip
    read, written = (sum(one.compulsory.value for one in work.bytes if one.direction == kind and one.level == "dram")
                     for kind in ("read", "write"))  # fmt: skip
    moved = work.compulsory_bytes("dram")
    pattern = traffic_pattern(read, written)
    ceiling = memory_ceiling(platform, pattern, moved)
    documented = _rate(ceiling)
    if documented is None or not moved:
        return None
    least = moved / float(documented.si)
    evidence: dict[str, tuple[Evidence, ...]] = {}
    best = _best(ceiling, probe) or _third_party(platform, "measured_bandwidth", level="dram", pattern=pattern)
    known = (one for one in (best, _busy_rate(profiles)) if one is not None and one.rate_si >= _LEAST_RATE)
    rates = sorted(known, key=lambda one: one.rate_si)
    reached = least
    if rates and rates[0].rate_si < float(documented.si):
        reached = moved / rates[0].rate_si
        evidence["reach"] = (Evidence("reached_rate", rates[0].rate_si, "B/s", None, rates[0].what),)
    total = _moved(profiles)
    used = reached
    if total is not None and total > moved:
        used = reached * total / moved
        evidence["used"] = (Evidence("dram_over_compulsory", total / moved, "1", None, "bytes of device memory"),)
    above = any(one.bound("dram_bytes") == "upper" for one in profiles)
    return RoofTimes(
        "dram", least, least, reached, used, _cited(documented), evidence, "at most" if above else "measured"
    )


def _moved(profiles: tuple[KernelProfile, ...]) -> float | None:
    """Return the bytes of device memory that all launches moved; None unless all were counted."""
    counted = [profile.get("dram_bytes") for profile in profiles]
    return None if not profiles or None in counted else sum(one or 0.0 for one in counted)


def _busy_rate(profiles: tuple[KernelProfile, ...]) -> Reached | None:
    """Return the rate at which the profiler counts device memory as busy all the time: what refresh and turning leave.

    Only the tool's own share of busy time tells it; a share computed from bytes and a peak would say nothing new.
    """
    shares = [profile.get("dram_sol_pct") for profile in profiles]
    moved, busy_s = _moved(profiles), 0.0
    for share, profile in zip(shares, profiles, strict=True):
        if share is None or profile.source.vendor != "nvidia":
            return None
        busy_s += share / 100 * (profile.duration_s or 0.0)
    if not moved or not busy_s:
        return None
    return Reached(
        "dram", moved / busy_s, f"device memory was busy {100 * busy_s / _total_s(profiles):.3g} % of the time"
    )


def _best(ceiling: Ceiling, probe: Reached | None) -> Reached | None:
    """Return a probe's rate, else our own measured row."""
    if probe is not None or ceiling.measured is None:
        return probe
    return Reached(ceiling.name, float(ceiling.measured.si), f"measured: {', '.join(_cited(ceiling.measured))}")


def _third_party(platform: Platform, metric: str, **axes: str) -> Reached | None:
    value = best_known(platform, metric, **axes)
    return None if value is None else Reached(metric, float(value.si), f"best known: {', '.join(_cited(value))}")


def _peak_clock(platform: Platform, engine: str, documented: Quantity) -> Quantity | None:
    """Return the clock that a documented peak holds at, as its row says; else the boost, else the highest clock."""
    says = "max" if any("clock=max" in one.key for one in documented.citations()) else "boost"
    for wanted in dict.fromkeys((says, "boost", "max")):
        for ops in (engine, "all"):
            values = [platform.quantity(row) for row in platform.rows("sm_clock", **{"class": wanted, "ops": ops})]
            known = [one for one in values if isinstance(one, Quantity)]
            if known:
                return max(known, key=lambda one: one.si)
    return None
