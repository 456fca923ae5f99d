"""What programs may ask of a device that is not there, from the rows of a product or of a target alone."""

from __future__ import annotations

from collections.abc import Mapping

from kopt_kb.quantity.quantity import Quantity
from kopt_kb.wiki.registry import Platform, Registry

__all__ = ["device_facts", "target_facts"]

_FACTS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "multi_processor_count": ("sm_count", {}),
    "warp_size": ("warp_size", {}),
    "max_threads_per_multi_processor": ("threads_per_sm", {}),
    "max_threads_per_block": ("threads_per_block", {}),
    "regs_per_multiprocessor": ("registers_per_sm", {"file": "gpr"}),
    "shared_memory_per_multiprocessor": ("shared_memory_per_sm", {}),
    "shared_memory_per_block_optin": ("shared_memory_per_block", {"mode": "optin"}),
    "shared_memory_per_block": ("shared_memory_per_block", {"mode": "static"}),
    "L2_cache_size": ("l2_capacity", {}),
}
"""Attribute of torch's device properties → the row of the wiki that says it."""


def device_facts(platform: Platform) -> dict[str, int]:
    """Return what the wiki knows of torch's device properties for a product; UNKNOWN rows are left out.

    A part without a second limit for shared memory has one that holds for both ways of asking.
    """
    facts = {}
    for name, (metric, axes) in _FACTS.items():
        value = platform.get(metric, **axes)
        if isinstance(value, Quantity) and value.si.denominator == 1:
            facts[name] = value.si.numerator
    if platform.identity.vendor == "AMD" and "shared_memory_per_block" in facts:
        facts.setdefault("shared_memory_per_block_optin", facts["shared_memory_per_block"])
    return facts


def target_facts(registry: Registry, target: str) -> dict[str, int]:
    """Return what the wiki knows of every product of a target: the rows of the target's own page."""
    for name in registry.platforms():
        platform = registry.platform(name)
        if platform.identity.target == target:
            rows = {one: platform.row(metric, **axes) for one, (metric, axes) in _FACTS.items()}
            own = {one for one, row in rows.items() if row is not None and row.path.startswith("targets/")}
            if "shared_memory_per_block" in own:
                own.add("shared_memory_per_block_optin")
            return {one: value for one, value in device_facts(platform).items() if one in own}
    return {}
