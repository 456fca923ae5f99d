"""Full-text search over the wiki: filters first, then rank; the index is a cache in the user's folder.

The index is one SQLite FTS5 file named by the hash of every page's bytes and of this code: a changed byte is another
file, so nothing is ever stale. A folder that can't be written means an index in memory.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from kopt_kb.base.errors import BadInput, MissingTool
from kopt_kb.base.wire import Wire
from kopt_kb.wiki import cache
from kopt_kb.wiki.blocks import read_blocks
from kopt_kb.wiki.knowledge import FOLDERS, read_knowledge
from kopt_kb.wiki.page import read_front_matter
from kopt_kb.wiki.search_filters import Filters, check_filters, vendor_of
from kopt_kb.wiki.wiki import Wiki

__all__ = ["Hit", "SearchResult", "search"]

_FILES_KEPT = 4
_SCHEMA = """
CREATE TABLE pages (id INTEGER PRIMARY KEY, path TEXT, title TEXT, kind TEXT, versions TEXT);
CREATE TABLE tags (page INTEGER, axis TEXT, value TEXT);
CREATE INDEX tag_values ON tags (page, axis, value);
CREATE VIRTUAL TABLE blocks USING fts5(text, heading, title, page UNINDEXED, line UNINDEXED,
  tokenize='porter unicode61 remove_diacritics 2');
"""


@dataclass(frozen=True, slots=True)
class Hit(Wire):
    """One block that fits: where, on which page, and its text shortened around the words found."""

    path: str
    line: int
    title: str
    heading: str
    kind: str
    versions: str
    excerpt: str


@dataclass(frozen=True, slots=True)
class SearchResult(Wire):
    """Hits in rank order.

    Attributes:
        relaxed: No block has all the words; these have some.
    """

    WIRE: ClassVar = ("text", "filters=filters.given", "relaxed", "hits")
    text: str
    filters: Filters
    hits: tuple[Hit, ...]
    relaxed: bool


def _pages(wiki: Wiki) -> dict[str, bytes]:
    folders = (*FOLDERS, "hardware", "targets")
    return {path: wiki.read(path) or b"" for folder in folders for path in wiki.pages(folder)}


_Tags = list[tuple[str, str]]


def _meta(wiki: Wiki, path: str, data: bytes) -> tuple[str, str, str, _Tags]:
    """Return title, kind, versions and tags of a page; value pages speak about one target and any op and backend."""
    folder = path.split("/", 1)[0]
    if folder in FOLDERS:
        page = read_knowledge(data, path, wiki.targets)
        tags = [(axis, value) for axis, values in page.tags.items() for value in values]
        return page.title, page.kind, page.versions, tags
    found = read_front_matter(data.decode("utf-8", "replace"))
    front = found[0] if found else {}
    target = str(front.get("target", ""))
    title = str(front.get("sku") or front.get("title") or path)
    return (
        title,
        "hardware" if folder == "hardware" else "target",
        "any",
        [("op", "any"), ("backend", "any"), ("arch", target)],
    )


def _fill(connection: sqlite3.Connection, wiki: Wiki, pages: dict[str, bytes]) -> None:
    connection.executescript(_SCHEMA)
    for number, (path, data) in enumerate(pages.items(), 1):
        title, kind, versions, tags = _meta(wiki, path, data)
        connection.execute("INSERT INTO pages VALUES (?, ?, ?, ?, ?)", (number, path, title, kind, versions))
        connection.executemany("INSERT INTO tags VALUES (?, ?, ?)", [(number, axis, value) for axis, value in tags])
        lines = data.decode("utf-8", "replace").replace("\r\n", "\n").split("\n")
        found = read_front_matter("\n".join(lines[:200]))
        blocks = read_blocks(lines, found[1] if found else 0).blocks
        connection.executemany(
            "INSERT INTO blocks VALUES (?, ?, ?, ?, ?)",
            [(block.text, block.heading, title, number, block.line) for block in blocks],
        )
    connection.commit()


def _store(wiki: Wiki, pages: dict[str, bytes], file: Path) -> sqlite3.Connection | None:
    """Write the index by temporary file and rename, and return it; None where the folder can't be written."""
    temporary = file.with_suffix(f".{os.getpid()}.tmp")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        temporary.unlink(missing_ok=True)
        with closing(sqlite3.connect(temporary)) as connection:
            _fill(connection, wiki, pages)
        temporary.replace(file)
        kept = sorted(file.parent.glob("search-*.sqlite"), key=lambda one: one.stat().st_mtime, reverse=True)
        for old in kept[_FILES_KEPT:]:
            old.unlink(missing_ok=True)
        return sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)
    except (OSError, sqlite3.OperationalError) as error:
        if "fts5" in str(error):
            raise MissingTool(
                "this Python's SQLite has no FTS5", fix="use a Python whose sqlite3 has it", code="KB124"
            ) from None
        return None


