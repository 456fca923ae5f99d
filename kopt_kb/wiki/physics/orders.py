"""Rules on order and divisibility: what is never larger than what, and what must divide what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise

from kopt_kb.wiki.physics.base import EXACT, Facts, PhysicsFinding, compare, one, printed_rounding, rows, value
from kopt_kb.wiki.row import Row
from kopt_kb.wiki.sheet import row_value

__all__ = [
    "banks",
    "block_limits",
    "clock_order",
    "full_chip",
    "granules",
    "l1_pool",
    "one_divisor",
    "power_order",
    "sectors",
    "system_totals",
]


def _at_most(row: Row, other: Row) -> PhysicsFinding:
    """Pass when the row is not above the other."""
    return PhysicsFinding(
        row, "pass" if row_value(row) <= row_value(other) else "fail", f"{row.key} against {other.key}"
    )


def _ascending(found: list[Row | None]) -> Iterator[PhysicsFinding]:
    known = [row for row in found if row is not None]
    for low, high in pairwise(known):
        yield _at_most(low, high)


_SUMS = ("peak_compute", "memory_capacity", "memory_bandwidth")
_SUM_ROUNDING = Fraction(3, 100)
_SPARSE_GAIN = 2
_MAXIMUM = {"class": "max", "ops": "all"}
_IMPLIED_LEAST, _IMPLIED_MOST = Fraction(3, 4), Fraction(11, 10)
"""Sheets print peaks for a clock near the maximum: 0.87 to 1.06 of it on every part whose maximum is known."""


_BASE_LEAST = Fraction(2, 7)
"""A base clock is 0.295 to 0.94 of the boost clock on every part that has both."""


def clock_order(facts: Facts) -> Iterator[PhysicsFinding]:
    """Base, boost and maximum clocks of the same operations ascend; the base is no small part of the boost."""
    for ops in ("all", "matrix", "vector"):
        base, upper = (
            one(facts, "sm_clock", **{"class": "base"}, ops=ops),
            value(facts, "sm_clock", **{"class": "boost"}, ops=ops),
        )
        if base is not None and upper is not None and row_value(base) < _BASE_LEAST * upper:
            yield PhysicsFinding(base, "fail", f"{base.key} is far under the boost clock")
        yield from _ascending([one(facts, "sm_clock", **{"class": c}, ops=ops) for c in ("base", "boost", "max")])
        boost, most = one(facts, "sm_clock", **{"class": "boost"}, ops=ops), value(facts, "sm_clock", **_MAXIMUM)
        if boost is not None and most is not None and row_value(boost) < _IMPLIED_LEAST * most:
            yield PhysicsFinding(boost, "fail", f"{boost.key} is far under the maximum clock")
        implied, top = one(facts, "sm_clock", **{"class": "unstated"}, ops=ops), value(facts, "sm_clock", **_MAXIMUM)
        if implied is not None and top is not None:
            near = _IMPLIED_LEAST * top <= row_value(implied) <= _IMPLIED_MOST * top
            yield PhysicsFinding(implied, "pass" if near else "fail", f"{implied.key} against the maximum clock")


_CAP_LEAST = Fraction(1, 6)
"""The lowest cap that drivers allow is 0.18 to 0.9 of the power of the sheet."""


def power_order(facts: Facts) -> Iterator[PhysicsFinding]:
    """The lowest, the default and the highest power cap ascend, and the lowest is no small part of the sheet's."""
    low, sheet = one(facts, "board_power", kind="cap_min"), value(facts, "board_power", kind="tdp")
    if low is not None and sheet is not None:
        good = _CAP_LEAST * sheet <= row_value(low) <= sheet
        yield PhysicsFinding(low, "pass" if good else "fail", f"{low.key} = {low.value} {low.unit} of {sheet} W")
    yield from _ascending([one(facts, "board_power", kind=kind) for kind in ("cap_min", "cap_default", "cap_max")])


_COUNTED = (
    "sm_count", "matrix_units", "l2_capacity", "llc_capacity", "memory_capacity", "memory_stacks", "memory_bus_width",
)  # fmt: skip


def full_chip(facts: Facts) -> Iterator[PhysicsFinding]:
    """No shipped part has more than the full chip, and none is sold with less than half of it."""
    for metric in _COUNTED:
        shipped, full = one(facts, metric), one(facts, metric, config="full")
        if shipped is not None and full is not None:
            yield _at_most(shipped, full)
            half = 2 * row_value(shipped) >= row_value(full)
            yield PhysicsFinding(full, "pass" if half else "fail", f"{full.key} is over twice {shipped.key}")


def system_totals(facts: Facts) -> Iterator[PhysicsFinding]:
    """A superchip, board, node or rack has at least what one of its GPUs has."""
    for metric, found in facts.by_metric.items():
        if metric.startswith(("measured", "acceptance", "link_", "host_", "board_power")):
            continue
        for row, axes in found:
            if axes.get("scope") in {"superchip", "board", "node", "rack"}:
                same = {name: text for name, text in axes.items() if name not in {"scope", "config"}}
                gpu = one(facts, metric, **same)
                if gpu is not None:
                    yield _at_most(gpu, row)


