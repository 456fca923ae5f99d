"""What is never larger than what, and what divides what: every border belongs to the pass."""

from __future__ import annotations

import pytest

from kopt_kb.wiki.physics import judge


def outcomes(sheet, rule: str) -> list[str]:
    """Outcomes of one rule."""
    return [check.outcome for check in judge(sheet) if check.rule == rule]


def _peak(rate: str, sparsity: str, scope: str = "") -> str:
    where = f";scope={scope}" if scope else ""
    return f"peak_compute {rate} dtype=bf16;engine=matrix;sparsity={sparsity};acc=unstated;clock=unstated{where}"


@pytest.mark.parametrize(
    ("rule", "rows", "expected"),
    [
        ("PHY-CLOCK", ("sm_clock 1 GHz class=base;ops=all", "sm_clock 2 GHz class=boost;ops=all"), ["pass"]),
        ("PHY-CLOCK", ("sm_clock 2 GHz class=boost;ops=all", "sm_clock 2 GHz class=max;ops=all"), ["pass"]),
        ("PHY-CLOCK", ("sm_clock 2001 MHz class=boost;ops=all", "sm_clock 2 GHz class=max;ops=all"), ["fail"]),
        ("PHY-CLOCK", ("sm_clock 2 GHz class=boost;ops=matrix", "sm_clock 1 GHz class=max;ops=vector"), []),
        ("PHY-CLOCK", ("sm_clock 1.5 GHz class=unstated;ops=matrix", "sm_clock 2 GHz class=max;ops=all"), ["pass"]),
        ("PHY-CLOCK", ("sm_clock 1.49 GHz class=unstated;ops=matrix", "sm_clock 2 GHz class=max;ops=all"), ["fail"]),
        ("PHY-CLOCK", ("sm_clock 2.21 GHz class=unstated;ops=matrix", "sm_clock 2 GHz class=max;ops=all"), ["fail"]),
        ("PHY-CLOCK", ("sm_clock 400 MHz class=base;ops=all", "sm_clock 1400 MHz class=boost;ops=all"), ["pass"]),
        ("PHY-CLOCK", ("sm_clock 399 MHz class=base;ops=all", "sm_clock 1400 MHz class=boost;ops=all"), ["fail", "pass"]),
        ("PHY-DIVISOR", ("memory_bandwidth 8 TB/s", "memory_bandwidth 64 TB/s scope=node"), ["pass"]),
        ("PHY-DIVISOR", ("memory_bandwidth 8 TB/s", "memory_bandwidth 62.1 TB/s scope=node"), ["pass"]),
        ("PHY-DIVISOR", ("memory_capacity 288.0 GB", "memory_capacity 2304 GB scope=node"), ["pass"]),
        ("PHY-DIVISOR", ("memory_capacity 288.0 GB", "memory_capacity 2305 GB scope=node"), ["fail"]),
        ("PHY-DIVISOR", (_peak("4.00 PFLOPS", "dense"), _peak("8.0 PFLOPS", "dense", "superchip"),
                         _peak("16.0 PFLOPS", "2:4", "superchip")), ["pass", "pass"]),
        ("PHY-DIVISOR", (_peak("4.00 PFLOPS", "dense"), _peak("8.0 PFLOPS", "dense", "superchip"),
                         _peak("8.0 PFLOPS", "2:4", "superchip")), ["pass", "fail"]),
        ("PHY-DIVISOR", ("memory_bandwidth 8 TB/s", "memory_bandwidth 62 TB/s scope=node"), ["fail"]),
        ("PHY-DIVISOR", ("memory_bandwidth 8 TB/s", "memory_bandwidth 64 TB/s scope=node", "memory_capacity 180 GB",
                         "memory_capacity 1440 GB scope=node"), ["pass", "pass"]),
        ("PHY-DIVISOR", ("memory_bandwidth 8 TB/s", "memory_bandwidth 64 TB/s scope=node", "memory_capacity 180 GB",
                         "memory_capacity 2880 GB scope=node"), ["pass", "fail"]),
        ("PHY-POWER", ("board_power 400 W kind=cap_min", "board_power 400 W kind=cap_max"), ["pass"]),
        ("PHY-POWER", ("board_power 500 W kind=cap_default", "board_power 499 W kind=cap_max"), ["fail"]),
        ("PHY-FULL", ("sm_count 132 count", "sm_count 144 count config=full"), ["pass", "pass"]),
        ("PHY-FULL", ("sm_count 72 count", "sm_count 144 count config=full"), ["pass", "pass"]),
        ("PHY-FULL", ("sm_count 71 count", "sm_count 144 count config=full"), ["pass", "fail"]),
        ("PHY-FULL", ("sm_count 144 count", "sm_count 144 count config=full"), ["pass", "pass"]),
        ("PHY-FULL", ("memory_capacity 180 GB", "memory_capacity 192 GB config=full"), ["pass", "pass"]),
        ("PHY-FULL", ("memory_capacity 180 GB", "memory_capacity 1920 GB config=full"), ["pass", "fail"]),
        ("PHY-FULL", ("sm_count 192 count", "sm_count 160 count config=full"), ["fail", "pass"]),
        ("PHY-SCOPE", ("memory_bandwidth 8 TB/s", "memory_bandwidth 64 TB/s scope=node"), ["pass"]),
        ("PHY-SCOPE", ("memory_bandwidth 8 TB/s", "memory_bandwidth 8 TB/s scope=superchip"), ["pass"]),
        ("PHY-SCOPE", ("memory_bandwidth 64 TB/s", "memory_bandwidth 8 TB/s scope=node"), ["fail"]),
        ("PHY-BLOCK", ("threads_per_block 1024 count", "warp_size 32 count"), ["pass"]),
        ("PHY-BLOCK", ("threads_per_block 1000 count", "warp_size 32 count"), ["fail"]),
        ("PHY-BLOCK", ("threads_per_block 2048 count", "threads_per_sm 2048 count"), ["pass"]),
        ("PHY-BLOCK", ("threads_per_block 2048 count", "threads_per_sm 1536 count"), ["fail"]),
        ("PHY-BLOCK", ("blocks_per_sm 32 count", "warps_per_sm 32 count"), ["pass"]),
        ("PHY-BLOCK", ("blocks_per_sm 64 count", "warps_per_sm 48 count"), ["fail"]),
        ("PHY-BLOCK", ("shared_memory_per_block 64 KiB mode=static", "shared_memory_per_sm 64 KiB"), ["pass"]),
        ("PHY-BLOCK", ("shared_memory_per_block 232448 B mode=optin", "shared_memory_per_sm 228000 B"), ["fail"]),
        ("PHY-GRANULE", ("shared_memory_granule 128 B", "shared_memory_per_sm 228 KiB"), ["pass"]),
        ("PHY-GRANULE", ("shared_memory_granule 128 B", "shared_memory_per_sm 228001 B"), ["fail"]),
        ("PHY-GRANULE", ("register_granule 256 count file=gpr", "registers_per_sm 65536 count file=gpr"), ["pass"]),
        ("PHY-GRANULE", ("register_granule 256 count file=gpr", "registers_per_block 65000 count"), ["fail"]),
        ("PHY-GRANULE", ("register_granule 8 count file=vgpr", "registers_per_simd 32768 count file=vgpr", "warp_size 64 count"), ["pass"]),
        ("PHY-GRANULE", ("register_granule 8 count file=vgpr", "registers_per_simd 32769 count file=vgpr", "warp_size 64 count"), ["fail"]),
        ("PHY-SECTOR", ("cache_line 128 B level=l2", "cache_sector 32 B level=l2"), ["pass"]),
        ("PHY-SECTOR", ("cache_line 128 B level=l2", "cache_sector 48 B level=l2"), ["fail"]),
        ("PHY-BANKS", ("shared_memory_banks 32 count", "shared_memory_bank_width 4 B", "shared_memory_bandwidth 128 B/clk op=read"), ["pass"]),
        ("PHY-BANKS", ("shared_memory_banks 32 count", "shared_memory_bank_width 4 B", "shared_memory_bandwidth 129 B/clk op=read"), ["fail"]),
        ("PHY-BANKS", ("shared_memory_bandwidth 128 B/clk op=read",), ["not-checkable"]),
        ("PHY-POOL", ("l1_capacity 256 KiB", "l1_shared_pool 256 KiB"), ["pass"]),
        ("PHY-POOL", ("l1_capacity 257 KiB", "l1_shared_pool 256 KiB"), ["fail"]),
    ],
)  # fmt: skip
def test_order_and_divisibility(sheet_of, rule: str, rows: tuple[str, ...], expected: list[str]) -> None:
    """Equal passes, one more fails, nothing to compare says nothing."""
    assert outcomes(sheet_of(*rows), rule) == expected


