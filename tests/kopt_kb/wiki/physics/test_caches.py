"""Cache sizes: shares, slices and lines have borders on both sides."""

from __future__ import annotations

import pytest

from kopt_kb.wiki.physics import judge


@pytest.mark.parametrize(
    ("rule", "rows", "expected"),
    [
        ("PHY-CACHE", ("l2_capacity 50 MiB", "sm_count 100 count"), ["pass"]),
        ("PHY-CACHE", ("l2_capacity 100 MiB", "sm_count 100 count"), ["pass"]),
        ("PHY-CACHE", ("l2_capacity 101 MiB", "sm_count 100 count"), ["fail"]),
        ("PHY-CACHE", ("l2_capacity 3200 KiB", "sm_count 100 count"), ["pass"]),
        ("PHY-CACHE", ("l2_capacity 3199 KiB", "sm_count 100 count"), ["fail"]),
        ("PHY-CACHE", ("l2_capacity 256 KiB", "l1_shared_pool 256 KiB"), ["pass"]),
        ("PHY-CACHE", ("l2_capacity 50 KiB", "l1_shared_pool 256 KiB"), ["fail"]),
        ("PHY-CACHE", ("l2_capacity 50 KiB", "l1_capacity 64 KiB"), ["fail"]),
        ("PHY-CACHE", ("l2_capacity 800 MB", "memory_capacity 80 GB"), ["pass"]),
        ("PHY-CACHE", ("l2_capacity 801 MB", "memory_capacity 80 GB"), ["fail"]),
        ("PHY-CACHE", ("l2_capacity 50 MiB",), []),
        ("PHY-LLC", ("llc_capacity 256 MiB", "memory_bus_width 8192 bit"), ["pass"]),
        ("PHY-LLC", ("llc_capacity 96 MiB", "memory_bus_width 384 bit"), ["pass"]),
        ("PHY-LLC", ("llc_capacity 192 MiB", "memory_bus_width 8192 bit"), ["fail"]),
        ("PHY-LLC", ("llc_capacity 250 MiB", "memory_bus_width 8192 bit"), ["fail"]),
        ("PHY-LLC", ("llc_capacity 256 MiB",), ["not-checkable"]),
        ("PHY-OUTER", ("llc_capacity 256 MiB", "l2_capacity 32 MiB"), ["pass"]),
        ("PHY-OUTER", ("llc_capacity 192 MiB", "l2_capacity 32 MiB"), ["pass"]),
        ("PHY-OUTER", ("llc_capacity 191 MiB", "l2_capacity 32 MiB"), ["fail"]),
        ("PHY-OUTER", ("llc_capacity 40 MiB", "l2_capacity 2 MiB"), ["pass"]),
        ("PHY-OUTER", ("llc_capacity 41 MiB", "l2_capacity 2 MiB"), ["fail"]),
        ("PHY-OUTER", ("llc_capacity 256 MiB",), ["not-checkable"]),
        ("PHY-OUTER", ("l2_capacity 32 MiB",), []),
        ("PHY-OUTER", ("llc_bandwidth 10 TB/s direction=read", "memory_bandwidth 5 TB/s"), ["pass"]),
        ("PHY-OUTER", ("llc_bandwidth 9.9 TB/s direction=read", "memory_bandwidth 5 TB/s"), ["fail"]),
        ("PHY-OUTER", ("llc_bandwidth 25 TB/s direction=read", "memory_bandwidth 5 TB/s"), ["pass"]),
        ("PHY-OUTER", ("llc_bandwidth 25.1 TB/s direction=read", "memory_bandwidth 5 TB/s"), ["fail"]),
        ("PHY-OUTER", ("llc_bandwidth 10 TB/s direction=read",), []),
        ("PHY-SLICE", ("l2_capacity 50.25 MiB",), ["pass"]),
        ("PHY-SLICE", ("l2_capacity 50.1 MiB",), ["fail"]),
        ("PHY-SLICE", ("l2_capacity 100 KiB",), ["fail"]),
        ("PHY-NEAR", ("l1_capacity 16 KiB",), ["pass"]),
        ("PHY-NEAR", ("l1_capacity 24 KiB",), ["fail"]),
        ("PHY-NEAR", ("scalar_cache_capacity 4 KiB",), ["pass"]),
        ("PHY-NEAR", ("scalar_cache_capacity 2 KiB",), ["fail"]),
        ("PHY-NEAR", ("tensor_memory_per_sm 256 KiB",), ["pass"]),
        ("PHY-NEAR", ("tensor_memory_per_sm 256000 KiB",), ["fail"]),
        ("PHY-NEAR", ("instruction_cache_capacity 512 KiB",), ["pass"]),
        ("PHY-NEAR", ("instruction_cache_capacity 1024 KiB",), ["fail"]),
        ("PHY-LATENCY", ("measured_latency 60 ns level=l2",), ["pass"]),
        ("PHY-LATENCY", ("measured_latency 59 ns level=l2",), ["fail"]),
        ("PHY-LATENCY", ("measured_latency 401 ns level=l2",), ["fail"]),
        ("PHY-LATENCY", ("measured_latency 0.3 us level=dram",), ["pass"]),
        ("PHY-LATENCY", ("measured_latency 140 ns level=l1", "measured_latency 140 ns level=l2"), ["pass", "pass"]),
        ("PHY-LATENCY", ("measured_latency 141 ns level=l1", "measured_latency 140 ns level=l2"), ["pass", "fail"]),
        ("PHY-LINE", ("cache_line 32 B level=l2",), ["pass"]),
        ("PHY-LINE", ("cache_line 256 B level=llc",), ["pass"]),
        ("PHY-LINE", ("cache_line 512 B level=l2",), ["fail"]),
        ("PHY-LINE", ("cache_sector 48 B level=l2",), ["fail"]),
    ],
)  # fmt: skip
def test_outcomes(sheet_of, rule: str, rows: tuple[str, ...], expected: list[str]) -> None:
    """Each rule on a right value, on the border, past it, and with nothing to compare."""
    assert [check.outcome for check in judge(sheet_of(*rows)) if check.rule == rule] == expected
