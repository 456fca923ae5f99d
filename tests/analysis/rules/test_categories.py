"""The table of categories: complete, quoted from the advice, and strict."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import get_args

import pytest

from kopt_kb.analysis.rules.categories import CATEGORIES, CategoryFault, load_categories, ranked_categories
from kopt_kb.analysis.rules.table import LIMITERS
from kopt_kb.kernels.declared import Category
from kopt_kb.wiki.places import default_root


def test_every_limiter_has_a_category_but_the_one_that_names_nothing() -> None:
    """Each quote stands in the step of the page it cites, or loading fails."""
    assert set(LIMITERS) - set(load_categories()) == {"insufficient-data"}
    assert {*get_args(Category), "launch_configuration"} == set(CATEGORIES)


def test_the_first_limiter_leads_and_no_category_stands_twice() -> None:
    """Bytes first for DRAM, then what the tail asks for besides."""
    rows = ranked_categories(("dram", "tail"))
    assert [one.category for one in rows] == [
        "memory_traffic", "caching", "memory_access", "launch_configuration", "scheduling", "parallelism",
    ]  # fmt: skip
    assert rows[0].citation.startswith("counters/categories.md:")
    assert (rows[0].advice, rows[0].quote) == ("advice/dram.md step 1", "Move fewer bytes")
    assert ranked_categories(("insufficient-data",)) == ()


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ('| dram | weather | 1 | advice/dram.md quote="Move fewer bytes" |', "no limiter and category"),
        ('| sun | caching | 1 | advice/dram.md quote="Move fewer bytes" |', "no limiter and category"),
        ('| dram | caching | 1 | advice/l2.md quote="Keep a tile" |', "the source is not"),
        ('| dram | caching | 1 | advice/dram.md quote="Buy another part" |', "does not say that in step 1"),
        ('| dram | caching | 9 | advice/dram.md quote="Move fewer bytes" |', "does not say that in step 9"),
        ("| dram | caching | 1 |", "3 cells"),
    ],
)
def test_what_no_advice_says_is_refused(tmp_path: Path, row: str, why: str) -> None:
    """With the line; so is a category that stands twice."""
    shutil.copytree(default_root() / "advice", tmp_path / "advice")
    (tmp_path / "counters").mkdir()
    page = tmp_path / "counters" / "categories.md"
    head = "| Limiter | Category | Step | Source |\n|---|---|---|---|\n"
    page.write_text(head + row + "\n")
    with pytest.raises(CategoryFault, match=why) as caught:
        load_categories(tmp_path)
    assert caught.value.where == "counters/categories.md:3"


def test_a_wiki_without_the_page_ranks_nothing(tmp_path: Path) -> None:
    """Then the order is the vocabulary's own."""
    assert load_categories(tmp_path) == {}
