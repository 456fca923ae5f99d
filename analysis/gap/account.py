"""The account: each second between the roof and the time is charged to the first cause whose evidence explains it.

First the roof is made to hold what is known of the run: the clock, the best rate ever measured, the operations and
bytes that were really executed and moved at each level, the instructions. Each step makes the least time longer or
leaves it; by how much is the part of that cause. Then time in which SMs had nothing to do is added, then time in which
warps waited. Nothing is charged beyond the time itself, and what is left is unexplained, so that the parts always sum
to the gap. Methods and their sources: `causes.py`.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from kopt_kb.analysis.evidence import Evidence
from kopt_kb.analysis.gap.causes import CAUSES, UNEXPLAINED, CauseName, Certainty
from kopt_kb.analysis.gap.document import Gap, GapPart
from kopt_kb.analysis.gap.roofs import Reached, RoofTimes, counted_work, roofs_of
from kopt_kb.analysis.gap.spent import Fact, Spent, spent_of
from kopt_kb.analysis.profile import KernelProfile
from kopt_kb.analysis.rules.recording import amd_passes, recording_of
from kopt_kb.problem.work import Work
from kopt_kb.wiki.registry import Platform

__all__ = ["UNEXPLAINED_LIMIT_PCT", "GapCase", "account"]

UNEXPLAINED_LIMIT_PCT = 20.0
"""Above this share of a gap an account says what to record next."""

_LEVELS = ("l2", "l1", "shared")
_NEAR = 1e-9
_LEAST = 1e-4  # parts of a gap that nobody would read about


@dataclass(frozen=True, slots=True)
class GapCase:
    """What is known of a time.

    Attributes:
        name: Kernel or shape.
        time_s: The time, as whoever judges it took it.
        profiles: Reports of the launches that make it up, one after the other; empty without any.
        platform: The product, None when unknown.
        work: What had to be computed; None takes what the counters count.
        clock_hz: Mean SM clock while the time was taken; None when nobody read it.
        reached: Best rates of this machine by roof.
        waves_loss_pct: SM time that the grid leaves empty, where no profile says so; None when unknown.
        empty_launch_s: Time of an empty launch; None when it was not taken. A probe's time holds a launch of its own.
        padding: Operations of whole tiles over those of the result, where no counter says so; None when unknown.
        launches: Launches that make up the time, where no profile says so.
        sources: Of the last four, by field: what says so.
    """

    name: str
    time_s: float
    profiles: tuple[KernelProfile, ...] = ()
    platform: Platform | None = None
    work: Work | None = None
    clock_hz: float | None = None
    reached: tuple[Reached, ...] = ()
    waves_loss_pct: float | None = None
    empty_launch_s: float | None = None
    padding: float | None = None
    launches: int = 1
    sources: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of_profile(cls, profile: KernelProfile, platform: Platform | None, work: Work | None = None) -> GapCase:
        """Return the case of a launch by its own report: time and clock are those of the profiled run."""
        clock_hz = profile.get("sm_frequency_hz")
        return cls(profile.function, profile.duration_s or 0.0, (profile,), platform, work, clock_hz)


@dataclass(frozen=True, slots=True)
class _Charge:
    """What a step asks for: the time up to which its cause explains."""

    cause: CauseName
    up_to_s: float
    evidence: tuple[Evidence, ...]
    level: str = ""
    certainty: Certainty = "measured"


def account(case: GapCase) -> Gap:
    """Return where the time between a roof and a run went.

    Raises:
        BadInput: A page of the wiki that it needs is broken.
    """
    if not case.time_s > 0:
        return Gap(
            case.name, case.time_s, "", None, "unknown", notes=("no time was recorded",), record=_record(case, None)
        )
    spent = _spent(case)
    roofs, notes = _roofs(case)
    basis: Literal["documented", "counters", "unknown"] = "documented"
    if not roofs and spent is not None:
        roofs, basis = _of_counters(spent), "counters"
        if roofs:
            notes.append("the roof is the busiest unit's own peak by the profiler's counters, at the clock of the run")
    if not roofs:
        return Gap(case.name, case.time_s, "", None, "unknown", notes=tuple(notes), record=_record(case, spent))
    roof = max(roofs, key=lambda one: one.least_s)
    gap_s = case.time_s - roof.least_s
    if gap_s <= 0:
        notes.append("the time is below the roof: a counter, the work or the product is wrong")
        return Gap(case.name, case.time_s, roof.name, roof.least_s, basis, roof.citations, notes=tuple(notes))
    parts, cut = _charged(case, spent, roofs, roof.least_s, gap_s)
    beaten = [one for one in cut if one == CAUSES["reach"].words]
    if beaten:
        notes.append("the run is faster than the best that was measured before")
    if cut := [one for one in cut if one not in beaten]:
        notes.append(f"cut at the time itself, their evidence says more: {', '.join(cut)}")
    notes += _hidden(parts)
    rest = parts[-1].share_pct
    record = _record(case, spent) if rest > UNEXPLAINED_LIMIT_PCT else ()
    return Gap(case.name, case.time_s, roof.name, roof.least_s, basis, roof.citations, parts, record, tuple(notes))


def _hidden(parts: Sequence[GapPart]) -> list[str]:
    """Return the note that units work at once: only the last one charged, the busiest, can be sped up by itself."""
    units = [one for one in parts if one.level in _LEVELS or one.cause == "instructions"]
    if len(units) < 2:
        return []
    others = " and ".join(one.words for one in units[:-1])
    return [f"{units[-1].words} takes longest; {others} is hidden under it and counts once that takes less"]


def _spent(case: GapCase) -> Spent | None:
    """Return what the launches spent, as shares of the time that is accounted for."""
    whole: Spent | None = None
    for profile in case.profiles:
        one = spent_of(profile)
        whole = one if whole is None else whole + one
    return whole.scaled(case.time_s / whole.time_s) if whole is not None and whole.time_s > 0 else None


def _roofs(case: GapCase) -> tuple[tuple[RoofTimes, ...], list[str]]:
    notes = []
    work = case.work
    if case.platform is None:
        return (), ["no product is known, so there is no documented roof"]
    if work is None:
        work = counted_work(case.profiles)
        notes.append("no work was named: what the kernel itself counts stands in, padding and repeated bytes included")
    if work is None:
        return (), ["neither work nor counters of operations and bytes are known"]
    if case.clock_hz is None:
        notes.append("the clock of the run was not read, so none of the gap can be charged to it")
    profiled_s = sum(one.duration_s or 0.0 for one in case.profiles)
    scale = case.time_s / profiled_s if profiled_s else 1.0
    roofs = roofs_of(
        work, case.platform, case.profiles,
        clock_hz=case.clock_hz, reached=case.reached, scale=scale, padding=_padding(case),
    )  # fmt: skip
    return roofs, notes


def _padding(case: GapCase) -> Evidence | None:
    if case.padding is None:
        return None
    return Evidence("executed_over_useful", case.padding, "1", None, case.sources.get("padding", "whole tiles"))


def _of_counters(spent: Spent) -> tuple[RoofTimes, ...]:
    """Return the busiest unit as a roof: what it did takes its share of the time at its own peak."""
    names = {"dram": "dram", "issue": "compute"}
    return tuple(
        RoofTimes(name, fact.seconds, fact.seconds, fact.seconds, fact.seconds, (), {})
        for unit, name in names.items()
        if (fact := spent.units.get(unit)) is not None and fact.seconds
    )


def _charged(
    case: GapCase, spent: Spent | None, roofs: Sequence[RoofTimes], least_s: float, gap_s: float
) -> tuple[tuple[GapPart, ...], list[str]]:
    """Return the parts in the order of charging, the unexplained one last, and the causes that were cut."""
    parts: list[GapPart] = []
    cut: list[str] = []
    at_s = least_s

    def part(cause: CauseName, seconds: float, charge: _Charge | None = None) -> GapPart:
        more = () if charge is None else (charge.level, charge.certainty, charge.evidence)
        return GapPart(cause, seconds, 100 * seconds / gap_s, 100 * seconds / case.time_s, *more)

    for charge in _steps(roofs, spent, case):
        wanted_s = _wanted_s(charge, at_s, case.time_s)
        end_s = min(wanted_s, case.time_s)
        if end_s - at_s <= _LEAST * gap_s:
            continue
        made = part(charge.cause, end_s - at_s, charge)
        parts.append(made)
        if wanted_s > case.time_s * (1 + _NEAR) and charge.certainty == "measured":
            cut.append(made.words)
        at_s = end_s
    parts.append(part(UNEXPLAINED, case.time_s - at_s))
    return tuple(parts), cut


_ADDED = frozenset({"launch", "tail", "imbalance"})
"""Causes whose seconds come on top of what units take."""


def _wanted_s(charge: _Charge, at_s: float, time_s: float) -> float:
    """Return the time up to which a cause explains, where charging stands."""
    if charge.cause == "latency":  # waits are spread evenly: of what is left they take their share of the time
        return at_s + (time_s - at_s) * min(1.0, charge.up_to_s / time_s)
    return at_s + charge.up_to_s if charge.cause in _ADDED else charge.up_to_s


def _steps(roofs: Sequence[RoofTimes], spent: Spent | None, case: GapCase) -> Iterator[_Charge]:
    """Yield what each cause explains, in the order of the table."""
    yield _slowest("clock", roofs, [one.clocked_s for one in roofs], "clock")
    yield _slowest("reach", roofs, [one.reached_s for one in roofs], "reach")
    engines = [one.reached_s if one.is_memory else one.used_s for one in roofs]
    yield _slowest("tile", roofs, engines, "used")
    yield _slowest("extra-bytes", roofs, [one.used_s for one in roofs], "used", level="dram")
    if spent is not None:
        for level in _LEVELS:
            yield _unit("extra-bytes", spent.units.get(level, Fact()), level)
        yield _unit("instructions", spent.units.get("issue", Fact()))
    yield from _idle(spent, case, _launches_in_reach(roofs, case))


def _launches_in_reach(roofs: Sequence[RoofTimes], case: GapCase) -> int:
    """Return the launches that what is charged to `reach` holds: a probe was timed with one of its own."""
    slowest = max(roofs, key=lambda one: one.reached_s)
    notes = {proof.note for proof in slowest.evidence.get("reach", ())}
    return int(any(one.roof == slowest.name and one.what in notes for one in case.reached))


def _slowest(
    cause: CauseName, roofs: Sequence[RoofTimes], seconds: Sequence[float], step: str, level: str = ""
) -> _Charge:
    """Return a charge up to the roof that takes longest at this step, with that roof's evidence."""
    roof, up_to = max(zip(roofs, seconds, strict=True), key=lambda pair: pair[1])
    return _Charge(cause, up_to, roof.evidence.get(step, ()), level, roof.certainty if level else "measured")


