"""How memory is built: stacks, chips, enabled fractions, pin rates."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kopt_kb.wiki.physics import judge
from kopt_kb.wiki.row import Row
from kopt_kb.wiki.sheet import Sheet


def outcomes(sheet: Sheet, rule: str) -> list[str]:
    """Outcomes of one rule."""
    return [check.outcome for check in judge(sheet) if check.rule == rule]


def with_type(sheet: Sheet, kind: str) -> Sheet:
    """The sheet with a memory type row."""
    word = Row("memory_type", "memory_type", "token", kind, "-", (), "vendor", (), (), "p.md", 99, "H", "0" * 12)
    return replace(sheet, rows=[*sheet.rows, word])


@pytest.mark.parametrize(
    ("kind", "capacity", "bus", "outcome"),
    [
        ("HBM3", "80", "5120", "pass"),  # 5 stacks of 16
        ("HBM3", "94", "6016", "pass"),  # 47/48 of 6 stacks of 16
        ("HBM3e", "141", "6016", "pass"),  # 47/48 of 6 stacks of 24
        ("HBM3e", "180", "7680", "pass"),  # 15/16 of 8 stacks of 24
        ("HBM3e", "192", "7680", "fail"),  # the full chip's capacity on the enabled bus
        ("HBM3e", "186", "7680", "fail"),  # 24.8 GiB a stack
        ("HBM3", "80", "6144", "fail"),  # 13.3 GiB a stack
        ("HBM3", "96.9", "6144", "pass"),  # 0.94 % off
        ("HBM3", "97.1", "6144", "fail"),  # 1.15 % off
        ("GDDR6", "48", "384", "pass"),
        ("GDDR6", "50", "384", "fail"),
    ],
)
def test_capacity_and_bus_are_enabled_alike(sheet_of, kind: str, capacity: str, bus: str, outcome: str) -> None:
    """Whole GiB on every full stack's width."""
    sheet = with_type(sheet_of(f"memory_capacity {capacity} GB", f"memory_bus_width {bus} bit"), kind)
    assert outcomes(sheet, "PHY-CAPACITY") == [outcome]


def test_an_unknown_bus_is_not_checkable(sheet_of) -> None:
    """Never a pass; memory of another kind is not spoken about."""
    assert outcomes(with_type(sheet_of("memory_capacity 96 GB"), "HBM3"), "PHY-CAPACITY") == ["not-checkable"]
    assert outcomes(with_type(sheet_of("memory_capacity 96 GB"), "LPDDR5X"), "PHY-CAPACITY") == []


@pytest.mark.parametrize(
    ("stacks", "bus", "outcome"),
    [
        ("8", "8192", "pass"),
        ("8", "7680", "pass"),
        ("8", "7169", "pass"),
        ("8", "7168", "fail"),
        ("8", "8193", "fail"),
        ("8", "4096", "fail"),
    ],
)
def test_the_bus_needs_every_stack(sheet_of, stacks: str, bus: str, outcome: str) -> None:
    """Eight stacks are more than 7168 and at most 8192 bits."""
    sheet = with_type(sheet_of(f"memory_stacks {stacks} count", f"memory_bus_width {bus} bit"), "HBM3e")
    assert outcomes(sheet, "PHY-STACKS") == [outcome]


@pytest.mark.parametrize(
    ("rate", "outcome"),
    [("5.2", "pass"), ("5.2156", "pass"), ("5.216", "fail"), ("5.1844", "pass"), ("2.6", "fail"), ("10.4", "fail")],
)
def test_pin_rate(sheet_of, rate: str, outcome: str) -> None:
    """1300 MHz times 4 are 5.2 Gbit/s; 0.3 % off passes, more fails, a multiplier of two is caught."""
    sheet = sheet_of("memory_clock 1300 MHz multiplier=x4", f"memory_data_rate {rate} Gbit/s")
    assert outcomes(sheet, "PHY-PIN") == [outcome]


