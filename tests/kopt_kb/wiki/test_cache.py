"""The cache stores by content and never fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.wiki import cache


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of the test's own."""
    monkeypatch.setenv("KOPT_CACHE", str(tmp_path / "c"))
    return tmp_path / "c"


def test_stored_values_come_back() -> None:
    """JSON in, JSON out."""
    cache.store("k", {"a": [1, "ü"]})
    assert cache.load("k") == {"a": [1, "ü"]}


def test_missing_and_damaged_entries_are_none(folder: Path) -> None:
    """A half-written file counts as missing."""
    assert cache.load("k") is None
    folder.mkdir()
    (folder / "k.json").write_text('{"a":')
    assert cache.load("k") is None


def test_keys_separate_contents() -> None:
    """The border between two contents matters, and so does their order."""
    keys = {cache.digest(b"ab", b"c"), cache.digest(b"a", b"bc"), cache.digest(b"c", b"ab"), cache.digest(b"abc")}
    assert len(keys) == 4


def test_the_code_is_part_of_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """A changed rule makes old entries unusable."""
    before = cache.digest(b"x")
    monkeypatch.setattr(cache, "code_digest", lambda: b"other code")
    assert cache.digest(b"x") != before


def test_code_that_compiles_pages_is_part_of_the_key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Units and formulas stand beside the wiki's own modules: another factor of a unit is another compiled page."""
    for name in ("wiki/physics/peaks.py", "quantity/units.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("old")
    monkeypatch.setattr(cache, "__file__", str(tmp_path / "wiki" / "cache.py"))
    keys = {cache.code_digest.__wrapped__()}
    for name in ("wiki/physics/peaks.py", "quantity/units.py"):
        (tmp_path / name).write_text("new")
        keys.add(cache.code_digest.__wrapped__())
    assert len(keys) == 3


def test_no_temporary_file_is_left(folder: Path) -> None:
    """Writing is one rename."""
    cache.store("k", 1)
    assert [p.name for p in folder.iterdir()] == ["k.json"]


def test_folder_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """KOPT_CACHE wins over XDG_CACHE_HOME."""
    monkeypatch.setenv("XDG_CACHE_HOME", "/x")
    assert cache.cache_folder().name == "c"
    monkeypatch.delenv("KOPT_CACHE")
    assert cache.cache_folder() == Path("/x/kopt-kb")
