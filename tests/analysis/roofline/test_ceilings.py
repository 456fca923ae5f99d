"""Which row is the roof: accumulator first, then the highest; our own measurement before the sheet."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.analysis.roofline.ceilings import (
    best_bandwidth,
    best_known,
    compute_ceiling,
    level_ceiling,
    memory_ceiling,
    traffic_pattern,
)
from kopt_kb.base.errors import BadInput
from kopt_kb.quantity.quantity import Quantity, Unknown
from kopt_kb.wiki.registry import Registry

MEASURED = """---
platform: T10
vendor: NVIDIA
title: T10, measured
---
# T10, measured

## Measured

| Metric | Value | Unit | Conditions | Grade | Source | Note |
|---|---|---|---|---|---|---|
| measured_bandwidth | 1.9 | TB/s | level=dram; pattern=copy; bytes=1000000000 | measured | [^run] copy quote="1.9 TB/s" | method: medians |
| measured_bandwidth | 1.7 | TB/s | level=dram; pattern=copy; bytes=100000000 | measured | [^run] copy quote="1.7 TB/s" | method: medians |
| measured_bandwidth | 1.95 | TB/s | level=dram; pattern=read; bytes=1000000000 | measured | [^run] read quote="1.95 TB/s" | method: medians |
| measured_compute | 90 | TFLOPS | dtype=fp16; engine=matrix; acc=fp32; shape=8192x8192x8192; data=random | measured | [^run] gemm quote="90 TFLOPS" | method: medians |

[^run]: title="Run"; publisher="us"; url="record"; revision="1"; read="2026-11-21"
"""


@pytest.fixture
def measured_root(wiki_root: Path) -> Path:
    """The invented wiki with a page of our own measurements."""
    (wiki_root / "measured").mkdir()
    (wiki_root / "measured" / "t10.md").write_text(MEASURED)
    return wiki_root


def test_documented_without_measurement(wiki_root: Path) -> None:
    """The sheet's value is the roof."""
    roof = memory_ceiling(Registry.open(wiki_root).platform("T10"), "copy", 10**9)
    assert (roof.basis, str(roof.roof)) == ("documented", "2.0 TB/s")


@pytest.mark.parametrize(
    ("pattern", "footprint", "expected"),
    [
        ("copy", 10**9, "1.9 TB/s"),
        ("copy", 5 * 10**10, "1.9 TB/s"),
        ("copy", 1_900_000_000, "1.9 TB/s"),
        ("copy", 150_000_000, "1.7 TB/s"),
        ("copy", 10**7, "2.0 TB/s"),
        ("read", 10**9, "1.95 TB/s"),
        ("write", 10**9, "2.0 TB/s"),
    ],
)
def test_our_own_measurement_of_the_pattern_and_footprint(
    measured_root: Path, pattern: str, footprint: int, expected: str
) -> None:
    """Within a factor of two, or above the largest; else the sheet."""
    assert str(memory_ceiling(Registry.open(measured_root).platform("T10"), pattern, footprint).roof) == expected


@pytest.mark.core
def test_of_several_documented_peaks_the_highest_is_the_roof(wiki_root: Path, product: Path) -> None:
    """A roof must not be exceeded: 102.4 TFLOPS at boost, not 81.92 at base clock, whichever row stands first."""
    boost = next(line for line in product.read_text().splitlines() if "| 102.4 |" in line)
    base = boost.replace("102.4", "81.92").replace("clock=boost", "clock=base")
    for rows in (f"{boost}\n{base}", f"{base}\n{boost}"):
        product.write_text(product.read_text().replace(base + "\n", "").replace(boost, rows))
        roof = compute_ceiling(Registry.open(wiki_root).platform("T10"), "fp16", "matrix")
        assert str(roof.documented) == "102.4 TFLOPS"


def test_our_own_compute_measurement(measured_root: Path) -> None:
    """90 TFLOPS measured replaces 102.4 documented as the basis; both are kept."""
    roof = compute_ceiling(Registry.open(measured_root).platform("T10"), "fp16", "matrix")
    assert (roof.basis, str(roof.roof), str(roof.documented)) == ("measured", "90 TFLOPS", "102.4 TFLOPS")


def test_third_party_measurements_are_no_basis(wiki_root: Path, product: Path) -> None:
    """Shown by best_known, never the roof."""
    row = '| measured_bandwidth | 1.8 | TB/s | level=dram; pattern=copy; bytes=1073741824 | secondary | [^blog] t quote="1.8 TB/s" | method: blog |\n'
    product.write_text(product.read_text().replace("| memory_type ", row + "| memory_type "))
    platform = Registry.open(wiki_root).platform("T10")
    assert memory_ceiling(platform, "copy", 10**9).basis == "documented"
    assert str(best_known(platform, "measured_bandwidth", level="dram")) == "1.8 TB/s"


def test_the_best_of_the_same_pattern_comes_first(wiki_root: Path, product: Path) -> None:
    """A write stream of 1.9 TB/s is no measure for a copy, of which 1.7 TB/s are known; for a read it is all there is."""
    rows = "".join(
        f'| measured_bandwidth | {rate} | TB/s | level=dram; pattern={pattern}; bytes=1073741824 | secondary | [^blog] t quote="{rate} TB/s" | method: blog |\n'
        for rate, pattern in (("1.7", "copy"), ("1.9", "write"))
    )
    product.write_text(product.read_text().replace("| memory_type ", rows + "| memory_type "))
    platform = Registry.open(wiki_root).platform("T10")
    found = [str(best_bandwidth(platform, "dram", pattern)) for pattern in ("copy", "read")]
    assert found == ["1.7 TB/s", "1.9 TB/s"]


