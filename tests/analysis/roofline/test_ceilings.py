"""Which row is the roof: accumulator first, then the highest; our own measurement before the sheet."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.analysis.roofline.ceilings import best_known, compute_ceiling, memory_ceiling, traffic_pattern
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
    row = '| measured_bandwidth | 1.8 | TB/s | level=dram; pattern=copy; bytes=unstated | secondary | [^blog] t quote="1.8 TB/s" | method: blog |\n'
    product.write_text(product.read_text().replace("| memory_type ", row + "| memory_type "))
    platform = Registry.open(wiki_root).platform("T10")
    assert memory_ceiling(platform, "copy", 10**9).basis == "documented"
    assert str(best_known(platform, "measured_bandwidth", level="dram")) == "1.8 TB/s"


def test_pattern_of_work() -> None:
    """A reduction reads; a norm copies."""
    assert traffic_pattern(1600, 100) == "read"
    assert traffic_pattern(1500, 100) == "copy"
    assert traffic_pattern(0, 0) == "copy"
