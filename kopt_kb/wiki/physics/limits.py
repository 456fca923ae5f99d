"""Rules on limits of one processor: resident warps, shared memory, registers, matrix units. Counts are exact."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from kopt_kb.wiki.physics.base import Facts, PhysicsFinding, compare, one, value
from kopt_kb.wiki.sheet import row_value
from kopt_kb.wiki.vocabulary import METRICS

__all__ = [
    "processors_in_pairs", "registers", "resident_warps", "shared_memory", "units_a_processor", "whole_numbers",
]  # fmt: skip

EXACT = Fraction(0)


def resident_warps(facts: Facts) -> Iterator[PhysicsFinding]:
    """Resident threads are resident warps x warp size; resident waves are waves a SIMD x SIMDs."""
    threads, warps = one(facts, "threads_per_sm"), value(facts, "warps_per_sm")
    size = value(facts, "warp_size")
    if threads is not None and warps is not None and size is not None:
        yield compare(threads, warps * size, EXACT, "warps_per_sm * warp_size")
    per_simd, simds = value(facts, "warps_per_simd"), value(facts, "simds_per_sm")
    resident = one(facts, "warps_per_sm")
    if resident is not None and per_simd is not None and simds is not None:
        yield compare(resident, per_simd * simds, EXACT, "warps_per_simd * simds_per_sm")


def shared_memory(facts: Facts) -> Iterator[PhysicsFinding]:
    """One block's shared memory with the reserved part fits the SM's, which fits the unified pool."""
    block = one(facts, "shared_memory_per_block", mode="optin")
    whole = one(facts, "shared_memory_per_sm")
    reserved = value(facts, "shared_memory_reserved_per_block")
    if block is not None and whole is not None and reserved is not None:
        yield compare(block, row_value(whole) - reserved, EXACT, "shared_memory_per_sm less the reserved part")
    pool = value(facts, "l1_shared_pool")
    if whole is not None and pool is not None:
        fits = row_value(whole) <= pool
        yield PhysicsFinding(whole, "pass" if fits else "fail", f"{whole.key} against l1_shared_pool")


def registers(facts: Facts) -> Iterator[PhysicsFinding]:
    """A block's registers fit the SM; a SIMD's registers are lanes x registers of a lane."""
    block, whole = one(facts, "registers_per_block"), value(facts, "registers_per_sm", file="gpr")
    if block is not None and whole is not None:
        fits = row_value(block) <= whole
        yield PhysicsFinding(block, "pass" if fits else "fail", f"{block.key} against registers_per_sm")
    simd, simds = value(facts, "registers_per_simd", file="vgpr"), value(facts, "simds_per_sm")
    total = one(facts, "registers_per_sm", file="vgpr")
    if total is not None and simd is not None and simds is not None:
        yield compare(total, simd * simds, EXACT, "registers_per_simd * simds_per_sm")


_TWO_A_SIMD = ("sm_70", "sm_72", "sm_75")
"""Volta and Turing have eight tensor cores an SM; from Ampere on, as at AMD, a SIMD has one matrix unit."""


def units_a_processor(facts: Facts) -> Iterator[PhysicsFinding]:
    """Every SIMD of an SM or CU has one matrix unit, those of Volta and Turing two; without the SIMDs, 1, 2, 4 or 8."""
    units, count = one(facts, "matrix_units"), value(facts, "sm_count")
    if units is not None and count is not None:
        simds = value(facts, "simds_per_sm")
        each = 2 if facts.target in _TWO_A_SIMD else 1
        allowed = {1, 2, 4, 8} if simds is None else {each * simds}
        good = row_value(units) / count in allowed
        yield PhysicsFinding(units, "pass" if good else "fail", f"{units.key} = {units.value} over {count} SMs")


_PAIRED_SIMDS = 2


def processors_in_pairs(facts: Facts) -> Iterator[PhysicsFinding]:
    """SMs come two in a texture processing cluster, CUs of two SIMDs two in a workgroup processor: an even number."""
    paired = facts.vendor == "NVIDIA" or value(facts, "simds_per_sm") == _PAIRED_SIMDS
    for row, _ in facts.by_metric.get("sm_count", ()) if paired else ():
        good = row_value(row) % 2 == 0
        yield PhysicsFinding(row, "pass" if good else "fail", f"{row.key} = {row.value}, in pairs")


_COUNTED = ("count", "bit", "B")


def whole_numbers(facts: Facts) -> Iterator[PhysicsFinding]:
    """What is counted, and sizes in bytes, are whole numbers."""
    for metric, found in facts.by_metric.items():
        for row, _ in found if METRICS[metric].dimension in _COUNTED else ():
            if row_value(row).denominator != 1:
                yield PhysicsFinding(row, "fail", f"{row.key} = {row.value} {row.unit} is no whole number")
