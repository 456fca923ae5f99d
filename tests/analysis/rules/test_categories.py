"""The table of categories: complete, quoted from the advice, and strict."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from kopt_kb.analysis.rules.categories import CATEGORIES, CategoryFault, load_categories, ranked_categories
from kopt_kb.analysis.rules.table import LIMITERS
from kopt_kb.launch.kernel.declared import Category
from kopt_kb.wiki.places import default_root


def test_every_limiter_has_a_category_but_the_one_that_names_nothing() -> None:
    """Each quote stands in the step of the page it cites, or loading fails."""
    assert {one for one in LIMITERS if not load_categories(one)} == {"insufficient-data"}
    assert {*get_args(Category), "launch_configuration"} == set(CATEGORIES)


def test_the_first_limiter_leads_and_no_category_stands_twice() -> None:
    """Bytes first for DRAM, then what the tail asks for besides."""
    rows = ranked_categories(("dram", "tail"))
    assert [one.category for one in rows] == [
        "memory_traffic", "caching", "memory_access", "launch_configuration", "scheduling", "parallelism",
    ]  # fmt: skip
    assert rows[0].citation.startswith("advice/dram.md:")
    assert (rows[0].advice, rows[0].quote) == ("advice/dram.md step 1", "Move fewer bytes")
    assert ranked_categories(("insufficient-data",)) == ()


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ("| weather | 1 | Move fewer bytes |", "no category"),
        ("| caching | 1 | Buy another part |", "does not say that in step 1"),
        ("| caching | 9 | Move fewer bytes |", "does not say that in step 9"),
        ("| caching | one | Move fewer bytes |", "does not say that in step one"),
        ("| caching | 1 |  |", "does not say that in step 1"),
        ("| caching | 1 |", "2 cells"),
        ("| memory_traffic | 1 | Move fewer bytes |", "stands twice"),
    ],
)
def test_what_no_advice_says_is_refused(tmp_path: Path, row: str, why: str) -> None:
    """With the line; so is a category that stands twice."""
    page = tmp_path / "advice" / "dram.md"
    page.parent.mkdir()
    head = (default_root() / "advice" / "dram.md").read_text().partition("| caching |")[0]
    page.write_text(head + row + "\n")
    with pytest.raises(CategoryFault, match=why) as caught:
        load_categories("dram", tmp_path)
    assert caught.value.where == f"advice/dram.md:{head.count(chr(10)) + 1}"


def test_a_wiki_without_the_page_ranks_nothing(tmp_path: Path) -> None:
    """Then the order is the vocabulary's own; a word that is no limiter names no page."""
    assert ranked_categories(("dram",), tmp_path) == ()
    assert ranked_categories(("", "../README")) == ()
