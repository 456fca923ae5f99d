"""Whose word a row is, which product its cell is of, which chip: each fault planted and each right row let through."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.wiki.evidence import evidence_faults
from kopt_kb.wiki.page import read_page


def codes(product: Path, old: str, new: str) -> list[str]:
    """Codes of the invented product's page with one text replaced."""
    text = product.read_text()
    assert text.count(old) == 1
    return [fault.code for fault in read_page(text.replace(old, new).encode(), "hardware/nvidia/t10.md").faults]


def test_the_invented_page_is_carried(product: Path) -> None:
    """Nothing is wrong with it."""
    page = read_page(product.read_bytes(), "hardware/nvidia/t10.md")
    assert list(evidence_faults(page.front, page.rows, page.footnotes)) == []


def test_a_third_party_is_no_vendor(product: Path) -> None:
    """A value of the blog can't be graded vendor; beside the vendor's own document it may stand."""
    assert codes(product, "| 2.2 | TB/s | - | secondary |", "| 2.2 | TB/s | - | vendor |") == ["WK212"]
    both = 'vendor | [^sheet] table 1 quote="100 SMs"; [^blog] table quote="100 SMs"'
    assert codes(product, 'vendor | [^sheet] table 1 quote="100 SMs"', both) == []


@pytest.mark.parametrize(
    ("publisher", "fine"),
    [
        ("NVIDIA Corporation", True),
        ("NVIDIA (blog)", True),
        ("NVIDIA Fans", False),
        ("NVIDIA developer forum, a user", False),
    ],
)
def test_who_begins_with_the_vendors_name_is_not_the_vendor(product: Path, publisher: str, fine: bool) -> None:
    """Its company or a department in brackets is."""
    found = codes(product, 'publisher="NVIDIA"', f'publisher="{publisher}"')
    assert ("WK212" not in found) is fine


@pytest.mark.parametrize(
    ("locator", "expected"),
    [
        ("column T10_PRO", ["WK213"]),
        ("column T10 Pro, row SMs", ["WK213"]),
        ("columns Test 10 and T10 Pro", []),
        ("column T10 PROBE", []),
        ("table 1", []),
    ],
)
def test_a_neighbours_cell_is_no_source(product: Path, locator: str, expected: list[str]) -> None:
    """Unless the cell names this product too; a longer word is another word."""
    assert codes(product, '[^sheet] table 1 quote="100 SMs"', f'[^sheet] {locator} quote="100 SMs"') == expected


def test_full_chip_and_shipped_part_stand_in_different_cells(product: Path) -> None:
    """The same document and cell for both is a fault of what ships."""
    row = '| sm_count | 100 | count | - | vendor | [^sheet] table 1 quote="100 SMs" | |'
    full = '| sm_count | 110 | count | config=full | vendor | [^sheet] {} quote="110 SMs" | |'
    assert codes(product, row, f"{row}\n{full.format('Table  1')}") == ["WK214"]
    assert codes(product, row, f"{row}\n{full.format('table 2')}") == []


@pytest.mark.parametrize(
    ("target", "metric", "value", "expected"),
    [
        ("sm_100", "compute_capability", "10.0", []),
        ("sm_100", "compute_capability", "12.0", ["WK215"]),
        ("sm_89", "compute_capability", "8.9", []),
        ("gfx942", "gfx_target", "gfx942", []),
        ("gfx942", "gfx_target", "gfx950", ["WK215"]),
        ("gfx942", "compute_capability", "9.4", ["WK215"]),
    ],
)
def test_a_target_is_what_its_name_says(target: str, metric: str, value: str, expected: list[str]) -> None:
    """The capability of sm_100 is 10.0."""
    text = (
        f"---\ntarget: {target}\nvendor: Maker\narch: A\ntitle: T\n---\n# T\n\n## Identity\n\n"
        "| Metric | Value | Unit | Conditions | Grade | Source | Note |\n|---|---|---|---|---|---|---|\n"
        f'| {metric} | {value} | - | - | vendor | [^a] row quote="{value}" | |\n\n'
        '[^a]: title="T"; publisher="Maker"; url="https://example.org"; revision="1"; read="2026-11-21"\n'
    )
    assert [fault.code for fault in read_page(text.encode(), "targets/t.md", kind="targets").faults] == expected


@pytest.mark.parametrize(
    ("note", "expected"),
    [
        ("exception PHY-RATE: 100, why", []),
        ("exception PHY-RATE: why", ["WK216"]),
        ("exception PHY-RATE: 200, why", ["WK216"]),
        ("exception PHY-RATE: 100", ["WK216"]),
        ("exception PHY-RATE: 1000, why", ["WK216"]),
        ("exception PHY-RATE: 100, why; exception KIN: why", ["WK216"]),
        ("method: why", []),
    ],
)
def test_an_exception_names_its_value(product: Path, note: str, expected: list[str]) -> None:
    """A value that is changed under its exception is excused no more."""
    row = '[^sheet] table 1 quote="100 SMs" |'
    assert codes(product, row, f"{row} {note}") == expected
