"""Claims about the cache of static facts."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.analysis.occupancy.limits import Resources
from kopt_kb.kernels.compile.request import OpCase
from kopt_kb.static.compile_cache import CompileCache, StaticFacts, cache_key, default_cache_folder

FACTS = (StaticFacts("k", Resources(128, 32), 0), StaticFacts("", None, None, "refused", "compiler"))


def test_facts_come_back_as_they_were(tmp_path):
    """Failures are kept as well as results."""
    cache = CompileCache(tmp_path / "deep" / "folder")
    cache.put("key", FACTS)
    assert cache.get("key") == FACTS
    assert cache.get("other") is None


@pytest.mark.parametrize("content", ["", "[1]", '[{"name": "k"}]', "{"])
def test_a_damaged_entry_is_no_entry(tmp_path, content):
    """It is computed again instead of failing."""
    (tmp_path / "key.json").write_text(content)
    assert CompileCache(tmp_path).get("key") is None


def test_no_folder_or_a_file_in_its_place_means_no_cache(tmp_path):
    """Silently: a cache is never needed."""
    blocked = tmp_path / "file"
    blocked.write_text("")
    for folder in (None, blocked):
        cache = CompileCache(folder)
        cache.put("key", FACTS)
        assert cache.get("key") is None


def key(file: Path, **changes):
    """The key of an op file."""
    case = {"shape": (4,), "dtype": "fp16", "config": {"BLOCK": 64}} | changes
    return cache_key(OpCase(str(file), **case), "sm_90")


def test_the_key_follows_content_and_not_the_path(tmp_path):
    """Same source elsewhere: same key; another shape, config, target, limit or source: another key."""
    first, second = tmp_path / "a.py", tmp_path / "b.py"
    for path in (first, second):
        path.write_text("x = 1\n")
    base = key(first)
    assert key(second) == base
    assert key(first, shape=(8,)) != base
    assert key(first, config={"BLOCK": 128}) != base
    case = OpCase(str(first), (4,), "fp16", {"BLOCK": 64})
    assert cache_key(case, "sm_80") != base
    assert cache_key(case, "sm_90", 1024) != base
    second.write_text("x = 2\n")
    assert key(second) != base


def test_an_imported_neighbour_is_part_of_the_source(tmp_path):
    """A helper beside the kernel changes the key, directly or through another one."""
    main, middle, leaf = (tmp_path / name for name in ("main.py", "middle.py", "leaf.py"))
    main.write_text("from middle import f\n")
    middle.write_text("import leaf\n")
    leaf.write_text("x = 1\n")
    before = key(main)
    leaf.write_text("x = 2\n")
    assert key(main) != before


def test_the_folder_follows_xdg(monkeypatch, tmp_path):
    """$XDG_CACHE_HOME, else ~/.cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_cache_folder() == tmp_path / "kopt-kb" / "compile"
