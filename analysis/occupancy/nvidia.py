"""How many blocks each resource of an NVIDIA SM allows (rules of NVIDIA's cuda_occupancy.h)."""

from __future__ import annotations

from kopt_kb.analysis.occupancy.limits import Limits, Resources, round_up
from kopt_kb.analysis.occupancy.rules import (
    ResourceRule,
    by_blocks,
    by_warps,
    known,
    larger_cluster,
    none_fits,
    warps_per_block,
)

__all__ = ["NVIDIA_RULES"]


def _by_registers(use: Resources, have: Limits) -> int:
    """Registers are given to warps, warps to SIMDs; a launch is checked as if it filled whole SIMD rows."""
    warps, simds = warps_per_block(use, have), known(have, "simds_per_sm")
    per_warp = round_up(use.registers_per_thread * known(have, "warp_size"), known(have, "register_granule"))
    checked = per_warp * round_up(warps, simds)
    too_many = use.registers_per_thread > known(have, "registers_per_thread")
    if too_many or checked > known(have, "registers_per_block"):
        return 0
    return known(have, "simd_registers") // per_warp * simds // warps


def _by_shared_memory(use: Resources, have: Limits) -> int:
    reserved = known(have, "shared_memory_reserved_per_block")
    taken = round_up(use.shared_bytes + reserved, known(have, "shared_memory_granule"))
    if taken > known(have, "shared_memory_per_block") + reserved:
        return 0
    return known(have, "shared_memory_per_sm") // taken


def _uses_shared_memory(use: Resources, have: Limits) -> bool:
    return use.shared_bytes > 0 or have.shared_memory_reserved_per_block != 0


def _by_tensor_memory(use: Resources, have: Limits) -> int:
    return known(have, "tensor_memory_per_sm") // use.tensor_memory_bytes


def _by_barriers(use: Resources, have: Limits) -> int:
    return known(have, "barriers_per_sm") // use.barriers


NVIDIA_RULES: tuple[ResourceRule, ...] = (
    ResourceRule("warps", ("threads_per_block", "resident_warps", "warp_size"), by_warps, "threads_per_block"),
    ResourceRule("blocks", ("blocks_per_sm",), by_blocks),
    ResourceRule(
        "registers",
        ("registers_per_thread", "register_granule", "registers_per_block", "simd_registers", "simds_per_sm"),
        _by_registers,
        "registers_per_thread",
        used=lambda use, _: use.registers_per_thread > 0,
    ),
    ResourceRule(
        "shared_memory",
        (
            "shared_memory_per_sm",
            "shared_memory_per_block",
            "shared_memory_reserved_per_block",
            "shared_memory_granule",
        ),
        _by_shared_memory,
        "shared_dynamic_bytes",
        used=_uses_shared_memory,
    ),
    ResourceRule(
        "tensor_memory",
        ("tensor_memory_per_sm",),
        _by_tensor_memory,
        "tensor_memory_bytes",
        used=lambda use, _: use.tensor_memory_bytes > 0,
    ),
    ResourceRule(
        "barriers",
        ("barriers_per_sm",),
        _by_barriers,
        "barriers",
        used=lambda use, have: use.barriers > (0 if have.barriers_per_sm is not None else 1),
    ),
    ResourceRule(
        "cluster",
        ("cluster_size",),
        none_fits,
        "blocks_per_cluster",
        used=larger_cluster,
    ),
)
"""One rule a resource. A single barrier without a known limit can't bind: each resident block has one."""