@pytest.mark.parametrize(
    ("kind", "capacity", "expected"),
    [
        ("HBM3e", "141 GB", ["pass"]),
        ("HBM3e", "141.5 GB", ["fail"]),
        ("GDDR7", "48 GB", ["pass"]),
        ("GDDR7", "27 GB", ["fail"]),
        ("GDDR7", "52.8 GB", ["fail"]),
        ("GDDR7", "32607 MiB", []),
    ],
)
def test_what_is_sold_is_whole(sheet_of, kind: str, capacity: str, expected: list[str]) -> None:
    """Whole GB of stacks, even ones of chips; a device's MiB are no sheet."""
    assert outcomes(with_type(sheet_of(f"memory_capacity {capacity}"), kind), "PHY-WHOLE") == expected


@pytest.mark.parametrize(
    ("kind", "bus", "outcome"),
    [
        ("HBM3", "6016", "pass"),
        ("HBM2", "4069", "fail"),
        ("GDDR6", "448", "pass"),
        ("GDDR6", "400", "fail"),
        ("LPDDR5X", "272", "pass"),
        ("LPDDR5X", "265", "fail"),
    ],
)
def test_a_bus_is_so_many_channels(sheet_of, kind: str, bus: str, outcome: str) -> None:
    """Digits that changed places make no channel."""
    assert outcomes(with_type(sheet_of(f"memory_bus_width {bus} bit"), kind), "PHY-CHANNEL") == [outcome]


@pytest.mark.parametrize(
    ("kind", "capacity", "bus", "outcome"),
    [
        ("GDDR6", "24", "384", "pass"),  # 12 chips of 16 Gbit
        ("GDDR6", "48", "384", "pass"),  # two on the same wires
        ("GDDR6", "36", "384", "fail"),  # a density that GDDR6 has not
        ("GDDR7", "36", "384", "pass"),
        ("GDDR7", "96", "512", "pass"),
        ("GDDR7", "12", "384", "fail"),
        ("GDDR7", "160", "512", "fail"),
        ("GDDR6", "16", "", "pass"),
        ("GDDR6", "18", "", "fail"),  # no number of chips of a density that is made
        ("GDDR6", "64", "", "pass"),  # 16 chips, the most
        ("GDDR6", "68", "", "fail"),
        ("LPDDR5X", "128", "256", "pass"),
        ("LPDDR5X", "182", "256", "fail"),
        ("", "16", "256", "pass"),  # a type that nobody prints
        ("", "61", "256", "fail"),
        ("", "160", "256", "fail"),
    ],
)
def test_a_card_has_chips_of_densities_that_are_made(
    sheet_of, kind: str, capacity: str, bus: str, outcome: str
) -> None:
    """Beside a bus each chip's density is known; without one some number of chips has to fit."""
    sheet = sheet_of(f"memory_capacity {capacity} GB", *([f"memory_bus_width {bus} bit"] if bus else []))
    assert outcomes(with_type(sheet, kind) if kind else sheet, "PHY-CHIPS") == [outcome]


def test_of_other_memories_no_chips_are_counted(sheet_of) -> None:
    """Stacks and packages are built otherwise; a wide bus of a type that nobody prints is that of stacks."""
    for kind, bus in (("HBM3", ["memory_bus_width 256 bit"]), ("LPDDR5X", [])):
        assert outcomes(with_type(sheet_of("memory_capacity 61 GB", *bus), kind), "PHY-CHIPS") == []
    assert outcomes(sheet_of("memory_capacity 61 GB", "memory_bus_width 544 bit"), "PHY-CHIPS") == []
    assert outcomes(sheet_of("memory_capacity 61 GB"), "PHY-CHIPS") == []
    assert outcomes(with_type(sheet_of("memory_capacity 61 MiB"), "GDDR6"), "PHY-CHIPS") == []


@pytest.mark.parametrize(("stacks", "outcome"), [("4", "pass"), ("5", "fail"), ("6", "pass"), ("8", "fail")])
def test_without_a_bus_the_stacks_say_how_much_each_holds(sheet_of, stacks: str, outcome: str) -> None:
    """36, 28.8, 24 and 18 GiB a stack: layers of four dies hold whole ones of 4 GiB."""
    sheet = with_type(sheet_of("memory_capacity 144 GB", f"memory_stacks {stacks} count"), "HBM3e")
    assert outcomes(sheet, "PHY-CAPACITY") == [outcome]