def one_divisor(facts: Facts) -> Iterator[PhysicsFinding]:
    """The totals of a system are those of one GPU times one whole number, the same for every row.

    As far as the printed digits of both go, 3 % at most; a sparse total may stand beside the dense rate of one GPU.
    """
    pairs: dict[str, list[tuple[Row, Row, int]]] = {}
    for metric, found in facts.by_metric.items():
        for row, axes in found:
            if metric in _SUMS and axes.get("scope") in {"superchip", "board", "node", "rack"}:
                same = {name: text for name, text in axes.items() if name not in {"scope", "config"}}
                gpu, gain = one(facts, metric, **same), 1
                if gpu is None and same.get("sparsity") == "2:4":
                    gpu, gain = one(facts, metric, **{**same, "sparsity": "dense"}), _SPARSE_GAIN
                if gpu is not None:
                    pairs.setdefault(axes["scope"], []).append((row, gpu, gain))
    for members in pairs.values():
        ratios = [(row, gpu, gain, row_value(row) / row_value(gpu) / gain) for row, gpu, gain in members]
        usual = Counter(round(ratio) for *_, ratio in ratios).most_common(1)[0][0]
        for row, gpu, gain, ratio in ratios:
            loose = printed_rounding(row) + usual * gain * printed_rounding(gpu)
            apart = abs(row_value(row) - usual * gain * row_value(gpu))
            good = apart <= min(loose, _SUM_ROUNDING * usual * gain * row_value(gpu))
            detail = (
                f"{row.key} = {row.value} {row.unit} is {float(ratio):.2f} times that of one GPU, the page's {usual}"
            )
            yield PhysicsFinding(row, "pass" if good else "fail", detail)


_WARP, _WARPS_A_BLOCK = 32, 3
"""Where a warp has 32 threads, an SM has two or three warp slots for each block (compute capabilities 7.0 to 12.1)."""


def block_limits(facts: Facts) -> Iterator[PhysicsFinding]:
    """A block is whole warps and fits the SM; an SM has a warp slot for every block; static fits opt-in memory."""
    block, size = one(facts, "threads_per_block"), value(facts, "warp_size")
    resident, blocks, warps = (one(facts, m) for m in ("threads_per_sm", "blocks_per_sm", "warps_per_sm"))
    if block is not None and size is not None:
        whole = row_value(block) % size == 0
        yield PhysicsFinding(block, "pass" if whole else "fail", f"{block.key} = {block.value} in warps of {size}")
    if block is not None and resident is not None:
        yield _at_most(block, resident)
    if blocks is not None and warps is not None:
        yield _at_most(blocks, warps)
        share = row_value(warps) / row_value(blocks)
        if size == _WARP and (share.denominator != 1 or share > _WARPS_A_BLOCK):
            yield PhysicsFinding(blocks, "fail", f"{blocks.key} = {blocks.value} of {warps.value} warps")
    modes = [one(facts, "shared_memory_per_block", mode=mode) for mode in ("static", "optin")]
    yield from _ascending([*modes, one(facts, "shared_memory_per_sm")])


def _divides(row: Row, part: Row) -> PhysicsFinding:
    whole = row_value(row) % row_value(part) == 0
    return PhysicsFinding(
        row, "pass" if whole else "fail", f"{row.key} = {row.value} in units of {part.key} = {part.value}"
    )


def granules(facts: Facts) -> Iterator[PhysicsFinding]:
    """Shared memory and register files are whole allocation units."""
    for part, whole, axes in (
        ("shared_memory_granule", "shared_memory_per_sm", {}),
        ("register_granule", "registers_per_sm", {"file": "gpr"}),
        ("register_granule", "registers_per_block", {}),
    ):
        unit = one(facts, part, **({"file": "gpr"} if part == "register_granule" else {}))
        total = one(facts, whole, **axes)
        if unit is not None and total is not None:
            yield _divides(total, unit)
    yield from _simd_granule(facts)


def _simd_granule(facts: Facts) -> Iterator[PhysicsFinding]:
    """A SIMD's vector registers are whole granules of a whole wave."""
    total, unit = one(facts, "registers_per_simd", file="vgpr"), value(facts, "register_granule", file="vgpr")
    size = value(facts, "warp_size")
    if total is not None and unit is not None and size is not None:
        whole = row_value(total) % (unit * size) == 0
        yield PhysicsFinding(
            total, "pass" if whole else "fail", f"{total.key} in granules of {unit} registers of {size} lanes"
        )


def sectors(facts: Facts) -> Iterator[PhysicsFinding]:
    """A cache line is a whole number of sectors."""
    for level in ("l1", "l2", "llc"):
        line, sector = one(facts, "cache_line", level=level), one(facts, "cache_sector", level=level)
        if line is not None and sector is not None:
            yield _divides(line, sector)


def banks(facts: Facts) -> Iterator[PhysicsFinding]:
    """Shared memory moves no more than every bank's width a clock (exact for conflict-free peaks)."""
    count, width = value(facts, "shared_memory_banks"), value(facts, "shared_memory_bank_width")
    for row in rows(facts, "shared_memory_bandwidth"):
        if row.grade == "derived":
            continue
        if count is None or width is None:
            yield PhysicsFinding(row, "not-checkable", f"{row.key}: banks or their width are not known")
        else:
            yield compare(row, count * width, EXACT, "shared_memory_banks * shared_memory_bank_width")


def l1_pool(facts: Facts) -> Iterator[PhysicsFinding]:
    """The L1 cache fits the unified pool."""
    cache, pool = one(facts, "l1_capacity"), one(facts, "l1_shared_pool")
    if cache is not None and pool is not None:
        yield _at_most(cache, pool)
