"""How many workgroups each resource of an AMD CU allows, CDNA 2 and later (LLVM AMDGPU's rules)."""

from __future__ import annotations

from kopt_kb.analysis.occupancy.limits import Limits, Resources, round_up
from kopt_kb.analysis.occupancy.rules import ResourceRule, by_blocks, by_warps, known, warps_per_block

__all__ = ["AMD_RULES", "unified_registers", "waves_per_simd"]

_ACCUM_OFFSET_GRANULE = 4
"""AGPRs start at a multiple of 4 in the unified file (LLVM AMDGPUUsage, accum_offset)."""


def unified_registers(use: Resources) -> int:
    """Return the VGPRs a lane takes of the unified file: architectural ones, padded, then AGPRs."""
    if use.accumulation_registers_per_thread == 0:
        return use.registers_per_thread
    start = round_up(use.registers_per_thread, _ACCUM_OFFSET_GRANULE)
    return start + use.accumulation_registers_per_thread


def _waves_by_registers(use: Resources, have: Limits) -> int:
    lane = known(have, "simd_registers") // known(have, "warp_size")
    return lane // round_up(unified_registers(use), known(have, "register_granule"))


def _waves_by_scalar_registers(use: Resources, have: Limits) -> int:
    taken = round_up(use.scalar_registers_per_warp, known(have, "scalar_register_granule"))
    return known(have, "scalar_registers_per_simd") // taken


def _blocks(waves: int, use: Resources, have: Limits) -> int:
    return waves * known(have, "simds_per_sm") // warps_per_block(use, have)


def _by_registers(use: Resources, have: Limits) -> int:
    """A lane can address so many VGPRs; VGPRs and AGPRs together share the SIMD's file."""
    if have.registers_per_thread is not None and use.registers_per_thread > have.registers_per_thread:
        return 0
    return _blocks(_waves_by_registers(use, have), use, have)


def _by_scalar_registers(use: Resources, have: Limits) -> int:
    return _blocks(_waves_by_scalar_registers(use, have), use, have)


def _by_shared_memory(use: Resources, have: Limits) -> int:
    taken = round_up(use.shared_bytes, known(have, "shared_memory_granule"))
    if use.shared_bytes > known(have, "shared_memory_per_block"):
        return 0
    return known(have, "shared_memory_per_sm") // taken


def _by_barriers(_: Resources, have: Limits) -> int:
    return known(have, "barriers_per_sm")


def _needs_barrier(use: Resources, have: Limits) -> bool:
    """A workgroup of one wave takes no barrier (LLVM AMDGPU, IsaInfo::getMaxWorkGroupsPerCU)."""
    return have.barriers_per_sm is not None and warps_per_block(use, have) > 1


_REGISTERS = ResourceRule(
    "registers",
    ("simd_registers", "register_granule", "simds_per_sm", "warp_size"),
    _by_registers,
    "unified_registers",
    used=lambda use, _: unified_registers(use) > 0,
)
_SCALARS = ResourceRule(
    "scalar_registers",
    ("scalar_registers_per_simd", "scalar_register_granule", "simds_per_sm"),
    _by_scalar_registers,
    "scalar_registers_per_warp",
    used=lambda use, _: use.scalar_registers_per_warp > 0,
)
_LDS = ResourceRule(
    "shared_memory",
    ("shared_memory_per_sm", "shared_memory_per_block", "shared_memory_granule"),
    _by_shared_memory,
    "shared_dynamic_bytes",
    used=lambda use, _: use.shared_bytes > 0,
)

AMD_RULES: tuple[ResourceRule, ...] = (
    ResourceRule("warps", ("threads_per_block", "resident_warps", "warp_size"), by_warps, "threads_per_block"),
    ResourceRule("blocks", ("blocks_per_sm",), by_blocks, used=lambda _, have: have.blocks_per_sm is not None),
    _REGISTERS,
    _SCALARS,
    _LDS,
    ResourceRule("barriers", ("barriers_per_sm",), _by_barriers, used=_needs_barrier),
)
"""One rule a resource; a CU counts wave slots and barriers, so a missing workgroup limit can't bind."""


def waves_per_simd(use: Resources, have: Limits) -> int:
    """Return waves per SIMD as LLVM prints it in `; Occupancy:`, whole workgroups not enforced.

    It is the least of the wave slots, what VGPRs and SGPRs allow, and the waves of the workgroups that
    LDS allows, spread over the SIMDs and rounded up (LLVM AMDGPUSubtarget, computeOccupancy). Rules
    whose limits are UNKNOWN are left out.
    """
    simds = known(have, "simds_per_sm")
    blocks = known(have, "resident_warps") // warps_per_block(use, have)
    if _LDS.applies(use, have):
        blocks = min(blocks, _by_shared_memory(use, have))
    waves = [-(-blocks * warps_per_block(use, have) // simds), known(have, "resident_warps") // simds]
    if _REGISTERS.applies(use, have):
        waves.append(_waves_by_registers(use, have))
    if _SCALARS.applies(use, have):
        waves.append(_waves_by_scalar_registers(use, have))
    return min(waves)
