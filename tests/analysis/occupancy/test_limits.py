"""Claims about the inputs of an occupancy calculation."""

from __future__ import annotations

import pytest

from kopt_kb.analysis.occupancy.limits import TENSOR_MEMORY_COLUMN_BYTES, Limits, Resources, round_up


@pytest.mark.parametrize(("value", "granule", "expected"), [(0, 8, 0), (1, 8, 8), (8, 8, 8), (9, 8, 16)])
def test_round_up(value, granule, expected):
    """The smallest multiple that is at least the value."""
    assert round_up(value, granule) == expected


def test_512_columns_are_256_kib():
    """A column is 128 lanes of 4 bytes."""
    assert 512 * TENSOR_MEMORY_COLUMN_BYTES == 256 * 1024


def test_shared_bytes_adds_static_and_dynamic():
    """Both kinds come out of the same memory."""
    assert Resources(32, shared_static_bytes=100, shared_dynamic_bytes=28).shared_bytes == 128


@pytest.mark.parametrize(
    ("limits", "warps"),
    [
        (Limits("nvidia", warps_per_sm=48, threads_per_sm=2048, warp_size=32), 48),
        (Limits("amd", warps_per_simd=8, simds_per_sm=4), 32),
        (Limits("nvidia", threads_per_sm=1536, warp_size=32), 48),
        (Limits("nvidia", threads_per_sm=1536), None),
    ],
)
def test_resident_warps_come_from_whichever_row_exists(limits, warps):
    """The printed row wins; else it follows from two others; else it is UNKNOWN."""
    assert limits.resident_warps == warps


def test_registers_of_a_simd_are_the_sms_share():
    """65,536 registers over 4 SIMDs are 16,384."""
    assert Limits("nvidia", registers_per_sm=65536, simds_per_sm=4).simd_registers == 16384


def test_an_unknown_limit_is_written_unknown():
    """`cite` never prints None."""
    assert Limits("amd").cite("warp_size") == "warp_size=UNKNOWN"


def test_a_whole_citation_line_is_not_doubled():
    """The registry's line already says metric, value and place."""
    line = "warp_size: 32 count <- <gpu-wiki>/targets/sm_90.md:L5"
    assert Limits("nvidia", warp_size=32, citations={"warp_size": line}).cite("warp_size") == line