def test_a_declared_exception_is_excepted(sheet_of) -> None:
    """By the rule's own id."""
    rows = ("l1_capacity 257 KiB  ! PHY-POOL", "l1_shared_pool 256 KiB")
    assert outcomes(sheet_of(*rows), "PHY-POOL") == ["excepted"]


@pytest.mark.parametrize(
    ("blocks", "outcome"), [("32", "pass"), ("24", "fail"), ("16", "fail"), ("64", "pass"), ("128", "fail")]
)
def test_a_block_has_one_two_or_three_warp_slots(sheet_of, blocks: str, outcome: str) -> None:
    """64 warps of 32 threads: 32 blocks have two each, 24 no whole number, 16 four, 128 more than there are."""
    rows = ("warp_size 32 count", "warps_per_sm 64 count", f"blocks_per_sm {blocks} count")
    assert outcome in {check.outcome for check in judge(sheet_of(*rows)) if check.rule == "PHY-BLOCK"}
    rows = ("warp_size 64 count", "warps_per_sm 40 count", "blocks_per_sm 32 count")
    assert {check.outcome for check in judge(sheet_of(*rows)) if check.rule == "PHY-BLOCK"} == {"pass"}


@pytest.mark.parametrize(("cap", "outcome"), [("100", "pass"), ("99", "fail"), ("600", "pass"), ("601", "fail")])
def test_the_lowest_cap_is_part_of_the_sheet(sheet_of, cap: str, outcome: str) -> None:
    """A sixth of the power of the sheet at least, and not above it."""
    rows = ("board_power 600 W kind=tdp", f"board_power {cap} W kind=cap_min")
    assert [check.outcome for check in judge(sheet_of(*rows)) if check.rule == "PHY-POWER"] == [outcome]


@pytest.mark.parametrize(("boost", "outcome"), [("1500", "pass"), ("1499", "fail"), ("2000", "pass")])
def test_boost_is_near_the_maximum(sheet_of, boost: str, outcome: str) -> None:
    """At least three quarters of what the device may run at."""
    rows = ("sm_clock 2000 MHz class=max;ops=all", f"sm_clock {boost} MHz class=boost;ops=all")
    assert outcome in {check.outcome for check in judge(sheet_of(*rows)) if check.rule == "PHY-CLOCK"}
