"""Occupancy from resources and sourced limits: resident blocks, what limits them, the next step up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from kopt_kb.analysis.occupancy.amd import AMD_RULES, unified_registers, waves_per_simd
from kopt_kb.analysis.occupancy.limits import Limiter, Limits, Resources
from kopt_kb.analysis.occupancy.nvidia import NVIDIA_RULES
from kopt_kb.analysis.occupancy.rules import ResourceRule, known, warps_per_block
from kopt_kb.base.errors import UnknownData
from kopt_kb.base.wire import Wire, inside

__all__ = [
    "Change", "Limits", "NextStep", "Occupancy", "PlatformOccupancies", "PlatformOccupancy", "Resources", "occupancy",
]  # fmt: skip

_RULES: Mapping[str, tuple[ResourceRule, ...]] = {"nvidia": NVIDIA_RULES, "amd": AMD_RULES}


@dataclass(frozen=True, slots=True)
class Change(Wire):
    """How much less of one resource a block must use.

    Attributes:
        resource: A field of `Resources`, or `shared_bytes` and `unified_registers` for their sums.
        now: What it uses.
        at_most: The largest use that allows the step.
    """

    WIRE: ClassVar = ("resource", "now", "at_most", "less")
    resource: str
    now: int
    at_most: int

    @property
    def less(self) -> int:
        """The reduction in the resource's own unit."""
        return self.now - self.at_most


@dataclass(frozen=True, slots=True)
class NextStep(Wire):
    """One more block on the SM and all changes it takes together.

    Attributes:
        blocks_per_sm: Resident blocks after the step.
        changes: Every change is needed; none of them alone suffices when there are several.
    """

    blocks_per_sm: int
    changes: tuple[Change, ...]


@dataclass(frozen=True)
class Occupancy(Wire):
    """What fits on one SM (CU) at a time.

    Attributes:
        blocks_per_sm: Resident blocks; 0 means that the kernel can't be launched.
        warps_per_block: Warps (waves) of a block.
        warps_per_sm: Resident warps.
        max_warps_per_sm: Most warps the SM can hold.
        waves_per_simd: AMD: LLVM's figure, which does not ask for whole workgroups; None on NVIDIA.
        block_limits: Blocks each applied resource allows by itself.
        limiters: The resources that allow no more than `blocks_per_sm`; ties are common.
        next_step: One block more, or None when a fixed cap stands in the way.
        refusals: Why nothing fits, one line a resource; empty when something does.
        unknown: Limits that were UNKNOWN and not applied although the kernel uses the resource.
        exactness: "upper" when such a limit could lower the result.
        sources: The limits that were read, `name=value <- citation`.
    """

    WIRE: ClassVar = (
        "blocks_per_sm", "warps_per_block", "warps_per_sm", "max_warps_per_sm", "waves_per_simd", "occupancy_pct",
        "block_limits", "limiters", "next_step", "refusals", "unknown", "exactness", "citations=sources",
    )  # fmt: skip
    blocks_per_sm: int
    warps_per_block: int
    warps_per_sm: int
    max_warps_per_sm: int
    waves_per_simd: int | None
    block_limits: Mapping[Limiter, int]
    limiters: tuple[Limiter, ...]
    next_step: NextStep | None
    refusals: tuple[str, ...]
    unknown: tuple[str, ...]
    exactness: Literal["exact", "upper"]
    sources: tuple[str, ...]

    @property
    def occupancy_fraction(self) -> float:
        """Resident warps over the most the SM can hold, 0 to 1."""
        return self.warps_per_sm / self.max_warps_per_sm

    @property
    def occupancy_pct(self) -> float:
        """Resident warps over the most the SM can hold, in percent."""
        return 100 * self.occupancy_fraction


@dataclass(frozen=True, slots=True)
class PlatformOccupancy(Wire):
    """An occupancy on a named product, of a named kernel where there is a name."""

    WIRE: ClassVar = ("platform", "name?", *inside("occupancy", Occupancy))
    platform: str
    name: str | None
    occupancy: Occupancy


@dataclass(frozen=True, slots=True)
class PlatformOccupancies(Wire):
    """The occupancies of several kernels."""

    kernels: tuple[PlatformOccupancy, ...]


