"""How many waves of an AMD kernel fit on a CU: what a report says of a launch under the limits of its product.

ncu reports carry their own occupancy; AMD's tools report registers and LDS of a launch only.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

from kopt_kb.analysis.occupancy.limits import Resources
from kopt_kb.analysis.occupancy.occupancy import Occupancy, occupancy
from kopt_kb.analysis.profile import KernelProfile
from kopt_kb.base.errors import BadInput, UnknownData
from kopt_kb.launch.counts.limits import limits_of
from kopt_kb.wiki.registry import Platform, Registry

__all__ = ["with_residency"]

_UNIFIED = re.compile(r"gfx9(?:0a|4\d|5\d)")
"""Targets whose registers share one file, which the rules of the calculation are for."""
_NAMES: Mapping[str, str] = {
    "blocks": "blocks", "registers": "registers", "shared_memory": "shared", "warps": "warps", "barriers": "barriers"
}  # fmt: skip


def with_residency(profile: KernelProfile, product: Platform | None, registry: Registry | None = None) -> KernelProfile:
    """Return an AMD kernel with its theoretical occupancy, what limits it, and its waves; others as they are.

    SGPRs are left out: tools print what is allocated and not what is used, so the occupancy is an upper bound.

    Args:
        profile: A kernel of a report.
        product: The product it ran on, None when unknown.
        registry: Where products of the kernel's target are looked up then: what all of them say holds.
    """
    if profile.source.vendor != "amd" or not _UNIFIED.fullmatch(profile.target):
        return profile
    products = [product] if product is not None else [] if registry is None else _of_target(profile.target, registry)
    results = [_occupancy(profile, one) for one in products]
    told = {(one.blocks_per_sm, one.occupancy_pct) if one else None for one in results}
    found = results[0] if len(told) == 1 else None
    if found is None or not found.blocks_per_sm:
        return profile
    limits = {f"occupancy_limit.{_NAMES[one]}": float(blocks) for one, blocks in found.block_limits.items()
              if one in _NAMES}  # fmt: skip
    metrics = {**limits, "theoretical_occupancy_pct": found.occupancy_pct, **profile.metrics}
    blocks, units = profile.get("grid_blocks"), profile.get("sm_count")
    if blocks and units:
        metrics.setdefault("waves_per_sm", blocks / (found.blocks_per_sm * units))
    bounds = {**profile.bounds, "theoretical_occupancy_pct": profile.bounds.get("theoretical_occupancy_pct", "upper")}
    return replace(profile, metrics=metrics, bounds=bounds)


@lru_cache(maxsize=16)
def _of_target(target: str, registry: Registry) -> list[Platform]:
    names = [name for wiki in registry.wikis for name, one in wiki.names.identities.items() if one.target == target]
    return [registry.platform(name) for name in names]


def _occupancy(profile: KernelProfile, product: Platform) -> Occupancy | None:
    threads, registers, shared = (
        profile.get(one) for one in ("block_threads", "registers_per_thread", "shared_block_bytes")
    )
    if not threads or registers is None or shared is None:
        return None
    use = Resources(
        threads_per_block=int(threads),
        registers_per_thread=int(registers),
        accumulation_registers_per_thread=int(profile.get("accum_registers_per_thread") or 0),
        shared_static_bytes=int(shared),
    )
    try:
        return occupancy(use, limits_of(product), allow_unknown=True)
    except (BadInput, UnknownData):
        return None
