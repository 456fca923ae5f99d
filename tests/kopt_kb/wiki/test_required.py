"""Required rows, by vendor."""

from __future__ import annotations

from kopt_kb.wiki.places import default_root
from kopt_kb.wiki.required import REQUIRED, missing
from kopt_kb.wiki.sheet import Sheet
from kopt_kb.wiki.vocabulary import METRICS
from kopt_kb.wiki.wiki import Wiki


def test_needs_are_of_the_vocabulary() -> None:
    """Metrics and axes exist."""
    for needs in REQUIRED.values():
        for name, axes in needs:
            assert set(axes) <= set(METRICS[name].axes)


def test_an_empty_page_lacks_everything() -> None:
    """Each need is printed as a key."""
    lacking = missing(Sheet({}, "p.md", "T"), "AMD")
    assert len(lacking) == len(REQUIRED["AMD"])
    assert "registers_per_simd[file=vgpr]" in lacking


def test_shipped_pages_lack_nothing() -> None:
    """Value, UNKNOWN or NONE for each."""
    wiki = Wiki(default_root())
    for identity in wiki.names.identities.values():
        assert missing(wiki.sheet(identity), identity.vendor) == []