def _unit(cause: CauseName, fact: Fact, level: str = "") -> _Charge:
    return _Charge(cause, fact.seconds, fact.evidence, level, fact.certainty)


def _idle(spent: Spent | None, case: GapCase, launches_in_reach: int) -> Iterator[_Charge]:
    """Yield what SMs without work and waiting warps cost; without a profile what is known of launch and grid."""
    count = len(case.profiles) or case.launches
    launch = spent.launch if spent is not None else Fact()
    if not launch.seconds and case.empty_launch_s:
        note = case.sources.get("empty_launch_s", "an empty launch, by the same clock")
        launch = Fact(count * case.empty_launch_s, (Evidence("empty_launch_s", case.empty_launch_s, "s", None, note),))
    more = launch.seconds * max(0, count - launches_in_reach) / count
    yield _Charge("launch", more, launch.evidence)
    tail = spent.tail if spent is not None else Fact()
    if spent is None and case.waves_loss_pct:
        note = case.sources.get("waves_loss_pct", "by grid, occupancy and SMs")
        proof = Evidence("predicted_tail_pct", case.waves_loss_pct, "%", None, note)
        tail = Fact(case.time_s * case.waves_loss_pct / 100, (proof,), "at most")
    yield _Charge("tail", tail.seconds, tail.evidence, "", tail.certainty)
    if spent is not None:
        yield _Charge("imbalance", spent.imbalance.seconds, spent.imbalance.evidence)
        if not spent.high:
            yield _Charge("latency", spent.latency.seconds, spent.latency.evidence, "", spent.latency.certainty)


