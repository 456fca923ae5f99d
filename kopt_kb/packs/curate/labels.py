"""Labels proposed for quotes of bare numbers: the words of the row that stand before them in the opened document."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from kopt_kb.base.wire import Wire
from kopt_kb.packs.curate.citing import is_bare
from kopt_kb.packs.curate.sources import FOLDERS, GAP, GAP_CHARACTERS, Documents, plain
from kopt_kb.wiki.cells import MAX_QUOTE
from kopt_kb.wiki.row import Source
from kopt_kb.wiki.wiki import Wiki

__all__ = ["LabelProposal", "LabelProposals", "propose_labels"]

_KIND = re.compile(r"^(?:row|column|field|entry|line|first|agent)s?\b(?: of)?\s*", re.IGNORECASE)
_LETTER = re.compile(r"[^\W\d_]")


@dataclass(frozen=True, slots=True)
class LabelProposal(Wire):
    """A bare quote of one row and what it could be: the label of its locator, as it stands before the number.

    Attributes:
        quote: What the row quotes.
        proposal: Label and number in one quote; `…` stands for cells between them.
    """

    path: str
    line: int
    key: str
    quote: str
    proposal: str


@dataclass(frozen=True, slots=True)
class LabelProposals(Wire):
    """What bare quotes could be; a person holds each against its document before it is written."""

    proposals: tuple[LabelProposal, ...]


def _whole(words: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(words)}(?!\w)")


def _labels(locator: str) -> Iterator[str]:
    """Yield the names in a locator that can stand as words in the document, the row first."""
    parts = sorted((part.strip() for part in locator.split(",")), key=lambda part: not part.startswith("row "))
    for part in parts:
        name = _KIND.sub("", part)
        if _LETTER.search(name):
            yield name


def _nearest(text: str, label: str, quote: str) -> tuple[int, int] | None:
    """Return end of the label and start of the quote where least stands between them, None when they are far apart."""
    ends = [found.end() for found in _whole(plain(label)).finditer(text)]
    best: tuple[int, int] | None = None
    for found in _whole(plain(quote)).finditer(text):
        end = max((one for one in ends if one <= found.start()), default=None)
        if end is not None and (best is None or found.start() - end < best[1] - best[0]):
            best = end, found.start()
    return best if best is not None and best[1] - best[0] <= GAP_CHARACTERS else None


def _propose(text: str, source: Source) -> str | None:
    for label in _labels(source.locator):
        place = _nearest(text, label, source.quote)
        if place is None:
            continue
        between = text[place[0] : place[1]].replace("|", " | ")
        made = f"{label}{between}{source.quote}"
        for proposal in (made, f"{label} {GAP} {source.quote}"):
            if len(proposal) <= MAX_QUOTE and not is_bare(Source(source.id, source.locator, proposal)):
                return proposal
    return None


def propose_labels(wiki: Wiki, documents: Documents) -> Iterator[LabelProposal]:
    """Yield what each bare quote could be, for those whose document is at hand and prints the name of the locator."""
    for path in (path for folder in FOLDERS for path in wiki.pages(folder)):
        page = wiki.page(path)
        for row in page.rows if page is not None else ():
            for source in row.sources:
                notes = page.footnotes if page is not None else {}
                text = documents.text(notes[source.id].url) if is_bare(source) else None
                proposal = _propose(text, source) if text is not None else None
                if proposal is not None:
                    yield LabelProposal(path, row.line, row.key, source.quote, proposal)
