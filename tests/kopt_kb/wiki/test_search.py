"""Search filters before it ranks; its index is rebuilt when a byte changes and is never needed."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput, MissingTool
from kopt_kb.wiki.knowledge import read_knowledge
from kopt_kb.wiki.search import search
from kopt_kb.wiki.search_filters import Filters
from kopt_kb.wiki.wiki import Wiki


def found(root: Path, text: str, **filters: str) -> list[str]:
    """Paths of the hits, each once."""
    result = search(Wiki(root), text, Filters(**filters))
    return list(dict.fromkeys(hit.path for hit in result.hits))


def test_filters_come_before_rank(knowledge_root: Path) -> None:
    """The same words, other pages."""
    assert set(found(knowledge_root, "bank conflict")) == {"ops/gemm.md", "backends/flydsl.md", "pitfalls/banks.md"}
    assert set(found(knowledge_root, "bank conflict", op="gemm", arch="sm_00")) == {"ops/gemm.md", "pitfalls/banks.md"}
    assert set(found(knowledge_root, "bank conflict", backend="flydsl", arch="gfx00")) == {
        "ops/gemm.md",
        "backends/flydsl.md",
    }
    assert found(knowledge_root, "bank conflict", kind="pitfall") == ["pitfalls/banks.md"]
    assert found(knowledge_root, "bank conflict", op="softmax") == ["backends/flydsl.md"]


def test_titles_rank_first_and_hits_have_lines(knowledge_root: Path) -> None:
    """The page about it, at the line of the passage."""
    hit = search(Wiki(knowledge_root), "bank conflicts", Filters(arch="sm_00")).hits[0]
    assert hit.path == "pitfalls/banks.md"
    line = (knowledge_root / hit.path).read_text().split("\n")[hit.line - 1]
    assert line.startswith("A bank conflict serialises.")


def test_a_target_inherits_nothing(knowledge_root: Path) -> None:
    """A page for sm_00 says nothing about a sibling target; one for the vendor does."""
    target = (knowledge_root / "targets/sm_00.md").read_text()
    (knowledge_root / "targets/sm_01.md").write_text(target.replace("sm_00", "sm_01"))
    assert found(knowledge_root, "bank conflict", arch="sm_01") == ["ops/gemm.md"]
    assert "advice/memory.md" in found(knowledge_root, "wider", arch="sm_01")


def test_value_pages_are_found_too(knowledge_root: Path) -> None:
    """Rows stand at their line; the target filters them."""
    hits = search(Wiki(knowledge_root), "memory_bus_width", Filters(kind="hardware")).hits
    assert {hit.path for hit in hits} == {"hardware/nvidia/t10.md", "hardware/nvidia/t10_pro.md"}
    assert found(knowledge_root, "warp_size", arch="gfx00") == ["targets/gfx00.md"]


def test_a_changed_byte_is_seen(knowledge_root: Path) -> None:
    """At once, in another index file."""
    assert found(knowledge_root, "quokka") == []
    page = knowledge_root / "ops/gemm.md"
    page.write_text(page.read_text().replace("Tiles decide", "Quokkas decide"))
    assert found(knowledge_root, "quokka") == ["ops/gemm.md"]


def test_the_index_is_only_a_cache(knowledge_root: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A broken file is replaced, a folder that is a file is no error."""
    monkeypatch.setenv("KOPT_CACHE", str(tmp_path / "cache"))
    before = found(knowledge_root, "bank conflict")
    (index,) = (tmp_path / "cache").glob("search-*.sqlite")
    index.write_bytes(b"garbage" * 100)
    assert found(knowledge_root, "bank conflict") == before
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("KOPT_CACHE", str(tmp_path / "file"))
    assert found(knowledge_root, "bank conflict") == before


def test_some_words_are_better_than_none_and_say_so(knowledge_root: Path) -> None:
    """All the words first."""
    result = search(Wiki(knowledge_root), "bank zebra")
    assert (result.relaxed, bool(result.hits)) == (True, True)
    assert search(Wiki(knowledge_root), "zebra").hits == ()


@pytest.mark.parametrize(
    "text", ['"', "a OR", "NEAR(", "*", "col:x", "--", "'; DROP TABLE pages", "x^2", "(", "bank-conflict AND"]
)
def test_query_syntax_is_text(knowledge_root: Path, text: str) -> None:
    """Never an SQL error."""
    try:
        search(Wiki(knowledge_root), text)
    except BadInput as error:
        assert "nothing to search" in error.what


@pytest.mark.parametrize(
    ("filters", "says"),
    [
        ({"op": "gem"}, "gemm"),
        ({"backend": "trition"}, "triton"),
        ({"arch": "sm00"}, "sm_00"),
        ({"arch": "testarch"}, "arch"),
        ({"kind": "pitfal"}, "pitfall"),
    ],
)
def test_unknown_filters_are_errors(knowledge_root: Path, filters: dict[str, str], says: str) -> None:
    """With suggestions, also for a family's name."""
    with pytest.raises(BadInput) as caught:
        search(Wiki(knowledge_root), "bank", Filters(**filters))
    assert says in str(caught.value)


def test_names_that_people_use(knowledge_root: Path) -> None:
    """An alias of an operation; a product stands for its target."""
    assert found(knowledge_root, "bank conflict", op="matmul", arch="T10", kind="pitfall") == ["pitfalls/banks.md"]


def test_without_fts5_the_error_says_what_is_missing(
    knowledge_root: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A Python whose SQLite was built without it."""

    def refuse(*_: object, **__: object) -> None:
        raise sqlite3.OperationalError("no such module: fts5")

    monkeypatch.setattr("kopt_kb.wiki.search._fill", refuse)
    monkeypatch.setenv("KOPT_CACHE", str(tmp_path / "empty"))
    with pytest.raises(MissingTool, match="no FTS5"):
        search(Wiki(knowledge_root), "bank conflict")


def test_a_page_about_a_backend_makes_its_word_one_to_search_for(knowledge_root: Path) -> None:
    """The core's languages are words too; a page that names another backend is found all the same, and faulted."""
    wiki = Wiki(knowledge_root)
    assert {"triton", "hip", "cuda", "flydsl"} <= set(wiki.backends) and "any" not in wiki.backends
    page = knowledge_root / "ops/gemm.md"
    page.write_text(page.read_text().replace("backend: [any]", "backend: [fortran]"))
    assert "ops/gemm.md" in found(knowledge_root, "bank conflict", op="gemm")
    faults = read_knowledge(page.read_bytes(), "ops/gemm.md", wiki.targets, wiki.backends).faults
    assert any(fault.code == "WK501" and "fortran" in fault.message for fault in faults)
