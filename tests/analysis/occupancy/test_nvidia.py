"""Claims about NVIDIA's residency rules, by hand."""

from __future__ import annotations

import pytest

from kopt_kb.analysis.occupancy.limits import Limits, Resources
from kopt_kb.analysis.occupancy.nvidia import NVIDIA_RULES

LIMITS = Limits(
    "nvidia",
    warp_size=32,
    warps_per_sm=64,
    simds_per_sm=4,
    threads_per_block=1024,
    blocks_per_sm=32,
    barriers_per_sm=64,
    registers_per_sm=65536,
    registers_per_block=65536,
    registers_per_thread=255,
    register_granule=256,
    shared_memory_per_sm=1000,
    shared_memory_per_block=900,
    shared_memory_reserved_per_block=100,
    shared_memory_granule=100,
    tensor_memory_per_sm=1024,
)
RULES = {rule.limiter: rule for rule in NVIDIA_RULES}


@pytest.mark.parametrize(
    ("limiter", "use", "blocks"),
    [
        ("warps", Resources(96), 21),
        ("warps", Resources(1025), 0),
        ("registers", Resources(32, 33), 48),  # 33*32 -> 1280 a warp; 16384 // 1280 = 12 a SIMD
        ("registers", Resources(1024, 65), 0),  # 2304 a warp x 32 warps = 73728
        ("registers", Resources(32, 256), 0),  # above the 255 a thread may use
        ("shared_memory", Resources(32, shared_dynamic_bytes=101), 3),  # 201 -> 300
        ("shared_memory", Resources(32, shared_dynamic_bytes=901), 0),
        ("tensor_memory", Resources(32, tensor_memory_bytes=500), 2),
        ("barriers", Resources(32, barriers=5), 12),
    ],
)
def test_each_rule_by_hand(limiter, use, blocks):
    """The comment beside a case is the arithmetic."""
    assert RULES[limiter].blocks(use, LIMITS) == blocks
