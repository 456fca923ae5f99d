"""Filters in their own spelling."""

from __future__ import annotations

from pathlib import Path

from kopt_kb.wiki.search_filters import Filters, check_filters, vendor_of
from kopt_kb.wiki.wiki import Wiki


def test_spellings_are_normalised(knowledge_root: Path) -> None:
    """Case and hyphens; only what is set is shown."""
    checked = check_filters(Wiki(knowledge_root), Filters(op="Layer-Norm", arch="T10_PRO"))
    assert checked.given == {"op": "layer_norm", "arch": "sm_00", "platform": "T10_PRO"}


def test_the_vendor_stands_on_the_target_page(knowledge_root: Path) -> None:
    """Not in the name."""
    wiki = Wiki(knowledge_root)
    assert (vendor_of(wiki, "sm_00"), vendor_of(wiki, "gfx00"), vendor_of(wiki, "sm_99")) == ("nvidia", "amd", "")
