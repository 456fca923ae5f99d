"""What exports take of a page: documented rates with their accumulator, and what stands where there is no value."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from kopt_kb.wiki.collect import Absence, Collection, Peak, cited_key, collect, plain_number
from kopt_kb.wiki.faults import WikiFaults
from kopt_kb.wiki.registry import Registry


def test_a_rate_is_dense_and_cited(invented: Collection) -> None:
    """Dense and sparse are asked for apart; a citation names row and grade."""
    (product,) = invented.products
    dense, sparse = product.rate("fp16", "matrix"), product.rate("fp16", "matrix", "2:4")
    assert isinstance(dense, Peak) and isinstance(sparse, Peak)
    assert (dense.si, sparse.si) == (Fraction(1024 * 10**11), Fraction(2048 * 10**11))
    assert dense.cite.endswith(f"(vendor, row {dense.row.sha})")
    assert cited_key(dense.cite) == dense.row.key


def test_what_has_no_value_says_why(invented: Collection) -> None:
    """UNKNOWN, NONE and a missing row stay apart."""
    (product,) = invented.products
    unknown, none = product.rate("bf16", "matrix"), product.rate("fp8", "matrix")
    assert isinstance(unknown, Absence) and isinstance(none, Absence)
    assert str(unknown) == "UNKNOWN: the sheet prints fp16 only"
    assert str(none) == "NONE: no FP8 units"
    assert str(product.get("memory_stacks")) == "no row"


def test_rejected_rows_are_not_exported(invented: Collection) -> None:
    """The losing side of a conflict is no value."""
    (product,) = invented.products
    found = product.get("memory_bandwidth")
    assert isinstance(found, Peak) and found.row.value == "2.0"
    assert len([one for one in product.peaks if one.row.metric == "memory_bandwidth"]) == 1


def test_a_narrow_accumulator_is_another_rate(product: Path, wiki_root: Path) -> None:
    """With FP16 accumulation alone there is no rate to export."""
    product.write_text(product.read_text().replace("acc=fp32; clock=boost | vendor", "acc=fp16; clock=boost | vendor"))
    (one,) = collect(Registry.open(wiki_root), ["T10"]).products
    assert isinstance(one.rate("fp16", "matrix"), Absence)


def test_a_page_with_a_fault_is_not_spread(product: Path, wiki_root: Path) -> None:
    """One bad row refuses the export."""
    product.write_text(product.read_text().replace("| 4096 | bit |", "| 4095 | bit |"))
    with pytest.raises(WikiFaults):
        collect(Registry.open(wiki_root))


@pytest.mark.parametrize(
    ("value", "text"),
    [(Fraction(4 * 10**12), "4.0e+12"), (Fraction(10**11), "100000000000"), (Fraction(1, 3), "0.333333333333")],
)
def test_numbers_are_numbers_to_yaml(value: Fraction, text: str) -> None:
    """YAML 1.1 takes an exponent only behind a point."""
    import yaml

    assert plain_number(value) == text
    assert isinstance(yaml.safe_load(text), int | float)
