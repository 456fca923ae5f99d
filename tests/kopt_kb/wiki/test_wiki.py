"""The wiki folder: cached and parsed pages are equal, a changed byte is never stale, only one page is parsed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kopt_kb.wiki.places import default_root, packaged_root
from kopt_kb.wiki.wiki import Wiki, WikiNotFound


def test_cached_and_parsed_sheets_are_equal_for_every_shipped_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """First read parses and stores, second read takes the cache, a third ignores it: all equal."""
    monkeypatch.setenv("KOPT_CACHE", str(tmp_path))
    for identity in Wiki(default_root()).names.identities.values():
        parsed = Wiki(default_root(), use_cache=False).sheet(identity)
        stored = Wiki(default_root()).sheet(identity)
        cached = Wiki(default_root()).sheet(identity)
        assert parsed == stored == cached
    assert list(tmp_path.glob("*.json"))


def test_a_changed_byte_is_seen(wiki_root: Path, product: Path) -> None:
    """The key of the cache is the content."""
    identity = Wiki(wiki_root).names.resolve("T10")
    before = Wiki(wiki_root).sheet(identity)
    product.write_text(product.read_text().replace("48GB", "49GB").replace("| 48 |", "| 49 |"))
    after = Wiki(wiki_root).sheet(identity)
    assert [r.value for r in before.rows if r.key == "memory_capacity"] == ["48"]
    assert [r.value for r in after.rows if r.key == "memory_capacity"] == ["49"]


def test_a_changed_target_page_is_seen(wiki_root: Path) -> None:
    """Facts of the target belong to the product's sheet."""
    identity = Wiki(wiki_root).names.resolve("T10")
    Wiki(wiki_root).sheet(identity)
    target = wiki_root / "targets" / "sm_00.md"
    target.write_text(
        target.read_text().replace(
            '| warp_size | 32 | count | - | vendor | [^guide] table 1 row warp quote="32"',
            '| warp_size | 64 | count | - | vendor | [^guide] table 1 row warp quote="64"',
        )
    )
    assert [r.value for r in Wiki(wiki_root).sheet(identity).rows if r.metric == "warp_size"] == ["64"]


def test_only_the_page_asked_for_is_parsed(wiki_root: Path) -> None:
    """A broken neighbour does not stand in the way, and is not read as a table."""
    (wiki_root / "hardware" / "nvidia" / "t10_pro.md").write_bytes(b"---\nplatform: T10_PRO\n---\n| broken")
    wiki = Wiki(wiki_root)
    assert not wiki.sheet(wiki.names.resolve("T10")).faults


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes to read-only folders")
def test_a_read_only_cache_is_no_error(wiki_root: Path, tmp_path: Path) -> None:
    """Pages are parsed in memory instead."""
    (tmp_path / "cache").mkdir(mode=0o500)
    assert Wiki(wiki_root).sheet(Wiki(wiki_root).names.resolve("T10")).rows


def test_a_cache_folder_that_is_a_file_is_no_error(
    wiki_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing can be stored there; the result is the same."""
    (tmp_path / "blocked").write_text("")
    monkeypatch.setenv("KOPT_CACHE", str(tmp_path / "blocked"))
    assert Wiki(wiki_root).sheet(Wiki(wiki_root).names.resolve("T10")).rows


def test_a_missing_target_page_blocks_the_product(wiki_root: Path) -> None:
    """Limits of an unknown target can't be read."""
    (wiki_root / "targets" / "sm_00.md").unlink()
    faults = Wiki(wiki_root).sheet(Wiki(wiki_root).names.resolve("T10")).faults
    assert any(f.code == "WK103" and f.key is None for f in faults)


def test_a_folder_without_pages_is_no_wiki(tmp_path: Path) -> None:
    """The error says what to give."""
    with pytest.raises(WikiNotFound, match="name a wiki folder"):
        Wiki(tmp_path)


def test_the_label_of_the_packaged_wiki_has_no_path(wiki_root: Path) -> None:
    """Workspaces record where a wiki is, but not where the package was installed."""
    assert "/" not in Wiki(packaged_root()).label
    assert Wiki(wiki_root).label == str(wiki_root.resolve())


def test_front_matter_longer_than_a_block_is_read_whole(wiki_root: Path) -> None:
    """Names are taken from the head of a page; a long list of aliases does not cut it off."""
    page = wiki_root / "hardware/nvidia/t10.md"
    many = ", ".join(f"NVIDIA T10 board {number}" for number in range(400))
    page.write_text(page.read_text().replace("aliases: [NVIDIA T10 48GB]", f"aliases: [{many}]"))
    assert Wiki(wiki_root, use_cache=False).names.resolve("T10 board 399").platform == "T10"
