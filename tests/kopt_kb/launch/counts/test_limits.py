"""Limits come from rows, each with its citation."""

from __future__ import annotations

import pytest

from kopt_kb.launch.counts.limits import limits_of
from kopt_kb.quantity.quantity import Unknown
from kopt_kb.wiki.registry import Registry


def test_nvidia() -> None:
    """228 KiB an SM, 227 a block, 65536 registers."""
    limits = limits_of(Registry.open().platform("H100_SXM"))
    assert (limits.vendor, limits.warp_size, limits.shared_memory_per_sm) == ("nvidia", 32, 228 * 1024)
    assert (limits.shared_memory_per_block, limits.registers_per_sm, limits.register_granule) == (
        227 * 1024,
        65536,
        256,
    )
    assert limits.cite("warp_size").startswith("warp_size: 32 count <- <gpu-wiki>/targets/sm_90.md:L")


def test_amd() -> None:
    """64-wide waves, 64 KiB LDS, VGPRs a SIMD."""
    limits = limits_of(Registry.open().platform("MI300X"))
    assert (limits.vendor, limits.warp_size, limits.warps_per_simd, limits.shared_memory_per_sm) == (
        "amd",
        64,
        8,
        64 * 1024,
    )
    assert limits.simd_registers == 512 * 64


def test_none_is_zero_and_unknown_is_none() -> None:
    """Hopper has no tensor memory; nobody prints the barriers of an SM here."""
    limits = limits_of(Registry.open().platform("H100_SXM"))
    assert limits.tensor_memory_per_sm == 0
    assert limits.barriers_per_sm is None


DECIDE = ("warp_size", "threads_per_block", "shared_memory_per_sm")
NEW = {"RUBIN", "MI455X", "MI430X", "STRIX_HALO"}
"""Parts whose vendor has not printed the limits of a multiprocessor yet."""


@pytest.mark.parametrize("name", Registry.open().platforms())
def test_every_platform_has_the_limits_that_decide(name: str) -> None:
    """Threads, registers and shared memory are known; of a new part only what its page says is UNKNOWN is not."""
    platform = Registry.open().platform(name)
    limits = limits_of(platform)
    unknown = {metric for metric in DECIDE if isinstance(platform.get(metric), Unknown)}
    if name not in NEW:
        assert not unknown
        assert limits.resident_warps
    for metric in DECIDE:
        assert (getattr(limits, metric) is None) == (metric in unknown)
    assert limits.warp_size in {None, 32, 64}