def occupancy(resources: Resources, limits: Limits, *, allow_unknown: bool = False) -> Occupancy:
    """Return the resident blocks of a kernel on one SM or CU.

    NVIDIA parts follow cuda_occupancy.h, extended by tensor memory; AMD parts follow LLVM's AMDGPU
    subtarget, extended by the LDS allocation granule and by whole workgroups.

    Args:
        resources: What one block uses.
        limits: What the SM offers; all numbers sourced.
        allow_unknown: Leave UNKNOWN limits out and mark the result an upper bound instead of refusing.

    Raises:
        UnknownData: A limit that could change the result is UNKNOWN.
    """
    rules = _RULES[limits.vendor]
    unknown = _unknown(rules, resources, limits)
    if unknown and not allow_unknown:
        raise UnknownData(
            f"{', '.join(unknown)} UNKNOWN, which could lower the occupancy",
            where=f"{limits.vendor} limits",
            fix="add the rows to the target's wiki page, or allow an upper bound",
            code="KB130",
        )
    applied = [rule for rule in rules if rule.applies(resources, limits)]
    allowed = {rule.limiter: rule.blocks(resources, limits) for rule in applied}
    blocks = min(allowed.values())
    warps = warps_per_block(resources, limits)
    binding = [rule for rule in applied if allowed[rule.limiter] == blocks]
    return Occupancy(
        blocks_per_sm=blocks,
        warps_per_block=warps,
        warps_per_sm=blocks * warps,
        max_warps_per_sm=known(limits, "resident_warps"),
        waves_per_simd=waves_per_simd(resources, limits) if limits.vendor == "amd" else None,
        block_limits=allowed,
        limiters=tuple(rule.limiter for rule in binding),
        next_step=_next_step(binding, resources, limits, blocks + 1),
        refusals=tuple(_refusal(rule, resources, limits) for rule in binding) if blocks == 0 else (),
        unknown=unknown,
        exactness="upper" if unknown else "exact",
        sources=_sources(applied, limits),
    )


def _unknown(rules: tuple[ResourceRule, ...], use: Resources, have: Limits) -> tuple[str, ...]:
    """Return the UNKNOWN limits of the resources that the kernel uses; warps must be known at all."""
    for name in ("warp_size", "resident_warps", "threads_per_block"):
        known(have, name)
    names = [name for rule in rules if rule.used(use, have) for name in rule.missing(have)]
    return tuple(dict.fromkeys(names))


def _next_step(binding: list[ResourceRule], use: Resources, have: Limits, target: int) -> NextStep | None:
    """Collect the changes in order; fewer threads (first) may already free what a later rule limits."""
    changes = []
    for rule in binding:
        if _allows(rule, use, have, target):
            continue
        change = _change(rule, use, have, target) if rule.knob else None
        if change is None:
            return None
        changes.append(change)
        use = _with(use, rule.knob, change.at_most)
    return NextStep(target, tuple(changes))


def _change(rule: ResourceRule, use: Resources, have: Limits, target: int) -> Change | None:
    """Bisect for the largest use that allows `target` blocks; every rule falls as the use grows."""
    name, now = _knob_value(rule.knob, use)
    low, high = (1 if rule.knob == "threads_per_block" else 0), now
    if not _allows(rule, _with(use, rule.knob, low), have, target):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        if _allows(rule, _with(use, rule.knob, middle), have, target):
            low = middle
        else:
            high = middle
    return Change(name, now, low)


def _knob_value(knob: str, use: Resources) -> tuple[str, int]:
    if knob == "shared_dynamic_bytes":
        return "shared_bytes", use.shared_bytes
    if knob == "unified_registers":
        return knob, unified_registers(use)
    return knob, getattr(use, knob)


def _with(use: Resources, knob: str, value: int) -> Resources:
    if knob == "shared_dynamic_bytes":
        return replace(use, shared_static_bytes=0, shared_dynamic_bytes=value)
    if knob == "unified_registers":
        return replace(use, registers_per_thread=value, accumulation_registers_per_thread=0)
    return replace(use, **{knob: value})


def _allows(rule: ResourceRule, use: Resources, have: Limits, target: int) -> bool:
    return not rule.used(use, have) or rule.blocks(use, have) >= target


def _refusal(rule: ResourceRule, use: Resources, have: Limits) -> str:
    name, now = _knob_value(rule.knob, use) if rule.knob else ("block", 1)
    against = "; ".join(have.cite(one) for one in rule.needs if one in Limits.__dataclass_fields__)
    return f"{rule.limiter}: {name}={now} does not fit ({against})"


def _sources(applied: list[ResourceRule], have: Limits) -> tuple[str, ...]:
    parts = {
        "resident_warps": ("warps_per_sm", "warps_per_simd", "threads_per_sm"),
        "simd_registers": ("registers_per_simd", "registers_per_sm"),
    }
    names = [part for rule in applied for need in rule.needs for part in parts.get(need, (need,))]
    return tuple(have.cite(name) for name in dict.fromkeys(names) if getattr(have, name) is not None)
