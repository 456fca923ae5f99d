"""How the documents behind rows are named, and whether a quote says of which row of its document it is."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kopt_kb.base.wire import Wire
from kopt_kb.wiki.footnotes import Footnote
from kopt_kb.wiki.quotes import unit_words
from kopt_kb.wiki.row import Row, Source
from kopt_kb.wiki.wiki import Wiki

__all__ = ["ADDRESS", "NAMED", "Naming", "count_naming", "is_bare", "named_by"]

ADDRESS = re.compile(r"(?P<owner>[\w.-]+)/(?P<name>[\w.-]+)@(?P<commit>[0-9a-f]{7,40}):(?P<path>[^\"]+)")
_COPY = re.compile(r"\b(?:cop(?:y|ies)|transcri\w+|excerpts?|translation|translated)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]{2,}\d*")
_DIGIT = re.compile(r"\d")
_NUMBER = re.compile(r"(?<![^\W\d_])\d[\w.]*")
_PLACE = re.compile(r"\b(?:table|page|section|figure|column|note|item|chapter)s? [\d.\-]+", re.IGNORECASE)

NAMED: dict[str, str] = {
    "repository": "the document is a file of a repository, named with its commit",
    "copy": "the document was read in a copy that is named by repository, commit and path",
    "address": "the document was read at its own address",
    "unnamed": "the document was read in a copy that has no name; its footnote says what was searched",
}
"""Ways in which a row's document is named, best first; a row counts by the worst of its documents."""
_ORDER = list(NAMED)


@dataclass(frozen=True, slots=True)
class Naming(Wire):
    """Rows by how their documents are named, and quotes by whether they carry more than numbers.

    Attributes:
        rows: Key of `NAMED` → cited rows of product and target pages; derived and UNKNOWN rows cite nothing.
        quotes: Quotes of those rows.
        bare: Quotes that are numbers and units alone, none of them the label of the row; their locators name it.
    """

    rows: Mapping[str, int]
    quotes: int
    bare: int


def named_by(footnote: Footnote) -> str:
    """Return the key of `NAMED` that says how a footnote names the text that was read."""
    if ADDRESS.fullmatch(footnote.url):
        return "repository"
    if ADDRESS.search(f"{footnote.url} {footnote.revision}"):
        return "copy"
    return "unnamed" if _COPY.search(footnote.revision) else "address"


def is_bare(source: Source) -> bool:
    """Return whether a quote holds numbers and units alone, and none of the numbers is the label of its row.

    Rows of measurements are labelled by a number (`data set of 8192 kB`): a quote that holds the number which the
    locator names, and another one, says its row.
    """
    words = (word.casefold() for word in _WORD.findall(source.quote))
    if _DIGIT.search(source.quote) is None or not all(word in unit_words() for word in words):
        return False
    printed = _NUMBER.findall(source.quote)
    named = set(_NUMBER.findall(_PLACE.sub("", source.locator)))
    return not named.intersection(printed) or named.issuperset(printed)


def _worst(row: Row, footnotes: dict[str, Footnote]) -> str:
    return max((named_by(footnotes[one.id]) for one in row.sources), key=_ORDER.index)


def count_naming(wiki: Wiki, folders: Iterable[str]) -> Naming:
    """Count how the rows of the pages in those folders name their documents."""
    rows: Counter[str] = Counter()
    quoting: list[Source] = []
    for path in (path for folder in folders for path in wiki.pages(folder)):
        page = wiki.page(path)
        for row in page.rows if page is not None else ():
            if row.sources and page is not None:
                rows[_worst(row, page.footnotes)] += 1
                quoting += [source for source in row.sources if source.quote]
    return Naming({key: rows[key] for key in NAMED}, len(quoting), sum(map(is_bare, quoting)))
