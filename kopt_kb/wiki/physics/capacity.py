"""Rules on how memory is built: whole stacks and chips, bus and capacity enabled alike, clock and pin rate."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from kopt_kb.wiki.physics.base import (
    CLOCK_ROUNDING,
    RATIO_TOLERANCE,
    Facts,
    PhysicsFinding,
    compare,
    one,
    value,
    within,
)
from kopt_kb.wiki.sheet import row_value

__all__ = ["channels", "chips", "pin_rate", "stacks", "usable_capacity", "whole_capacity"]

_STACK_BITS = 1024
"""Interface of one HBM stack, generations 2 to 3e (JEDEC JESD235, JESD238: eight or sixteen channels, 1024 bits)."""
_CHIP_BITS = 32
"""Interface of one GDDR chip (JEDEC JESD250: two channels of 16 bits)."""
_PAIR = 2
"""Cards have chips in pairs: 8, 10, 12, 16, 20, 24 and more GB."""
_STACK_STEP = 4
"""A stack's dies come in layers of four and hold whole GiB: its capacity is a multiple of 4 GiB."""


def usable_capacity(facts: Facts) -> Iterator[PhysicsFinding]:
    """Capacity and bus are enabled alike: the GiB on one full stack's or chip's width are whole (1 %).

    NVIDIA sells parts with a fraction of the stacks' channels enabled; the fraction shows in both numbers.
    """
    capacity, bus = one(facts, "memory_capacity"), value(facts, "memory_bus_width")
    stacked = value(facts, "memory_stacks") if facts.memory == "HBM" else None
    if bus is None and stacked is not None:
        bus = stacked * _STACK_BITS  # nobody prints the width: all of every stack
    unit = {"HBM": (_STACK_BITS, _STACK_STEP), "GDDR": (_CHIP_BITS, 1)}.get(facts.memory)
    if capacity is None or capacity.unit not in {"GB", "GiB"} or unit is None:
        return
    if bus is None:
        yield PhysicsFinding(capacity, "not-checkable", f"{capacity.key}: memory_bus_width is not known")
        return
    width, step = unit
    each = Fraction(capacity.value) / (bus / width)
    nearest = max(step, round(each / step) * step)
    detail = f"{capacity.key} is {float(each):.2f} GiB on {width} bits; whole ones hold a multiple of {step} GiB"
    yield PhysicsFinding(capacity, "pass" if within(each, Fraction(nearest), RATIO_TOLERANCE) else "fail", detail)


def whole_capacity(facts: Facts) -> Iterator[PhysicsFinding]:
    """What is sold is a whole number of GB, of chips in pairs an even one."""
    capacity = one(facts, "memory_capacity")
    if capacity is not None and capacity.unit in {"GB", "GiB"}:
        step = _PAIR if facts.memory == "GDDR" else 1
        good = Fraction(capacity.value) % step == 0
        yield PhysicsFinding(
            capacity, "pass" if good else "fail", f"{capacity.key} = {capacity.value} in steps of {step} GB"
        )


_DENSITIES = {"GDDR7": (2, 3, 4, 6), "GDDR": (1, 2, 4), "LPDDR": (1, 2, 3, 4, 6, 8, 12, 16), "": (1, 2, 3, 4, 6)}
"""GiB behind 32 bits: chips of 8 to 24 Gbit (JESD232, 250, 239), one or two of them on the same wires; by type."""
_SIDE_BY_SIDE = (4, 5, 6, 8, 10, 11, 12, 14, 16)
"""Chips side by side on cards of 2017 to 2026: 128 to 512 bits."""


def chips(facts: Facts) -> Iterator[PhysicsFinding]:
    """A card has 4 to 16 chips side by side, each of a density that is made; so has one whose type nobody prints."""
    capacity, bus = one(facts, "memory_capacity"), value(facts, "memory_bus_width")
    kind = facts.memory_type.value if facts.memory_type is not None else ""
    mobile = kind.startswith("LPDDR") and bus is not None
    if capacity is None or capacity.unit not in {"GB", "GiB"} or (kind and facts.memory != "GDDR" and not mobile):
        return
    count = None if bus is None else bus / _CHIP_BITS
    if not kind and (count is None or count > _SIDE_BY_SIDE[-1]):
        return
    made = _DENSITIES.get(kind, _DENSITIES["LPDDR" if mobile else "GDDR" if kind else ""])
    counts = [count] if count is not None else _SIDE_BY_SIDE
    good = any(Fraction(capacity.value) == each * density for each in counts for density in made)
    detail = f"{capacity.key} = {capacity.value} {capacity.unit} of chips of {', '.join(map(str, made))} GiB"
    yield PhysicsFinding(capacity, "pass" if good else "fail", detail)


def stacks(facts: Facts) -> Iterator[PhysicsFinding]:
    """The bus needs every stack and no more than there are: 1024 bits each, the last one partly enabled."""
    count, bus = value(facts, "memory_stacks"), one(facts, "memory_bus_width")
    if facts.memory != "HBM" or count is None or bus is None:
        return
    needed = -(-row_value(bus) // _STACK_BITS)
    detail = f"{bus.key} = {bus.value} bit needs {needed} stacks of {_STACK_BITS} bits, {count} are printed"
    yield PhysicsFinding(bus, "pass" if needed == count else "fail", detail)


_CHANNEL_BITS = {"HBM": 64, "GDDR": _CHIP_BITS}
"""What is enabled or left out as one: a channel of a stack, a chip; a channel of LPDDR has 16 bits (JESD209-5)."""
_NARROWEST = 16


def channels(facts: Facts) -> Iterator[PhysicsFinding]:
    """A bus is so many channels of its memory: 64 bits of a stack, 32 of a GDDR chip, else 16."""
    bus = one(facts, "memory_bus_width")
    if bus is not None:
        width = _CHANNEL_BITS.get(facts.memory, _NARROWEST)
        good = row_value(bus) % width == 0
        yield PhysicsFinding(bus, "pass" if good else "fail", f"{bus.key} = {bus.value} bit in channels of {width}")


def pin_rate(facts: Facts) -> Iterator[PhysicsFinding]:
    """The data rate of a pin is memory clock times transfers a clock (0.3 %)."""
    printed, clock = one(facts, "memory_data_rate"), one(facts, "memory_clock")
    if printed is not None and clock is not None and printed.grade != "derived":
        transfers = int(dict(clock.axes)["multiplier"].removeprefix("x"))
        yield compare(printed, row_value(clock) * transfers, CLOCK_ROUNDING, "memory_clock * transfers a clock")
