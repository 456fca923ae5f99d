"""Claims about AMD's residency rules, by hand."""

from __future__ import annotations

import pytest

from kopt_kb.analysis.occupancy.amd import AMD_RULES, unified_registers, waves_per_simd
from kopt_kb.analysis.occupancy.limits import Limits, Resources

LIMITS = Limits(
    "amd",
    warp_size=64,
    warps_per_simd=8,
    simds_per_sm=4,
    threads_per_block=1024,
    barriers_per_sm=5,
    registers_per_simd=512 * 64,
    registers_per_thread=256,
    register_granule=8,
    scalar_registers_per_simd=800,
    scalar_register_granule=16,
    shared_memory_per_sm=65536,
    shared_memory_per_block=65536,
    shared_memory_granule=512,
)
RULES = {rule.limiter: rule for rule in AMD_RULES}


def test_agprs_start_at_a_multiple_of_four():
    """30 VGPRs end at 32 when AGPRs follow, at 30 when none do."""
    assert unified_registers(Resources(64, 30)) == 30
    assert unified_registers(Resources(64, 30, accumulation_registers_per_thread=10)) == 42


@pytest.mark.parametrize(
    ("limiter", "use", "blocks"),
    [
        ("warps", Resources(192), 10),  # 32 waves // 3
        ("registers", Resources(512, 129), 1),  # 136 of 512: 3 waves a SIMD, 12 a CU, 8 a workgroup
        ("registers", Resources(64, 257), 0),  # a lane addresses 256
        ("registers", Resources(64, 256, accumulation_registers_per_thread=256), 4),  # 512: one wave a SIMD
        ("scalar_registers", Resources(64, scalar_registers_per_warp=97), 28),  # 112 of 800: 7 waves a SIMD
        ("shared_memory", Resources(64, shared_static_bytes=513), 64),  # 1024 B each
        ("shared_memory", Resources(64, shared_static_bytes=65537), 0),
        ("barriers", Resources(128), 5),
    ],
)
def test_each_rule_by_hand(limiter, use, blocks):
    """The comment beside a case is the arithmetic."""
    assert RULES[limiter].blocks(use, LIMITS) == blocks


def test_a_single_wave_takes_no_barrier():
    """The barrier rule is for workgroups of two waves and more."""
    assert not RULES["barriers"].applies(Resources(64), LIMITS)
    assert RULES["barriers"].applies(Resources(128), LIMITS)


def test_waves_are_rounded_up_over_the_simds():
    """3 workgroups of 3 waves (LDS 20,000 B) are 9 waves on 4 SIMDs: LLVM says 3."""
    assert waves_per_simd(Resources(192, 1, shared_static_bytes=20_000), LIMITS) == 3
