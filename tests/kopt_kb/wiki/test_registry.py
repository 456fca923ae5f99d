"""The registry gives values with their origin, never picks, never falls back, and refuses what does not hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput, ExitCode, UnknownData
from kopt_kb.quantity.quantity import Absent, Derived, Quantity, Unknown
from kopt_kb.wiki.faults import WikiFaults
from kopt_kb.wiki.registry import AmbiguousRow, Registry, parse_key
from kopt_kb.wiki.vocabulary import UnknownMetric


def change(page: Path, old: str, new: str) -> None:
    """Replace text that must be there."""
    text = page.read_text()
    assert old in text
    page.write_text(text.replace(old, new, 1))


def test_a_cited_value_carries_its_row(wiki_root: Path) -> None:
    """Value, grade and citation come from the page's line."""
    value = Registry.open(wiki_root).platform("T10").get("memory_capacity")
    assert isinstance(value, Quantity)
    assert (str(value), value.grades()) == ("48 GB", {"vendor"})
    (citation,) = value.citations()
    assert str(citation).startswith("memory_capacity: 48 GB <- <gpu-wiki>/hardware/nvidia/t10.md:L")


def test_a_derived_value_carries_formula_and_parents(wiki_root: Path) -> None:
    """25.6 TFLOPS = 100 x 128 x 2 x 1 GHz, resting on four rows of two pages."""
    value = (
        Registry.open(wiki_root)
        .platform("T10")
        .require("peak_compute[dtype=fp32;engine=vector;sparsity=dense;acc=fp32;clock=boost]")
    )
    assert isinstance(value.origin, Derived)
    assert value.si == 25_600_000_000_000
    paths = [citation.location.path for citation in value.citations()]
    assert paths.count("targets/sm_00.md") == 1
    assert len(paths) == 4


def test_unknown_none_and_no_row_are_three_things(wiki_root: Path) -> None:
    """UNKNOWN names its row; no row is unknown too, without a citation; NONE is absent."""
    platform = Registry.open(wiki_root).platform("T10")
    row = platform.get("peak_compute", dtype="bf16")
    no_row = platform.get("board_power", kind="tdp")
    none = platform.get("peak_compute", dtype="fp8")
    assert isinstance(row, Unknown) and row.citation is not None
    assert isinstance(no_row, Unknown) and no_row.citation is None
    assert isinstance(none, Absent)
    with pytest.raises(UnknownData) as caught:
        platform.require("board_power[kind=tdp]")
    assert caught.value.exit_code == ExitCode.UNKNOWN
    with pytest.raises(BadInput, match="NONE"):
        platform.require("peak_compute[dtype=fp8;engine=matrix]")


def test_several_rows_are_never_picked_from(wiki_root: Path) -> None:
    """fp16 has a dense and a sparse row: the error lists both keys."""
    with pytest.raises(AmbiguousRow) as caught:
        Registry.open(wiki_root).platform("T10").get("peak_compute", dtype="fp16")
    assert len(caught.value.keys) == 2


def test_rejected_values_never_become_quantities(wiki_root: Path) -> None:
    """The blog's 2.2 TB/s is on the page, the sheet's 2.0 is the value."""
    value = Registry.open(wiki_root).platform("T10").require("memory_bandwidth")
    assert str(value) == "2.0 TB/s"


@pytest.mark.core
def test_one_changed_digit_is_refused_with_file_and_line(wiki_root: Path, product: Path) -> None:
    """The quote no longer converts: the value and everything that needs it is refused, other values are not."""
    change(product, "| memory_capacity | 48 |", "| memory_capacity | 84 |")
    platform = Registry.open(wiki_root).platform("T10")
    with pytest.raises(WikiFaults) as caught:
        platform.get("memory_capacity")
    assert "hardware/nvidia/t10.md:L" in str(caught.value)
    assert isinstance(platform.get("l2_capacity"), Quantity)


