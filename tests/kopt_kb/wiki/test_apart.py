"""Claims about wikis that are not the packaged one: they are named, with the pages that differ."""

from __future__ import annotations

import shutil
from pathlib import Path

from kopt_kb.wiki.apart import apart
from kopt_kb.wiki.places import packaged_root
from kopt_kb.wiki.registry import Registry


def test_the_packaged_wiki_is_not_named() -> None:
    """It is what everybody means."""
    assert apart(Registry.open().platform("H20")) == ""


def test_a_copy_is_named_and_an_edited_page_in_it_too(tmp_path: Path) -> None:
    """A value and its quote may both be edited: nothing but the packaged page shows it."""
    root = tmp_path / "wiki"
    shutil.copytree(packaged_root(), root)
    assert (
        apart(Registry.open(root).platform("H20"))
        == f"{root}, which is not the packaged wiki, and has the same pages of it"
    )
    page = root / Registry.open(root).platform("H20").identity.path
    page.write_text(page.read_text().replace("4.0TB/s", "8.0TB/s").replace("| 4.0 | TB/s", "| 8.0 | TB/s"))
    said = apart(Registry.open(root, use_cache=False).platform("H20"))
    assert said.endswith("hardware/nvidia/h20.md differ from its pages")


def test_a_product_of_that_wiki_alone(wiki_root: Path) -> None:
    """An invented one, or a copied page under another name."""
    said = apart(Registry.open(wiki_root).platform("T10"))
    assert said.endswith("it alone has the product T10")
