"""The roofline of a piece of work on a platform: intensity, ridge, bound, attainable rate and target.

Model: Williams, Waterman, Patterson, "Roofline: an insightful visual performance model for multicore
architectures", CACM 52(4), 2009. Engines run side by side, so the time of a work is the largest of the time of
each engine and the time of device memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from kopt_kb.analysis.roofline.ceilings import (
    Ceiling,
    best_bandwidth,
    best_known,
    compute_ceiling,
    level_ceiling,
    memory_ceiling,
    pattern_of,
)
from kopt_kb.analysis.roofline.recorded import Bound
from kopt_kb.analysis.roofline.shown import roofline_blocks
from kopt_kb.analysis.roofline.targets import TARGET_FACTOR, Aim, RoofTarget, target_of
from kopt_kb.base.errors import BadInput, FindingError
from kopt_kb.base.markup.html import fragment
from kopt_kb.base.wire import Wire
from kopt_kb.problem.counts import Level
from kopt_kb.problem.work import Work
from kopt_kb.quantity.citation import Citation
from kopt_kb.quantity.quantity import Quantity, Unknown, counted
from kopt_kb.quantity.readable import duration, rounded, said
from kopt_kb.wiki.registry import Platform, Product, platform_of

__all__ = ["GradeRefused", "Roofline", "WorkRoofs", "limits", "roofline", "roofs_of"]

BALANCED_BAND = Fraction(5, 100)
"""Work whose intensity is within 5 % of the ridge is balanced: either roof may bind."""

CLEARLY = 2
"""How many times faster than memory an engine of UNKNOWN roof must be, by a rate that it reaches, not to be judged."""

LEVELS: tuple[Level, ...] = ("dram", "llc", "l2", "l1", "shared")

MIN_GRADES = {"vendor": {"vendor"}, "device": {"vendor", "device"}, "measured": {"vendor", "device", "measured"}}


class GradeRefused(FindingError):
    """A roof rests on a weaker source than was asked for."""

    code = "KB059"


@dataclass(frozen=True, slots=True)
class Roofline(Wire):
    """Where a work stands under a platform's roofs.

    Attributes:
        compute: The roof of each (dtype, engine) the work uses.
        memory: The roof of device memory.
        levels: WorkRoofs of the on-chip levels the work has byte counts for; an UNKNOWN one is noted and not judged.
        intensity: Useful operations over compulsory bytes, per roof name; `total` for all engines.
        bound: What limits the work; `unknown` when a roof is.
        limiter: Name of the ceiling that binds (`dram`, `bf16 matrix`); empty when unknown.
        attainable: Highest useful rate under documented and under measured roofs.
        targets: The compute and the memory target; `target` is the one of the bound.
    """

    WIRE: ClassVar = (
        "platform", "work", "intensity=intensity._number_si", "ridge=ridge._number_si", "bound", "limiter",
        "attainable", "target", "targets", "ceilings=_ceilings", "citations=_citations", "notes",
    )  # fmt: skip
    platform: str
    work: Work
    compute: tuple[Ceiling, ...]
    memory: Ceiling
    intensity: Quantity
    ridge: Quantity | Unknown
    bound: Bound
    limiter: str
    attainable: dict[str, Quantity | Unknown]
    targets: tuple[RoofTarget, ...]
    notes: tuple[str, ...] = ()
    levels: tuple[Ceiling, ...] = ()

    def __repr__(self) -> str:
        shape = "x".join(map(str, self.work.shape))
        work = " ".join(filter(None, (self.platform, self.work.op, shape, self.work.dtype)))
        limiter = f" by {self.limiter}" if self.limiter else ""
        return f"Roofline({work}: {self.bound}{limiter}, {rounded(self.intensity.si)} FLOP/B, {self.target.line()})"

    def _repr_html_(self) -> str:
        return fragment(*roofline_blocks(self))

    def roofs(self) -> tuple[Ceiling, ...]:
        """Return all roofs: engines, device memory, on-chip levels."""
        return (*self.compute, self.memory, *self.levels)

    def times(self, basis: str = "measured") -> dict[str, Quantity | Unknown]:
        """Return the least time under each roof by its name, measured roofs where there are any."""
        return WorkRoofs(self.compute, self.memory, self.levels).times(self.work, basis)

    @property
    def target(self) -> RoofTarget:
        """The target that applies.

        Bandwidth for memory-bound and balanced work, the limiting engine's for compute-bound work; where a roof is
        missing, the one that can't be computed.
        """
        if self.bound == "compute":
            return next(one for one in self.targets if one.name == self.limiter)
        if self.bound == "unknown":
            return next(one for one in self.targets if isinstance(one.value, Unknown))
        return self.targets[-1]

    def citations(self) -> tuple[Citation, ...]:
        """Return every row the result rests on, each once."""
        found: list[Citation] = []
        for roof in self.roofs():
            for value in (roof.documented, roof.measured):
                if isinstance(value, Quantity):
                    found += value.citations()
                elif isinstance(value, Unknown) and value.citation is not None:
                    found.append(value.citation)
        return tuple(dict.fromkeys(found))

    def unknown(self) -> Unknown | None:
        """Return what is missing for the target of the bound, or None."""
        value = self.target.value
        return value if isinstance(value, Unknown) else None

    @property
    def _ceilings(self) -> tuple[Ceiling, ...]:
        return self.roofs()

    @property
    def _citations(self) -> tuple[Citation, ...]:
        return self.citations()


def _judged(levels: tuple[Ceiling, ...]) -> tuple[Ceiling, ...]:
    """Return the levels whose roof is known: only device memory and engines may make a bound unknown."""
    return tuple(one for one in levels if isinstance(one.roof, Quantity))


def _times(
    work: Work, compute: tuple[Ceiling, ...], memory: tuple[Ceiling, ...], basis: str
) -> dict[str, Quantity | Unknown]:
    """Return the least time of each roof, in seconds, by its name."""
    found: dict[str, Quantity | Unknown] = {}
    for roof, flop in zip(compute, work.flops, strict=True):
        value = _roof(roof, basis)
        operations = counted(flop.useful.value, "FLOP", "useful operations", flop.useful.exactness)
        found[roof.name] = operations / value
    for roof in memory:
        level = next(one for one in LEVELS if one == roof.name)
        moved = work.compulsory(level)
        found[level] = counted(moved.value, "B", f"bytes of {level}", moved.exactness) / _roof(roof, basis)
    return found


def _roof(ceiling: Ceiling, basis: str) -> Quantity | Unknown:
    return ceiling.measured if basis == "measured" and ceiling.measured is not None else ceiling.documented


def _attainable(work: Work, times: dict[str, Quantity | Unknown]) -> Quantity | Unknown:
    slowest: Quantity | None = None
    for value in times.values():
        if isinstance(value, Unknown):
            return value
        slowest = value if slowest is None or value > slowest else slowest
    total = sum(flop.useful.value for flop in work.flops)
    if slowest is None or slowest.si == 0:
        raise BadInput(
            "no operations and no bytes: there is nothing to attain", fix="give work that is not empty", code="KB058"
        )
    return counted(total, "FLOP", "useful operations") / slowest


def limits(times: dict[str, Quantity | Unknown]) -> tuple[Bound, str]:
    """Return what limits a work of these least times, and the roof that binds: empty where one is UNKNOWN."""
    known: dict[str, Quantity] = {name: value for name, value in times.items() if isinstance(value, Quantity)}
    if len(known) < len(times):
        return "unknown", ""
    levels = {name: value for name, value in known.items() if name in LEVELS}
    engines = {name: value for name, value in known.items() if name not in LEVELS}
    level = max(levels, key=lambda name: levels[name].si)
    slowest = max(engines, key=lambda name: engines[name].si, default=level)
    computing, moving = known[slowest].si, known[level].si
    if slowest == level or computing == moving == 0:
        return "memory", level
    if abs(computing - moving) <= BALANCED_BAND * moving:
        return "balanced", level
    return ("compute", slowest) if computing > moving else ("memory", level)


def _notes(
    platform: Platform,
    work: Work,
    targets: tuple[RoofTarget, ...],
    roofs: tuple[Ceiling, ...],
    idle: Mapping[str, str],
) -> tuple[str, ...]:
    found = [f"{one.name}: {note}" for one in roofs for note in one.notes]
    found += [f"{name}: {why}" for name, why in idle.items()]
    found += [
        f"{roof.name}: its roof is UNKNOWN and was not judged"
        for roof in roofs
        if roof.name in LEVELS[1:] and isinstance(roof.roof, Unknown)
    ]
    for target in targets:
        if target.metric == "bandwidth":
            best = best_bandwidth(platform, "dram", pattern_of(work))
        else:
            dtype, engine = target.name.split()
            best = best_known(platform, "measured_compute", dtype=dtype, engine=engine)
        if best is not None and isinstance(target.value, Quantity) and target.value > best:
            where = ", ".join(str(c.location) for c in best.citations())
            found.append(
                f"{target.name}: the target {target.value} is above the best known measurement {said(best)} ({where})"
            )
    if work.exactness() != "exact":
        found.append(f"the counts of the work are bounds: {work.exactness()}")
    return tuple(found)


def _refuse_weak(roofs: tuple[Ceiling, ...], min_grade: str | None) -> None:
    if min_grade is None:
        return
    if min_grade == "secondary":
        return
    if min_grade not in MIN_GRADES:
        raise BadInput(f"unknown grade {min_grade!r}", fix="vendor, device, measured or secondary", code="KB106")
    for roof in roofs:
        weak = set(roof.roof.grades()) - MIN_GRADES[min_grade] if isinstance(roof.roof, Quantity) else set()
        if weak and isinstance(roof.roof, Quantity):
            where = ", ".join(str(c.location) for c in roof.roof.citations())
            raise GradeRefused(
                f"{roof.name} rests on grade {', '.join(sorted(weak))}",
                where=where,
                fix=f"--min-grade {min_grade} refuses it",
            )


def roofline(work: Work, product: Product, *, min_grade: str | None = None, aim: Aim = TARGET_FACTOR) -> Roofline:
    """Return the roofline of a work on a product.

    Args:
        work: Useful operations by (dtype, engine) and compulsory bytes.
        product: The exact product, or its name.
        min_grade: Refuse roofs that rest on a weaker grade: vendor, device or measured.
        aim: Share of the roofs that the targets ask for, or a performance target.

    Raises:
        TargetAboveRoofError: The performance target is above a documented roof.
        BadInput: The part lacks the engine or type (a NONE row), or the work is empty.
        WikiFaults: A row it needs does not load.
    """
    platform = platform_of(product)
    found = roofs_of(work, platform)
    compute, memory, levels = found.compute, found.memory, found.levels
    roofs = (*compute, memory)
    _refuse_weak(roofs, min_grade)
    times = found.times(work, "measured")
    bound, limiter = limits(times)
    targets = (
        *(target_of("compute", one, work, aim) for one in compute),
        target_of("bandwidth", memory, work, aim),
    )
    attainable = {"documented": _attainable(work, found.times(work, "documented"))}
    if any(one.measured is not None for one in roofs):
        word = "vendor_measured" if any(one.is_vendors for one in roofs) else "measured"
        attainable[word] = _attainable(work, times)
    slowest = _limiting_engine(compute, times)
    notes = _notes(platform, work, targets, (*roofs, *levels), found.idle(work))
    return Roofline(
        platform.id, work, compute, memory, _intensity(work), slowest.roof / memory.roof if slowest else _no_ridge(),
        bound, limiter, attainable, targets, notes, levels,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class WorkRoofs:
    """The roofs of a work on a product: of each (dtype, engine), of device memory, of on-chip levels."""

    compute: tuple[Ceiling, ...]
    memory: Ceiling
    levels: tuple[Ceiling, ...]

    def times(self, work: Work, basis: str) -> dict[str, Quantity | Unknown]:
        """Return the least time under each roof by its name.

        Not judged are on-chip levels whose roof is UNKNOWN, and engines with an UNKNOWN roof that can't bind.
        """
        times = _times(work, self.compute, (self.memory, *_judged(self.levels)), basis)
        idle = self.idle(work)
        return {name: value for name, value in times.items() if name not in idle or isinstance(value, Quantity)}

    def idle(self, work: Work) -> dict[str, str]:
        """Return the engines of UNKNOWN roof that are faster than memory all the same, and why."""
        moved = work.compulsory_bytes("dram")
        memory = self.memory.roof
        found: dict[str, str] = {}
        for roof in self.compute:
            if isinstance(roof.roof, Quantity) or roof.at_least is None or isinstance(memory, Unknown):
                continue
            computing, moving = work.amount_under(roof.name) / roof.at_least.si, moved / memory.si
            if computing * CLEARLY <= moving:
                found[roof.name] = (
                    f"its roof is UNKNOWN and was not judged: at {said(roof.at_least)}, which it reaches at least "
                    f"({', '.join(str(one.location) for one in roof.at_least.citations())}), it takes "
                    f"{duration(computing)}, memory {duration(moving)}"
                )
        return found


def roofs_of(work: Work, platform: Platform) -> WorkRoofs:
    """Return the roofs of a work on a product."""
    compute = tuple(compute_ceiling(platform, flop.dtype, flop.engine) for flop in work.flops)
    memory = memory_ceiling(platform, pattern_of(work), work.compulsory_bytes("dram"))
    levels = tuple(level_ceiling(platform, level) for level in LEVELS[1:] if any(b.level == level for b in work.bytes))
    return WorkRoofs(compute, memory, levels)


def _limiting_engine(compute: tuple[Ceiling, ...], times: dict[str, Quantity | Unknown]) -> Ceiling | None:
    """Return the engine that takes longest: its ridge is the one the work is compared with."""
    known = [(value.si, at) for at, one in enumerate(compute) if isinstance(value := times.get(one.name), Quantity)]
    unknown = [one for one in compute if not isinstance(times.get(one.name), Quantity)]
    if unknown:
        return unknown[0]
    return compute[max(known)[1]] if known else None


def _no_ridge() -> Unknown:
    return Unknown(("work without floating-point operations",), "no compute roof applies")


def _intensity(work: Work) -> Quantity:
    moved = work.compulsory("dram")
    if moved.value == 0:
        raise BadInput(
            "the work moves no bytes, its intensity is infinite", fix="give the bytes it reads and writes", code="KB058"
        )
    total = counted(sum(flop.useful.value for flop in work.flops), "FLOP", "useful operations")
    value = total / counted(moved.value, "B", "compulsory bytes", moved.exactness)
    if isinstance(value, Unknown):
        raise value.error()
    return value
