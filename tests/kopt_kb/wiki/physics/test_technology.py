"""Technology: pin rates of a memory type, error correction, clocks."""

from __future__ import annotations

import pytest

from kopt_kb.wiki.physics import judge


@pytest.mark.parametrize(
    ("rule", "rows", "expected"),
    [
        ("PHY-TYPE", ("memory_type HBM3 -", "memory_bandwidth 3352 GB/s", "memory_bus_width 5120 bit"), ["pass"]),
        ("PHY-TYPE", ("memory_type HBM3 -", "memory_bandwidth 2039 GB/s", "memory_bus_width 5120 bit"), ["fail"]),
        ("PHY-TYPE", ("memory_type HBM2e -", "memory_bandwidth 3352 GB/s", "memory_bus_width 5120 bit"), ["fail"]),
        ("PHY-TYPE", ("memory_type GDDR7 -", "memory_data_rate 36 Gbit/s"), ["pass"]),
        ("PHY-TYPE", ("memory_type GDDR7 -", "memory_data_rate 37 Gbit/s"), ["fail"]),
        ("PHY-TYPE", ("memory_type GDDR6 -", "memory_clock 1250 MHz multiplier=x8"), ["pass"]),
        ("PHY-TYPE", ("memory_type GDDR6X -", "memory_clock 1250 MHz multiplier=x8"), ["fail"]),
        ("PHY-TYPE", ("memory_type HBM3 -",), ["not-checkable"]),
        ("PHY-TYPE", ("memory_type HBM2e -", "memory_bandwidth 3.7 TB/s"), ["pass"]),
        ("PHY-TYPE", ("memory_type HBM2e -", "memory_bandwidth 3.8 TB/s"), ["fail"]),
        ("PHY-TYPE", ("memory_type GDDR6 -", "memory_bandwidth 1.4 TB/s"), ["fail"]),
        ("PHY-FILL", ("memory_type HBM3 -", "memory_capacity 48 GB", "memory_bandwidth 1 TB/s"), ["pass"]),
        ("PHY-FILL", ("memory_type HBM3 -", "memory_capacity 49 GB", "memory_bandwidth 1 TB/s"), ["fail"]),
        ("PHY-FILL", ("memory_type GDDR6 -", "memory_capacity 12 GB", "memory_bandwidth 1 TB/s"), ["pass"]),
        ("PHY-FILL", ("memory_type GDDR6 -", "memory_capacity 11 GB", "memory_bandwidth 1 TB/s"), ["fail"]),
        ("PHY-FILL", ("memory_type LPDDR5X -", "memory_capacity 128 GB", "memory_bandwidth 0.3 TB/s"), ["pass"]),
        ("PHY-FILL", ("memory_capacity 128 GB", "memory_bandwidth 0.3 TB/s"), []),
        ("PHY-ECC", ("memory_type HBM3 -", "memory_ecc yes -"), ["pass"]),
        ("PHY-ECC", ("memory_type HBM3 -", "memory_ecc no -"), ["fail"]),
        ("PHY-ECC", ("memory_type GDDR6 -", "memory_ecc no -"), []),
        ("PHY-MHZ", ("sm_clock 900 MHz class=max;ops=all",), ["pass"]),
        ("PHY-MHZ", ("sm_clock 899 MHz class=max;ops=all",), ["fail"]),
        ("PHY-MHZ", ("sm_clock 19.8 GHz class=boost;ops=all",), ["fail"]),
        ("PHY-MHZ", ("sm_clock 300 MHz class=base;ops=all",), ["pass"]),
    ],
)  # fmt: skip
def test_outcomes(sheet_of, rule: str, rows: tuple[str, ...], expected: list[str]) -> None:
    """Each rule on a right value, on the border, past it, and with nothing to compare."""
    assert [check.outcome for check in judge(sheet_of(*rows)) if check.rule == rule] == expected


@pytest.mark.parametrize(
    ("vendor", "clock", "expected"),
    [
        ("NVIDIA", "1980 MHz", ["pass"]),
        ("NVIDIA", "2617 MHz", ["pass"]),
        ("NVIDIA", "2618 MHz", ["pass"]),
        ("NVIDIA", "2619 MHz", ["fail"]),
        ("NVIDIA", "1890 MHz", ["pass"]),
        ("NVIDIA", "1098 MHz", ["fail"]),
        ("NVIDIA", "2300 MHz", []),
        ("NVIDIA", "1.98 GHz", []),
        ("AMD", "1502 MHz", []),
        ("AMD", "1502.5 MHz", ["fail"]),
        ("NVIDIA", "832.5 MHz", ["fail"]),
    ],
)
def test_clocks_tick(sheet_of, vendor: str, clock: str, expected: list[str]) -> None:
    """NVIDIA's are multiples of 7.5 MHz, printed to the next whole one; hundreds and GHz are rounded."""
    sheet = sheet_of(f"sm_clock {clock} class=boost;ops=all")
    sheet.front["vendor"] = vendor
    assert [check.outcome for check in judge(sheet) if check.rule == "PHY-TICK"] == expected


@pytest.mark.parametrize(
    ("kind", "bandwidth", "bus", "expected"),
    [
        ("GDDR6", "96 GB/s", "", ["pass"]),
        ("GDDR6", "600 GB/s", "384", ["pass"]),
        ("GDDR6", "601.5 GB/s", "384", ["pass"]),
        ("GDDR6", "602 GB/s", "384", ["fail"]),
        ("GDDR6", "630 GB/s", "384", ["fail"]),
        ("GDDR6", "600 GB/s", "", ["pass"]),
        ("GDDR6", "630 GB/s", "", ["fail"]),
        ("GDDR6X", "600 GB/s", "", ["fail"]),
        ("GDDR7", "896 GB/s", "256", ["pass"]),
        ("GDDR7", "861 GB/s", "256", ["fail"]),
        ("HBM3", "3352 GB/s", "5120", []),
    ],
)
def test_pins_of_cards_run_in_steps(sheet_of, kind: str, bandwidth: str, bus: str, expected: list[str]) -> None:
    """Half a Gbit/s, 0.25 % off lets pass; with no printed bus one that cards have has to fit."""
    rows = [f"memory_type {kind} -", f"memory_bandwidth {bandwidth}", *([f"memory_bus_width {bus} bit"] if bus else [])]
    assert [check.outcome for check in judge(sheet_of(*rows)) if check.rule == "PHY-PINS"] == expected


@pytest.mark.parametrize(("bandwidth", "expected"), [("716.8", "pass"), ("722", "fail")])
def test_pins_between_two_steps_are_printed(sheet_of, bandwidth: str, expected: str) -> None:
    """A rate that is no multiple of half a Gbit/s is one where its document prints it."""
    kind, bus = "memory_type GDDR6X -", "memory_bus_width 256 bit"
    rows = [kind, bus, f"memory_bandwidth {bandwidth} GB/s", "memory_data_rate 22.4 Gbit/s"]
    for given, outcome in ((rows, expected), (rows[:3], "fail")):
        assert [check.outcome for check in judge(sheet_of(*given)) if check.rule == "PHY-PINS"] == [outcome]
