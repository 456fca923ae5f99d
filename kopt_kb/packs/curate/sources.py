"""Sources read again: each quote searched in the document it is from, and a record of what every row rests on.

The record (`SOURCES.md`) is written by `kb wiki sources --accept`. A row that it does not know has changed since a
person or this reader last held it against its document; `kb wiki check` names it.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import ClassVar

from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import Wire
from kopt_kb.packs.curate.citing import ADDRESS, Naming
from kopt_kb.sandbox.gitrun import repository_around
from kopt_kb.wiki.faults import Fault
from kopt_kb.wiki.footnotes import Footnote
from kopt_kb.wiki.places import RECORD
from kopt_kb.wiki.row import Row
from kopt_kb.wiki.wiki import Wiki

__all__ = [
    "BASES",
    "FOLDERS",
    "GAP",
    "GAP_CHARACTERS",
    "Documents",
    "RowReading",
    "WikiSources",
    "changed_rows",
    "contradicted",
    "plain",
    "read_again",
    "read_record",
    "render_record",
]

FOLDERS = ("hardware", "targets")
"""Folders whose rows are held against documents."""
_LINE = re.compile(r"- (?P<mark>[0-9a-f]{12}) (?P<basis>[a-z-]+) (?P<key>\S+)")
_MARK = 12
_MARKUP = ("*", "`", "\\")
_BINARY = (".pdf", ".png", ".xlsx", ".ipynb")
GAP = "…"
"""In a quote: cells of the document that stand between the label of a row and its value and are left out."""
GAP_CHARACTERS = 300

BASES: dict[str, str] = {
    "document": "every quote was found again in the file it names, at its commit",
    "in-part": "some of its quotes were found again, the other documents have no stored copy",
    "typed": "read by a person; no copy of the document was at hand to search",
    "derived": "computed from other rows",
    "unknown": "says that nobody says it",
    "unsearched": "found in its document before, changed since, and the document was not at hand to search",
    "missing": "a document was read again and a quote is not in it",
}
_SEARCHED = {"document", "in-part", "unsearched"}


@dataclass(frozen=True, slots=True)
class RowReading(Wire):
    """What one row rests on.

    Attributes:
        mark: Hash over key, value, unit, grade, locators, quotes and formula.
        basis: Key of `BASES`.
    """

    WIRE: ClassVar = ("path", "line", "key", "basis")
    path: str
    line: int
    key: str
    mark: str
    basis: str


@dataclass(frozen=True, slots=True)
class WikiSources(Wire):
    """How many rows rest on what, by key of `BASES`, each row, and how the rows name their documents."""

    counts: Mapping[str, int]
    rows: tuple[RowReading, ...]
    naming: Naming


def _mark(row: Row) -> str:
    parts = [row.sha, row.note("formula"), *(" ".join(source.quote.split()) for source in row.sources)]
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:_MARK]


def plain(text: str) -> str:
    """Return a text without case, mark-up and differences of white space, as quotes are compared."""
    for mark in _MARKUP:
        text = text.replace(mark, "")
    text = text.casefold()
    return re.sub(r" ?\| ?", "|", " ".join(text.split()))


def _holds(text: str, quote: str) -> bool:
    """Return whether a plain text holds a quote: as one piece, or its pieces in order, each near the one before."""
    if quote in text:
        return True
    pieces = [piece.strip() for piece in quote.split(GAP)]
    if len(pieces) == 1 or not all(pieces):
        return False
    between = f".{{0,{GAP_CHARACTERS}}}?"
    return re.search(between.join(rf"(?<!\w){re.escape(piece)}(?!\w)" for piece in pieces), text) is not None


class Documents:
    """Files of public repositories in a folder of clones: `FOLDER/owner/name` or `FOLDER/owner+name`."""

    def __init__(self, folder: Path | None) -> None:
        if folder is not None and not folder.is_dir():
            raise BadInput("no such folder", where=str(folder), fix="name the folder of the clones", code="KB110")
        self.folder = folder
        self.text = cache(self._text)

    def _clones(self, owner: str, name: str) -> Iterator[Path]:
        if self.folder is not None:
            places = (f"{owner}/{name}", f"{owner}/{name}.git", f"{owner}+{name}", f"{owner}+{name}/repo")
            yield from (path for place in places if (path := self.folder / place).is_dir())

    def _text(self, url: str) -> str | None:
        """Return the plain text of a file at its commit, None when no clone has it or it is no text."""
        match = ADDRESS.fullmatch(url)
        if match is None or match["path"].lower().endswith(_BINARY):
            return None
        for clone in self._clones(match["owner"], match["name"]):
            git = repository_around(clone)
            if git is None or git.root != clone.resolve():
                continue
            named = f"{match['commit']}:{match['path']}"
            if git.ok("cat-file", "-e", named):
                return plain(git.run("cat-file", "blob", named).decode("utf-8", "replace"))
        return None


def _contradicts(row: Row, footnotes: dict[str, Footnote], earlier: set[tuple[str, str]], kept: set[str]) -> bool:
    """Return whether a changed row was found in a document of a repository before: only that document can change it.

    Args:
        row: Row that the record does not have.
        footnotes: Those of its page.
        earlier: Mark and basis of the recorded rows of its key.
        kept: Marks of the rows that the page still has.
    """
    lost = {basis for mark, basis in earlier if mark not in kept}
    return bool(lost & _SEARCHED) and any(ADDRESS.fullmatch(footnotes[one.id].url) for one in row.sources)


def _basis(row: Row, footnotes: dict[str, Footnote], documents: Documents, before: str | None) -> str:
    if row.kind == "unknown" or row.grade == "derived":
        return "unknown" if row.kind == "unknown" else "derived"
    found = []
    for source in row.sources:
        text = documents.text(footnotes[source.id].url) if source.quote else None
        found.append(None if text is None else _holds(text, plain(source.quote)))
    if False in found:
        return "missing"
    if None not in found and found:
        return "document"
    return "in-part" if True in found else before or "typed"


def read_again(wiki: Wiki, documents: Documents, paths: Iterable[str] | None = None) -> Iterator[RowReading]:
    """Yield what each row of product and target pages rests on; an unchanged row keeps what an earlier run found.

    Args:
        wiki: Pages and their record.
        documents: Where to search.
        paths: Pages to read; all when None.
    """
    record, earlier = _recorded(wiki)
    for path in paths if paths is not None else (path for folder in FOLDERS for path in wiki.pages(folder)):
        page = wiki.page(path)
        marks = {_mark(row) for row in page.rows} if page is not None else set()
        for row in page.rows if page is not None else ():
            mark = _mark(row)
            before = record.get((path, mark))
            notes = page.footnotes if page is not None else {}
            basis = _basis(row, notes, documents, before)
            lost = basis == "typed" and before is None and _contradicts(row, notes, earlier[path, row.key], marks)
            yield RowReading(path, row.line, row.key, mark, "unsearched" if lost else basis)


def read_record(wiki: Wiki) -> dict[tuple[str, str], str]:
    """Return the basis of each recorded row by page and mark; empty when the wiki keeps no record."""
    return _recorded(wiki)[0]


def _recorded(wiki: Wiki) -> tuple[dict[tuple[str, str], str], defaultdict[tuple[str, str], set[tuple[str, str]]]]:
    """Return the basis by page and mark, and every mark with its basis by page and key."""
    found: dict[tuple[str, str], str] = {}
    by_key: defaultdict[tuple[str, str], set[tuple[str, str]]] = defaultdict(set)
    path = ""
    for line in (wiki.read(RECORD) or b"").decode("utf-8", "replace").splitlines():
        if line.startswith("## "):
            path = line.removeprefix("## ").strip()
        elif (match := _LINE.fullmatch(line)) is not None:
            found[path, match["mark"]] = match["basis"]
            by_key[path, match["key"]].add((match["mark"], match["basis"]))
    return found, by_key


def render_record(readings: list[RowReading]) -> str:
    """Return the record page: how many rows rest on what, then one line a row."""
    counts = Counter(reading.basis for reading in readings)
    lines = ["# Sources read again", "", "Written by `kb wiki sources --accept`. What the rows rest on:", ""]
    lines += [f"- {basis}: {counts[basis]} rows; {meaning}" for basis, meaning in BASES.items() if counts[basis]]
    path = ""
    for reading in readings:
        if reading.path != path:
            path = reading.path
            lines += ["", f"## {path}", ""]
        lines.append(f"- {reading.mark} {reading.basis} {reading.key}")
    return "\n".join(lines) + "\n"


def contradicted(reading: RowReading) -> Fault:
    """Return the fault of a row that is not what was found in its document."""
    message = f"{reading.key} is not what was found in its document, which is not at hand"
    fix = "search it there: `kb wiki sources DIR --documents CLONES --accept`"
    return Fault("WK408", reading.path, reading.line, message, fix, reading.key)


def changed_rows(wiki: Wiki) -> Iterator[Fault]:
    """Yield a fault for each row that the record does not know, of the pages that it knows.

    A row that was found in its document and changed since is refused until it is searched there again.
    """
    record = read_record(wiki)
    pages = {path for path, _ in record}
    for reading in read_again(wiki, Documents(None)) if pages else ():
        if reading.path in pages and reading.basis == "unsearched":
            yield contradicted(reading)
        elif reading.path in pages and (reading.path, reading.mark) not in record:
            message = f"{reading.key} has changed since its source was last read"
            fix = "hold it against the document, then `kb wiki sources DIR --accept`"
            yield Fault("WK405", reading.path, reading.line, message, fix, reading.key)
