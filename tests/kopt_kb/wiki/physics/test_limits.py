"""Limits of one processor are exact."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kopt_kb.wiki.physics import judge


def outcomes(sheet, rule: str) -> list[str]:
    """Outcomes of one rule."""
    return [check.outcome for check in judge(sheet) if check.rule == rule]


@pytest.mark.parametrize(("threads", "outcome"), [("2048", "pass"), ("1536", "fail")])
def test_threads_are_warps_times_size(sheet_of, threads: str, outcome: str) -> None:
    """64 warps of 32."""
    rows = ("warp_size 32 count", "warps_per_sm 64 count", f"threads_per_sm {threads} count")
    assert outcomes(sheet_of(*rows), "PHY-WARPS") == [outcome]


def test_waves_are_simds_times_slots(sheet_of) -> None:
    """4 SIMDs of 8 waves are 32."""
    rows = ("warps_per_simd 8 count", "simds_per_sm 4 count", "warps_per_sm 32 count")
    assert outcomes(sheet_of(*rows), "PHY-WARPS") == ["pass"]


@pytest.mark.parametrize(("block", "outcome"), [("227", "pass"), ("228", "fail")])
def test_block_and_sm_are_not_the_same_size(sheet_of, block: str, outcome: str) -> None:
    """228 KiB an SM less 1 KiB reserved are 227 KiB a block; one is often printed as the other."""
    rows = (
        "shared_memory_per_sm 228 KiB",
        "shared_memory_reserved_per_block 1 KiB",
        f"shared_memory_per_block {block} KiB mode=optin",
    )
    assert outcomes(sheet_of(*rows), "PHY-SHARED") == [outcome]


def test_shared_memory_fits_the_pool(sheet_of) -> None:
    """The unified pool is not smaller than its shared part."""
    assert outcomes(sheet_of("shared_memory_per_sm 228 KiB", "l1_shared_pool 192 KiB"), "PHY-SHARED") == ["fail"]


@pytest.mark.parametrize(("block", "outcome"), [("65536", "pass"), ("131072", "fail")])
def test_registers_of_a_block_fit(sheet_of, block: str, outcome: str) -> None:
    """A block can't have more than the SM."""
    rows = ("registers_per_sm 65536 count file=gpr", f"registers_per_block {block} count")
    assert outcomes(sheet_of(*rows), "PHY-REGISTERS") == [outcome]


def test_vector_registers_of_a_cu(sheet_of) -> None:
    """Four SIMDs of 32768 are 131072."""
    rows = (
        "registers_per_simd 32768 count file=vgpr",
        "simds_per_sm 4 count",
        "registers_per_sm 65536 count file=vgpr",
    )
    assert outcomes(sheet_of(*rows), "PHY-REGISTERS") == ["fail"]


_UNITS = [
    ("528", "pass"),
    ("500", "fail"),
    ("1056", "pass"),
    ("132", "pass"),
    ("2112", "fail"),
    ("396", "fail"),
    ("1", "fail"),
]


@pytest.mark.parametrize(("units", "outcome"), _UNITS)
def test_matrix_units_of_an_sm(sheet_of, units: str, outcome: str) -> None:
    """132 SMs of one, four or eight; not of three or sixteen."""
    assert outcomes(sheet_of("sm_count 132 count", f"matrix_units {units} count"), "PHY-UNITS") == [outcome]


@pytest.mark.parametrize(
    ("target", "units", "outcome"),
    [("sm_90", "528", "pass"), ("sm_90", "1056", "fail"), ("sm_75", "1056", "pass"), ("sm_75", "528", "fail")],
)
def test_matrix_units_of_a_simd(sheet_of, target: str, units: str, outcome: str) -> None:
    """Where the SIMDs are known, each has one, of Turing two."""
    sheet = sheet_of("sm_count 132 count", "simds_per_sm 4 count", f"matrix_units {units} count")
    assert outcomes(replace(sheet, front={"target": target}), "PHY-UNITS") == [outcome]


@pytest.mark.parametrize(
    ("vendor", "simds", "count", "found"),
    [
        ("NVIDIA", "4", "132", ["pass"]),
        ("NVIDIA", "4", "99", ["fail"]),
        ("AMD", "2", "96", ["pass"]),
        ("AMD", "2", "69", ["fail"]),
        ("AMD", "4", "19", []),
    ],
)
def test_processors_come_in_pairs(sheet_of, vendor: str, simds: str, count: str, found: list[str]) -> None:
    """In clusters and workgroup processors; CUs of four SIMDs stand alone."""
    sheet = replace(sheet_of(f"sm_count {count} count", f"simds_per_sm {simds} count"), front={"vendor": vendor})
    assert outcomes(sheet, "PHY-PAIR") == found


@pytest.mark.parametrize(
    "row", ["cluster_size 0.016 count mode=optin", "l2_capacity 0.3 B", "memory_bus_width 0.5 bit"]
)
def test_parts_of_what_is_counted_are_refused(sheet_of, row: str) -> None:
    """A rate may be broken, a count not."""
    assert outcomes(sheet_of(row), "PHY-COUNT") == ["fail"]


def test_whole_numbers_in_any_unit_are_no_finding(sheet_of) -> None:
    """Half a MiB is a whole number of bytes."""
    sheet = sheet_of("l2_capacity 0.5 MiB", "sm_count 132 count", "memory_bandwidth 3.35 TB/s")
    assert outcomes(sheet, "PHY-COUNT") == []