@pytest.mark.core
def test_value_and_quote_changed_together_show_unless_physics_breaks(wiki_root: Path, product: Path) -> None:
    """A capacity can't be cross-checked and shows; a peak is 100 SMs x 1024 x 1 GHz and can't be 204."""
    change(
        product,
        '| 48 | GB | - | vendor | [^sheet] memory row quote="48GB"',
        '| 64 | GB | - | vendor | [^sheet] memory row quote="64GB"',
    )
    change(product, "| 102.4 | TFLOPS", "| 204 | TFLOPS")
    change(product, 'quote="102.4 teraFLOPS"', 'quote="204 teraFLOPS"')
    platform = Registry.open(wiki_root).platform("T10")
    assert str(platform.get("memory_capacity")) == "64 GB"
    with pytest.raises(WikiFaults, match="PHY-RATE"):
        platform.get("peak_compute", dtype="fp16", sparsity="dense")


@pytest.mark.core
def test_a_deleted_row_is_unknown(wiki_root: Path, product: Path) -> None:
    """No stand-in, no family value."""
    lines = product.read_text().split("\n")
    product.write_text("\n".join(line for line in lines if not line.startswith("| l2_capacity")))
    assert isinstance(Registry.open(wiki_root).platform("T10").get("l2_capacity"), Unknown)


def test_a_removed_footnote_unloads_its_rows(wiki_root: Path, product: Path) -> None:
    """The rows that cite the document are refused."""
    lines = product.read_text().split("\n")
    product.write_text("\n".join(line for line in lines if not line.startswith("[^sheet]:")))
    with pytest.raises(WikiFaults, match="not defined"):
        Registry.open(wiki_root).platform("T10").get("memory_capacity")


def test_verify_tells_ok_moved_changed_missing(wiki_root: Path, product: Path) -> None:
    """A citation is compared with the page as it is now."""
    platform = Registry.open(wiki_root).platform("T10")
    value = platform.require("memory_capacity")
    (citation,) = value.citations()
    assert Registry.open(wiki_root).verify(citation) == "ok"
    change(product, "# Test 10\n", "# Test 10\n\nA sentence more.\n")
    assert Registry.open(wiki_root).verify(citation) == "moved"
    change(
        product,
        '| 48 | GB | - | vendor | [^sheet] memory row quote="48GB"',
        '| 64 | GB | - | vendor | [^sheet] memory row quote="64GB"',
    )
    assert Registry.open(wiki_root).verify(citation) == "changed"
    change(product, "| memory_capacity | 64 |", "| memory_clock | 64 |")
    assert Registry.open(wiki_root).verify(citation) == "missing"
    product.unlink()
    assert Registry.open(wiki_root).verify(citation) == "missing"


@pytest.mark.parametrize(
    "bad", ["memory_bandwidth[", "memory_bandwidth[x=1]", "cache_line[level=l9]", "cache_line[level]"]
)
def test_malformed_keys_are_named(bad: str) -> None:
    """Brackets, axes and values are checked against the vocabulary."""
    with pytest.raises(BadInput):
        parse_key(bad)


def test_unknown_metrics_are_no_unknown_values(wiki_root: Path) -> None:
    """A typo is bad usage, not UNKNOWN."""
    with pytest.raises(UnknownMetric, match="memory_bandwidth"):
        Registry.open(wiki_root).platform("T10").get("memory_bandwith")


def test_platforms_are_listed_in_order(wiki_root: Path) -> None:
    """Ids are sorted."""
    assert Registry.open(wiki_root).platforms() == ("T10", "T10_PRO")


def test_every_platform_of_the_shipped_wiki_opens() -> None:
    """No page of the wiki has a fault."""
    registry = Registry.open()
    for name in registry.platforms():
        registry.platform(name).refuse_faults()


def test_a_condition_the_metric_lacks_is_refused_not_ignored(wiki_root: Path) -> None:
    """A misspelt axis would else read as "no row", a misspelt value as UNKNOWN."""
    platform = Registry.open(wiki_root).platform("T10")
    with pytest.raises(BadInput, match="memory_bandwidth has no axis 'dtyp'"):
        platform.get("memory_bandwidth", dtyp="bf16")
    with pytest.raises(BadInput, match="dtype=bfloat16 is not in the vocabulary"):
        platform.get("peak_compute", dtype="bfloat16")
