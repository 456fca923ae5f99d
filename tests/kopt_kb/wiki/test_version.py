"""The data's version follows the pages' bytes, its date their sources."""

from __future__ import annotations

from pathlib import Path

from kopt_kb.wiki.version import data_version
from kopt_kb.wiki.wiki import Wiki


def test_equal_data_have_an_equal_version(wiki_root: Path, product: Path) -> None:
    """A changed byte of a page changes it; a page of knowledge does not."""
    first = data_version([Wiki(wiki_root)])
    assert first.date == "2026-11-21"
    (wiki_root / "ops").mkdir()
    (wiki_root / "ops" / "a.md").write_text("# a\n")
    assert data_version([Wiki(wiki_root)]) == first
    product.write_text(product.read_text() + "\n")
    assert data_version([Wiki(wiki_root)]).version != first.version


def test_two_wikis_have_one_version(wiki_root: Path) -> None:
    """In their order."""
    one = Wiki(wiki_root)
    assert data_version([one, one]).version != data_version([one]).version
    assert str(data_version([one])).startswith("gpu-wiki ")