def test_pattern_of_work() -> None:
    """A reduction reads; a norm copies."""
    assert traffic_pattern(1600, 100) == "read"
    assert traffic_pattern(1500, 100) == "copy"
    assert traffic_pattern(0, 0) == "copy"


SHARED = '| shared_memory_bandwidth | 128 | B/clk | op=read | vendor | [^sheet] table 1 quote="128 B/clk" | |'
L2 = '| l2_bandwidth | {} | TB/s | direction=read; clock={} | vendor | [^sheet] table 1 quote="{}" | |'


def with_rows(product: Path, *rows: str) -> None:
    """Adds rows to the page."""
    product.write_text(product.read_text().replace("| memory_type ", "\n".join((*rows, "| memory_type "))))


@pytest.mark.core
def test_on_chip_roofs(wiki_root: Path, product: Path) -> None:
    """The highest documented L2 rate; shared memory is 128 B a clock x 100 SMs x 1 GHz = 12.8 TB/s, from three rows."""
    with_rows(product, L2.format("5.0", "base", "5.0 TB/s"), L2.format("5.5", "boost", "5.5 TB/s"), SHARED)
    platform = Registry.open(wiki_root).platform("T10")
    assert str(level_ceiling(platform, "l2").roof) == "5.5 TB/s"
    shared = level_ceiling(platform, "shared").roof
    assert isinstance(shared, Quantity)
    assert (shared.si, shared.dimension) == (12_800_000_000_000, "B/s")
    assert {one.key.partition("[")[0] for one in shared.citations()} == {
        "shared_memory_bandwidth", "sm_count", "sm_clock",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("level", "rows", "unknown", "needs"),
    [
        ("l2", (), None, "T10 l2_bandwidth"),
        ("llc", (), None, "T10 llc_bandwidth"),
        ("l1", (), None, "T10 l1_bandwidth[op=read]"),
        ("shared", (), None, "T10 shared_memory_bandwidth[op=read]"),
        ("shared", (SHARED,), "sm_clock", "T10 sm_clock[class=boost;ops=all]"),
        ("shared", (SHARED,), "sm_count", "T10 sm_count"),
    ],
)
def test_an_on_chip_roof_names_the_row_it_lacks(
    wiki_root: Path, product: Path, level: str, rows: tuple[str, ...], unknown: str | None, needs: str
) -> None:
    """No row, or one that says UNKNOWN: the roof is unknown and says of what."""
    with_rows(product, *rows)
    lines = product.read_text().splitlines()
    for at, line in enumerate(lines):
        if unknown and line.startswith(f"| {unknown} "):
            cells = line.split("|")
            lines[at] = f"|{cells[1]}| UNKNOWN |{cells[3]}|{cells[4]}| - | - | reason: not printed |"
    product.write_text("\n".join(lines) + "\n")
    roof = level_ceiling(Registry.open(wiki_root).platform("T10"), level).roof
    assert isinstance(roof, Unknown)
    assert roof.needs == (needs,)


def test_without_a_bandwidth_row_memory_has_no_roof(wiki_root: Path, product: Path) -> None:
    """Nothing is taken from a sister product."""
    lines = [
        line for line in product.read_text().splitlines() if not line.startswith(("| memory_bandwidth ", "[^blog]"))
    ]
    product.write_text("\n".join(lines) + "\n")
    roof = memory_ceiling(Registry.open(wiki_root).platform("T10"), "copy", 10**9).roof
    assert isinstance(roof, Unknown)
    assert roof.needs == ("T10 memory_bandwidth",)


def test_an_engine_the_part_lacks_is_refused(wiki_root: Path) -> None:
    """A NONE row is neither zero nor unknown."""
    with pytest.raises(BadInput, match="no FP8 units"):
        compute_ceiling(Registry.open(wiki_root).platform("T10"), "fp8", "matrix")


@pytest.mark.core
def test_the_accumulator_kernels_use_comes_before_silence(wiki_root: Path, product: Path) -> None:
    """102.4 TFLOPS accumulates in fp32; a row that is silent about it is not taken, even if it is higher."""
    row = next(line for line in product.read_text().splitlines() if "| 102.4 |" in line)
    silent = row.replace("102.4", "102.5").replace("acc=fp32", "acc=unstated")
    product.write_text(product.read_text().replace(row, f"{silent}\n{row}"))
    roof = compute_ceiling(Registry.open(wiki_root).platform("T10"), "fp16", "matrix")
    assert (str(roof.documented), roof.notes) == ("102.4 TFLOPS", ())


@pytest.mark.parametrize(
    ("footprint", "expected"),
    [
        (200_000_000, "1.7 TB/s"),
        (200_000_001, "2.0 TB/s"),
        (499_999_999, "2.0 TB/s"),
        (500_000_000, "1.9 TB/s"),
        (50_000_000, "1.7 TB/s"),
        (49_999_999, "2.0 TB/s"),
    ],
)
def test_a_comparable_footprint_ends_at_a_factor_of_two(measured_root: Path, footprint: int, expected: str) -> None:
    """Measured at 100 MB and 1 GB: 200 MB is comparable with the first, a byte more with neither."""
    assert str(memory_ceiling(Registry.open(measured_root).platform("T10"), "copy", footprint).roof) == expected