def _open(wiki: Wiki) -> sqlite3.Connection:
    pages = _pages(wiki)
    parts = [part for path, data in pages.items() for part in (path.encode(), data)]
    file = cache.cache_folder() / f"search-{cache.digest(*parts)}.sqlite"
    if wiki.use_cache and file.is_file():
        try:
            connection = sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)
            connection.execute("SELECT count(*) FROM pages").fetchone()
            return connection
        except sqlite3.DatabaseError:
            file.unlink(missing_ok=True)
    stored = _store(wiki, pages, file) if wiki.use_cache else None
    if stored is None:
        stored = sqlite3.connect(":memory:")
        _fill(stored, wiki, pages)
    return stored


def _conditions(wiki: Wiki, filters: Filters) -> tuple[str, list[str]]:
    """Return the SQL that keeps the pages which fit, and its arguments."""
    clauses, arguments = ["1"], []
    for axis in ("op", "backend", "arch"):
        value = getattr(filters, axis)
        if value:
            words = ["any", value] + ([vendor_of(wiki, value)] if axis == "arch" else [])
            marks = ", ".join("?" * len(words))
            clauses.append(f"EXISTS (SELECT 1 FROM tags WHERE page = p.id AND axis = ? AND value IN ({marks}))")  # noqa: S608
            arguments += [axis, *words]
    if filters.kind:
        clauses.append("p.kind = ?")
        arguments.append(filters.kind)
    return " AND ".join(clauses), arguments


def _find(connection: sqlite3.Connection, match: str, where: str, arguments: list[str], limit: int) -> Iterator[Hit]:
    text = f"""
    SELECT p.path, b.line, p.title, b.heading, p.kind, p.versions, snippet(blocks, 0, '', '', ' … ', 24)
    FROM blocks b JOIN pages p ON p.id = b.page
    WHERE blocks MATCH ? AND {where} ORDER BY bm25(blocks, 1.0, 2.0, 3.0), p.path, b.line LIMIT ?
    """  # noqa: S608 - the clauses are fixed texts, every value is an argument
    for path, line, title, heading, kind, versions, excerpt in connection.execute(text, [match, *arguments, limit]):
        yield Hit(path, line, title, heading, kind, versions, " ".join(excerpt.split()))


def search(wiki: Wiki, text: str, filters: Filters | None = None, *, limit: int = 10) -> SearchResult:
    """Return the blocks of pages that fit the filters, ranked by the words of `text` (BM25, titles weigh more).

    Blocks with all words come alone; where there are none, those with some, and the result says so.

    Raises:
        BadInput: No word to search for, or a filter value outside of the vocabulary.
        MissingTool: This Python's SQLite has no FTS5.
    """
    words = re.findall(r"[^\W_]+(?:[_.:\-][^\W_]+)*", text)
    if not words:
        raise BadInput(f"nothing to search for in {text!r}", fix="give a word", code="KB023")
    checked = check_filters(wiki, filters or Filters())
    where, arguments = _conditions(wiki, checked)
    quoted = [f'"{word}"' for word in words]
    with closing(_open(wiki)) as connection:
        hits = tuple(_find(connection, " AND ".join(quoted), where, arguments, limit))
        if hits or len(quoted) == 1:
            return SearchResult(text, checked, hits, relaxed=False)
        return SearchResult(
            text, checked, tuple(_find(connection, " OR ".join(quoted), where, arguments, limit)), relaxed=True
        )
