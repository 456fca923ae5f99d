"""Rules of a technology: the pin rates of a memory type, error correction, clocks that silicon of these years has."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from kopt_kb.quantity.units import UNITS
from kopt_kb.wiki.physics.base import Facts, PhysicsFinding, one, rows, value
from kopt_kb.wiki.sheet import row_value

__all__ = ["clock_range", "clock_steps", "error_correction", "pin_rate_of_type", "pin_steps", "time_to_read_all"]

_GBIT = UNITS["Gbit/s"].factor
_PIN_RATES: dict[str, tuple[str, str]] = {
    "HBM2": ("1.7", "2.5"),
    "HBM2e": ("2.8", "3.7"),
    "HBM3": ("3.8", "6.5"),
    "HBM3e": ("5.8", "9.3"),
    "HBM4": ("7.0", "13"),
    "GDDR5": ("5", "9"),
    "GDDR6": ("10", "20.5"),
    "GDDR6X": ("18.5", "24"),
    "GDDR7": ("24", "36"),
    "LPDDR5": ("4.2", "6.5"),
    "LPDDR5X": ("6.5", "10.7"),
}
"""Gbit/s of a pin that parts of each type are sold with (JEDEC JESD235, 238, 270, 212, 250, 239, 209-5 and later).

Between the rates of two generations there are no parts.
"""
_WIDEST = {"HBM": 8192, "GDDR": 512}
"""Bits of the widest buses of parts of 2017 to 2026: eight stacks, sixteen chips."""
_CLOCKS = {"base": ("0.3", "2.6"), "boost": ("0.9", "3.4"), "max": ("0.9", "3.6"), "unstated": ("0.9", "3.6")}
"""GHz of processors of 2017 to 2026."""


def _data_rate(facts: Facts) -> Fraction | None:
    """Return bits a second and pin: bandwidth over bus where both are printed, else the printed rate or clock."""
    bandwidth, bus = value(facts, "memory_bandwidth"), value(facts, "memory_bus_width")
    if bandwidth is not None and bus is not None:
        return bandwidth * 8 / bus
    printed, clock = value(facts, "memory_data_rate"), one(facts, "memory_clock")
    if printed is not None or clock is None:
        return printed
    return row_value(clock) * int(dict(clock.axes)["multiplier"].removeprefix("x"))


def pin_rate_of_type(facts: Facts) -> Iterator[PhysicsFinding]:
    """A memory type bounds the data rate of a pin from both sides."""
    kind, rate = facts.memory_type, _data_rate(facts)
    bounds = _PIN_RATES.get(kind.value) if kind is not None else None
    if kind is None or bounds is None:
        return
    widest, bandwidth = _WIDEST.get(facts.memory), value(facts, "memory_bandwidth")
    if rate is None and widest is not None and bandwidth is not None:
        good = bandwidth * 8 / widest <= Fraction(bounds[1]) * _GBIT
        yield PhysicsFinding(
            kind, "pass" if good else "fail", f"{kind.value} on {widest} bits, the widest that are made"
        )
        return
    if rate is None:
        yield PhysicsFinding(
            kind, "not-checkable", f"{kind.key}: neither bus and bandwidth nor a memory clock is known"
        )
        return
    low, high = (Fraction(text) * _GBIT for text in bounds)
    detail = (
        f"{kind.value} runs at {bounds[0]} to {bounds[1]} Gbit/s a pin, the page makes it {float(rate / _GBIT):.2f}"
    )
    yield PhysicsFinding(kind, "pass" if low <= rate <= high else "fail", detail)


_PIN_STEP = Fraction(1, 2) * _GBIT
_PIN_ROUNDING = Fraction(25, 10000)
"""GDDR chips are run at multiples of half a Gbit/s, few of them at a rate between that is printed then (22.4 Gbit/s).