_NCU = "ncu --set full --clock-control none --kernel-name regex:{name} --launch-count 1 --export profile PROGRAM"


def _record(case: GapCase, spent: Spent | None) -> tuple[str, ...]:
    """Return what to record so that more of the gap has a cause, the most telling first."""
    found: list[str] = []
    part = case.platform.identity if case.platform is not None else None
    is_amd = (
        part.vendor.casefold() == "amd"
        if part is not None
        else any(one.source.vendor == "amd" for one in case.profiles)
    )
    if not case.profiles:
        found += amd_passes(part.target) if is_amd and part is not None else [_NCU.format(name=".")]
    for profile in case.profiles:
        if spent is None or spent.missing:
            amd = profile.source.vendor == "amd"
            name = shlex.quote(profile.function)
            found += recording_of(profile, "insufficient-data") if amd else [_NCU.format(name=name)]
    if case.platform is not None and case.work is None:
        found.append("name the work: --op, --shape and --dtype, so that padding and extra bytes can be told")
    if case.platform is None:
        found.append("name the product with --platform")
    elif not any("reach" in one.evidence for one in _roofs(case)[0]):
        found.append("kb bench ceilings: what a copy of the same bytes, or a library's product, reaches on this device")
    if not found and not is_amd:
        found.append("stall samples by instruction: kb profile read --source REPORT.ncu-rep (ncu --set full)")
    if not found:
        found.append("waits by instruction: rocprofv3 --att -d att -- PROGRAM, then kb profile read on its folder")
    return tuple(dict.fromkeys(found))
