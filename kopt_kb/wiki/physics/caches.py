"""Rules on cache sizes: what a share of an L2 can be, how a memory-side cache is cut, what lines look like."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from kopt_kb.wiki.physics.base import Facts, PhysicsFinding, one, rows, value
from kopt_kb.wiki.row import Row
from kopt_kb.wiki.sheet import row_value

__all__ = ["l2_size", "l2_slices", "latencies", "lines", "memory_side_slices", "outer_cache", "powers_of_two"]

_KIB, _MIB = Fraction(1024), Fraction(1024**2)
_SHARE_LEAST, _SHARE_MOST = 32 * _KIB, _MIB
"""What one processor's share of the L2 is on every part of 2017 to 2026: 51 KiB to 0.9 MiB."""
_MEMORY_SHARE = Fraction(1, 100)
"""An L2 is at most a hundredth of the memory behind it."""
_SLICE_BITS = 64
"""A slice of a memory-side cache belongs to 64 bits of the memory bus (one HBM3 channel, four of GDDR6)."""
_SLICE = 256 * _KIB
"""The L2 is built of slices of 256 KiB or a multiple: 4 MiB to 129 MiB hold whole ones."""
_LINE_LEAST, _LINE_MOST = 32, 256


def _verdict(row: Row, good: bool, detail: str) -> PhysicsFinding:
    return PhysicsFinding(row, "pass" if good else "fail", detail)


def l2_size(facts: Facts) -> Iterator[PhysicsFinding]:
    """The whole L2 is 32 KiB to 1 MiB for each processor, not under one L1 pool, at most 1 % of the memory."""
    cache = one(facts, "l2_capacity")
    if cache is None:
        return
    size = row_value(cache)
    count, memory = value(facts, "sm_count"), value(facts, "memory_capacity")
    pool = value(facts, "l1_shared_pool") or value(facts, "l1_capacity")
    if count is not None:
        share = size / count
        detail = f"{cache.key} = {cache.value} {cache.unit} is {float(share / _KIB):.1f} KiB for each of {count} SMs"
        yield _verdict(cache, _SHARE_LEAST <= share <= _SHARE_MOST, detail)
    if pool is not None:
        yield _verdict(cache, size >= pool, f"{cache.key} = {cache.value} {cache.unit} against the L1 of one SM")
    if memory is not None:
        yield _verdict(cache, size <= memory * _MEMORY_SHARE, f"{cache.key} against a hundredth of memory_capacity")


_OUTER_LEAST, _OUTER_MOST = 6, 20
"""A memory-side cache holds 8 to 16 times the L2 on every part of 2020 to 2026 that has one."""


_FASTER_LEAST, _FASTER_MOST = 2, 5
"""A memory-side cache is read 2.9 to 3.3 times as fast as the memory behind it on every part that says so."""


def outer_cache(facts: Facts) -> Iterator[PhysicsFinding]:
    """A memory-side cache is 6 to 20 times the L2 in front of it, and 2 to 5 times as fast as the memory behind it."""
    memory = value(facts, "memory_bandwidth")
    for row in rows(facts, "llc_bandwidth", direction="read"):
        if memory is not None:
            times = row_value(row) / memory
            detail = f"{row.key} = {row.value} {row.unit} is {float(times):.1f} times the memory's"
            yield _verdict(row, _FASTER_LEAST <= times <= _FASTER_MOST, detail)
    outer, inner = one(facts, "llc_capacity"), value(facts, "l2_capacity")
    if outer is None:
        return
    if inner is None:
        yield PhysicsFinding(outer, "not-checkable", f"{outer.key}: l2_capacity is not known")
        return
    times = row_value(outer) / inner
    detail = f"{outer.key} = {outer.value} {outer.unit} is {float(times):.1f} times the L2"
    yield _verdict(outer, _OUTER_LEAST <= times <= _OUTER_MOST, detail)


def l2_slices(facts: Facts) -> Iterator[PhysicsFinding]:
    """An L2 is a whole number of slices."""
    cache = one(facts, "l2_capacity")
    if cache is not None:
        whole = row_value(cache) % _SLICE == 0
        yield _verdict(cache, whole, f"{cache.key} = {cache.value} {cache.unit} in slices of 256 KiB")


def memory_side_slices(facts: Facts) -> Iterator[PhysicsFinding]:
    """A memory-side cache gives every 64 bits of the memory bus the same power of two of MiB."""
    cache, bus = one(facts, "llc_capacity"), value(facts, "memory_bus_width")
    if cache is None:
        return
    if bus is None:
        yield PhysicsFinding(cache, "not-checkable", f"{cache.key}: memory_bus_width is not known")
        return
    each = row_value(cache) / _MIB / (bus / _SLICE_BITS)
    whole = each.denominator == 1 and each.numerator & (each.numerator - 1) == 0
    yield _verdict(cache, whole, f"{cache.key} is {float(each):.3g} MiB for each {_SLICE_BITS} bits of the bus")


def lines(facts: Facts) -> Iterator[PhysicsFinding]:
    """Cache lines and sectors are powers of two between 32 and 256 bytes."""
    for metric in ("cache_line", "cache_sector"):
        for row in rows(facts, metric):
            size = int(row_value(row))
            good = _LINE_LEAST <= size <= _LINE_MOST and size & (size - 1) == 0
            yield _verdict(row, good, f"{row.key} = {row.value} {row.unit}")


_NEAR = ("l1_capacity", "scalar_cache_capacity", "instruction_cache_capacity", "tensor_memory_per_sm")


def powers_of_two(facts: Facts) -> Iterator[PhysicsFinding]:
    """The caches and the tensor memory of one processor are powers of two of 4 KiB to 512 KiB."""
    for metric in _NEAR:
        for row in rows(facts, metric):
            size = row_value(row)
            whole = size.denominator == 1 and int(size) & (int(size) - 1) == 0
            yield _verdict(row, whole and 4 * _KIB <= size <= 512 * _KIB, f"{row.key} = {row.value} {row.unit}")


_LATENCIES = {"l1": (8, 150), "l2": (60, 400), "llc": (90, 600), "dram": (180, 1500)}
"""Nanoseconds that a dependent load takes on parts of 2017 to 2026, by the level that answers."""
_NANOSECOND = Fraction(1, 10**9)


def latencies(facts: Facts) -> Iterator[PhysicsFinding]:
    """A load takes longer the further away it is answered, and at each level about as long as on all parts."""
    found = [(row, dict(row.axes)["level"]) for row in rows(facts, "measured_latency")]
    order = list(_LATENCIES)
    for row, level in found:
        if level in _LATENCIES:
            low, high = _LATENCIES[level]
            nearer = [row_value(other) for other, at in found if at in order[: order.index(level)]]
            good = low * _NANOSECOND <= row_value(row) <= high * _NANOSECOND and row_value(row) >= max(
                nearer, default=0
            )
            yield _verdict(
                row, good, f"{row.key} = {row.value} {row.unit}: {low} to {high} ns, not under a nearer level"
            )
