"""Required rows, by vendor."""

from __future__ import annotations

from kopt_kb.packs.curate.required import REQUIRED, missing, unanswered
from kopt_kb.wiki.places import default_root
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


def test_each_need_is_a_fault_of_the_page() -> None:
    """At the page of the product."""
    identity = next(iter(Wiki(default_root()).names.identities.values()))
    faults = list(unanswered(identity, Sheet({}, identity.path, identity.target)))
    assert {(one.code, one.path) for one in faults} == {("WK401", identity.path)}
    assert len(faults) == len(REQUIRED[identity.vendor])
