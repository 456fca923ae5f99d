"""Merging pages: conflicts, derived values, exceptions, repeats."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.wiki.wiki import Wiki


def faults(root: Path) -> list[str]:
    """Fault codes of T10."""
    wiki = Wiki(root, use_cache=False)
    return [fault.code for fault in wiki.sheet(wiki.names.resolve("T10")).faults]


def edit(page: Path, old: str, new: str) -> None:
    """Replace text that must be there."""
    text = page.read_text()
    assert old in text
    page.write_text(text.replace(old, new, 1))


def test_the_invented_page_is_clean(wiki_root: Path) -> None:
    """The starting point of the other tests."""
    assert faults(wiki_root) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [("chosen: the sheet of the shipped part", ""), ("rejected: a blog before launch", ""), ("rejected: a blog before launch", "chosen: also"), ("chosen: the sheet", "rejected: the sheet")],
)  # fmt: skip
def test_unresolved_conflicts_load_neither_side(wiki_root: Path, product: Path, old: str, new: str) -> None:
    """Exactly one chosen, all others rejected; else both rows are faults and no value is left."""
    edit(product, old, new)
    assert faults(wiki_root) == ["WK301", "WK301"]
    wiki = Wiki(wiki_root, use_cache=False)
    assert "memory_bandwidth" not in wiki.sheet(wiki.names.resolve("T10")).chosen()


def test_a_choice_needs_a_conflict(wiki_root: Path, product: Path) -> None:
    """`chosen` on a single row is a fault."""
    edit(product, 'memory row quote="48GB" | |', 'memory row quote="48GB" | chosen: why |')
    assert faults(wiki_root) == ["WK301"]


@pytest.mark.parametrize(("value", "code"), [("25.7", "WK302"), ("25.5", "WK302"), ("26", None), ("25.60", None)])
def test_derived_values_equal_their_formula_within_printed_digits(
    wiki_root: Path, product: Path, value: str, code: str | None
) -> None:
    """25.6 exactly: 26 is right at its precision, 25.7 is not."""
    edit(product, "| peak_compute | 25.6 |", f"| peak_compute | {value} |")
    assert faults(wiki_root) == ([code] if code else [])


def test_formulas_need_values(wiki_root: Path, product: Path) -> None:
    """A reference without a row is WK211."""
    edit(product, "formula: sm_count *", "formula: die_count[die=die] *")
    assert faults(wiki_root) == ["WK211"]


def test_unused_exceptions_fail(wiki_root: Path, product: Path) -> None:
    """A rule that passes needs no exception."""
    edit(product, 'quote="102.4 teraFLOPS" | |', 'quote="102.4 teraFLOPS" | exception PHY-RATE: 102.4, none needed |')
    assert faults(wiki_root) == ["WK303"]


def test_used_exceptions_pass(wiki_root: Path, product: Path) -> None:
    """A quarter of the rate, for a reason; the sparse row is excepted too."""
    edit(product, "| 102.4 | TFLOPS", "| 25.6 | TFLOPS")
    edit(product, 'quote="102.4 teraFLOPS" | |', 'quote="25.6 teraFLOPS" | exception PHY-RATE: 25.6, rate is cut |')
    edit(product, "| 204.8 | TFLOPS", "| 51.2 | TFLOPS")
    edit(product, 'quote="204.8 TF*" | |', 'quote="51.2 TF*" | exception PHY-RATE: 51.2, rate is cut |')
    assert faults(wiki_root) == []


def test_facts_of_the_target_are_not_repeated(wiki_root: Path, product: Path) -> None:
    """The product's page refers to them."""
    edit(
        product,
        "| memory_type |",
        '| warp_size | 32 | count | - | vendor | [^sheet] table quote="32" | |\n| memory_type |',
    )
    assert "WK304" in faults(wiki_root)
