"""Parts of one target with as many processors, of one form, of one memory are alike where nothing else can differ."""

from __future__ import annotations

import pytest

from kopt_kb.packs.curate.twins import beside_twins
from kopt_kb.wiki.names import Identity
from kopt_kb.wiki.physics.base import Facts

ARCHS = {"sm_86": "Ampere", "sm_89": "Ada Lovelace", "sm_100": "Blackwell", "sm_103": "Blackwell Ultra"}
MATRIX = "engine=matrix;sparsity=dense;acc=unstated;clock=unstated"


def odd(sheet_of, *parts: tuple[str, ...]) -> list[str]:
    """Values of the rows that are named; a part is its platform and target, then its rows."""
    sheets = []
    for at, (name, *rows) in enumerate(parts):
        platform, target = name.split()
        sheet = sheet_of(*(f"hardware/p{at}.md:{row}" for row in rows))
        identity = Identity(
            platform, "NVIDIA", platform, ARCHS.get(target, "Test"), target, f"hardware/p{at}.md", (), (), (), ()
        )
        sheets.append((identity, Facts(sheet)))
    return sorted(row.value for row, _ in beside_twins(sheets))


def cache(size: str, count: str = "132", bus: str = "", target: str = "sm_90") -> tuple[str, ...]:
    """A part with an L2."""
    rows = (f"sm_count {count} count", f"l2_capacity {size} MiB", *((f"memory_bus_width {bus} bit",) if bus else ()))
    return (f"A {target}", *rows)


@pytest.mark.parametrize(
    ("parts", "named"),
    [
        ([cache("50", bus="5120"), cache("50", bus="5120")], []),
        ([cache("50", bus="5120"), cache("60", bus="5120")], ["50", "60"]),
        ([cache("50", bus="5120"), cache("60", bus="6144")], []),
        ([cache("50", bus="5120"), cache("60", "114", bus="5120")], []),
        ([cache("126", bus="7680", target="sm_100"), cache("129", bus="7680", target="sm_103")], ["126", "129"]),
        ([cache("50", bus="5120"), cache("60", bus="6144"), cache("60")], []),
        ([cache("50", bus="5120"), cache("60", bus="6144"), cache("45")], ["45"]),
        ([cache("4", "46", target="sm_86"), cache("36", "46", "192", "sm_89")], []),
        ([cache("4", "46", "256", "sm_86"), cache("36", "46", "256", "sm_89")], []),
        ([cache("45")], []),
    ],
)
def test_caches(sheet_of, parts: list[tuple[str, ...]], named: list[str]) -> None:
    """As many SMs on as wide a bus of one line; where no bus is known, that of another with as many SMs."""
    assert odd(sheet_of, *parts) == named


def outer(llc: str, l2: str, target: str = "gfx942") -> tuple[str, ...]:
    """A part with a memory-side cache."""
    return (f"A {target}", f"llc_capacity {llc} MiB", f"l2_capacity {l2} MiB")


@pytest.mark.parametrize(
    ("parts", "named"),
    [
        ([outer("256", "32"), outer("128", "16")], []),
        ([outer("256", "32"), outer("256", "16")], ["256", "256"]),
        ([outer("256", "32"), outer("256", "32"), outer("104", "10")], []),
        ([outer("256", "32"), outer("256", "16", "gfx950")], []),
    ],
)
def test_memory_side_caches(sheet_of, parts: list[tuple[str, ...]], named: list[str]) -> None:
    """As many times the L2 as on another part of the target, within 1.3."""
    assert odd(sheet_of, *parts) == named


@pytest.mark.parametrize(
    ("watts", "platforms", "named"),
    [
        (("300", "375"), ("A_PCIE_80GB", "B_PCIE"), []),
        (("300", "376"), ("A_PCIE_80GB", "B_PCIE"), ["300", "376"]),
        (("300", "400"), ("A_PCIE_80GB", "A_SXM_80GB"), []),
        (("400", "600"), ("A_NVL", "B_NVL"), []),
    ],
)
def test_power_of_a_form(sheet_of, watts: tuple[str, str], platforms: tuple[str, str], named: list[str]) -> None:
    """Cards are compared with cards and modules with modules of the target."""
    rows = [f"board_power {power} W kind=diag_target" for power in watts]
    parts = [(f"{name} sm_80", row) for name, row in zip(platforms, rows, strict=True)]
    assert odd(sheet_of, *parts) == named


def rated(rate: str, clock: str = "", count: str = "78") -> tuple[str, ...]:
    """A part with a matrix rate."""
    ticks = (f"sm_clock {clock} MHz class=max;ops=all",) if clock else ()
    return ("A sm_90", f"sm_count {count} count", f"peak_compute {rate} TFLOPS dtype=bf16;{MATRIX}", *ticks)


@pytest.mark.parametrize(
    ("parts", "named"),
    [
        ([rated("148"), rated("150")], []),
        ([rated("148"), rated("163")], ["148", "163"]),
        ([rated("148", "1980"), rated("163")], ["163"]),
        ([rated("148", "1980"), rated("163", "1980")], []),
        ([rated("148"), rated("163", count="80")], []),
    ],
)
def test_rates_without_a_clock(sheet_of, parts: list[tuple[str, ...]], named: list[str]) -> None:
    """Within 2 % of a part with as many SMs; with a clock the product of units and clock judges."""
    assert odd(sheet_of, *parts) == named


@pytest.mark.parametrize(
    ("first", "second", "kind", "named"),
    [
        ("1300 MHz multiplier=x4", "1300 MHz multiplier=x4", "", []),
        ("1300 MHz multiplier=x2", "1300 MHz multiplier=x4", "", ["1300"]),
        ("963 MHz multiplier=x4", "1300 MHz multiplier=x4", "", []),
        ("962 MHz multiplier=x4", "1300 MHz multiplier=x4", "", ["962"]),
        ("1300 MHz multiplier=x2", "1300 MHz multiplier=x4", "memory_type HBM2e -", []),
    ],
)
def test_pins_of_an_unnamed_memory(sheet_of, first: str, second: str, kind: str, named: list[str]) -> None:
    """Within 1.35 of another part of the target; a named type has bounds of its own."""
    one = ("A gfx942", f"memory_clock {first}", *([kind] if kind else []))
    assert odd(sheet_of, one, ("B gfx942", f"memory_clock {second}", "memory_type HBM3 -")) == named


@pytest.mark.parametrize(("limit", "named"), [("20000", []), ("20001", ["20001"])])
def test_limits_without_a_peak(sheet_of, limit: str, named: list[str]) -> None:
    """A limit of a part that prints no peak is not above the highest of its target."""
    peak = "peak_compute 20 TFLOPS dtype=fp32;engine=vector;sparsity=dense;acc=unstated;clock=unstated"
    asked = f"acceptance_compute {limit} GFLOPS dtype=fp32;data=unstated"
    assert odd(sheet_of, ("A sm_80", peak), ("B sm_80", asked)) == named


@pytest.mark.parametrize(
    ("level", "speed", "named"), [("l2", "5300", []), ("l2", "5299", ["5299"]), ("dram", "2003", [])]
)
def test_a_cache_is_no_slower_than_the_memories_of_its_target(
    sheet_of, level: str, speed: str, named: list[str]
) -> None:
    """Where the part's own bandwidth is not known."""
    measured = f"measured_bandwidth {speed} GB/s level={level};pattern=copy;bytes=unstated"
    parts = [("A gfx942", "memory_bandwidth 5.3 TB/s"), ("B gfx942", "memory_bandwidth 8 TB/s"), ("C gfx942", measured)]
    assert odd(sheet_of, *parts) == named