Bandwidths are printed to three digits and more."""
_CARD_BITS = [Fraction(32 * chips) for chips in (2, 3, 4, 5, 6, 8, 10, 11, 12, 14, 16)]
"""Buses of cards of 2017 to 2026: chips of 32 bits side by side."""


def pin_steps(facts: Facts) -> Iterator[PhysicsFinding]:
    """The pins of a card run at the printed rate or a multiple of half a Gbit/s: with its bus, or with any there is."""
    bandwidth, bus = one(facts, "memory_bandwidth"), value(facts, "memory_bus_width")
    if facts.memory != "GDDR" or bandwidth is None or facts.memory_type is None:
        return
    low, high = (Fraction(text) * _GBIT for text in _PIN_RATES[facts.memory_type.value])
    widths = [bus] if bus is not None else _CARD_BITS
    pins = [row_value(bandwidth) * 8 / width for width in widths]
    printed = value(facts, "memory_data_rate")
    made = [
        pin
        for pin in pins
        if any(abs(pin - rate) <= _PIN_ROUNDING * pin for rate in (round(pin / _PIN_STEP) * _PIN_STEP, printed or 0))
    ]
    good = any(low <= pin <= high for pin in made)
    detail = (
        f"{bandwidth.key} = {bandwidth.value} {bandwidth.unit} on {', '.join(str(int(each)) for each in widths)} bits"
    )
    yield PhysicsFinding(bandwidth, "pass" if good else "fail", f"{detail}, in steps of 0.5 Gbit/s a pin")


_SECONDS = {"HBM": (12, 48), "GDDR": (12, 110), "LPDDR": (150, 700)}
"""Milliseconds that parts of 2017 to 2026 need to read their whole memory once: 15 to 39, 16 to 80, 250 to 470."""


def time_to_read_all(facts: Facts) -> Iterator[PhysicsFinding]:
    """Capacity over bandwidth is a time that parts with this kind of memory have."""
    kind, capacity = facts.memory_type, one(facts, "memory_capacity")
    bandwidth = value(facts, "memory_bandwidth")
    if kind is None or capacity is None or bandwidth is None:
        return
    low, high = next(bounds for family, bounds in _SECONDS.items() if kind.value.startswith(family))
    each = row_value(capacity) / bandwidth * 1000
    detail = f"{capacity.key} at memory_bandwidth is read in {float(each):.0f} ms, {kind.value} in {low} to {high}"
    yield PhysicsFinding(capacity, "pass" if low <= each <= high else "fail", detail)


def error_correction(facts: Facts) -> Iterator[PhysicsFinding]:
    """Stacked memory has error correction: JEDEC's HBM carries the bits for it."""
    kind, ecc = facts.memory_type, facts.memory_ecc
    if kind is not None and ecc is not None and kind.value.startswith("HBM"):
        yield PhysicsFinding(
            ecc, "fail" if ecc.value == "no" else "pass", f"memory_ecc = {ecc.value} with {kind.value}"
        )


def clock_range(facts: Facts) -> Iterator[PhysicsFinding]:
    """A clock of a processor is one that parts of these years have."""
    for row in rows(facts, "sm_clock"):
        bounds = _CLOCKS.get(dict(row.axes)["class"])
        if bounds is not None:
            low, high = (Fraction(text) * UNITS["GHz"].factor for text in bounds)
            good = low <= row_value(row) <= high
            yield PhysicsFinding(row, "pass" if good else "fail", f"{row.key} = {row.value} {row.unit}")


_TICK = Fraction(15, 2) * UNITS["MHz"].factor
_ROUNDED = UNITS["MHz"].factor
"""Clocks of NVIDIA's cards are multiples of 7.5 MHz (SUPPORTED_CLOCKS of its driver), printed in whole MHz."""


def clock_steps(facts: Facts) -> Iterator[PhysicsFinding]:
    """A clock is printed in whole MHz; NVIDIA's are multiples of 7.5 MHz, those in hundreds were rounded."""
    for row in rows(facts, "sm_clock"):
        if row.unit == "MHz" and row.grade != "derived" and Fraction(row.value).denominator != 1:
            yield PhysicsFinding(row, "fail", f"{row.key} = {row.value} {row.unit}, clocks are whole MHz")
    if facts.vendor != "NVIDIA":
        return
    for row in rows(facts, "sm_clock"):
        if row.unit == "MHz" and row.grade != "derived" and "." not in row.value and int(row.value) % 100:
            apart = row_value(row) % _TICK
            good = min(apart, _TICK - apart) < _ROUNDED
            yield PhysicsFinding(
                row, "pass" if good else "fail", f"{row.key} = {row.value} {row.unit} in steps of 7.5 MHz"
            )
