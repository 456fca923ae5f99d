"""Parts without a page: announced or sold, each with the document that names it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kopt_kb.base.errors import BadInput
from kopt_kb.wiki.faults import Fault
from kopt_kb.wiki.names import fold
from kopt_kb.wiki.tables import rows_under
from kopt_kb.wiki.wiki import Wiki

__all__ = ["LIST", "Announced", "NoPage", "all_announced", "announced", "list_faults"]

LIST = "ANNOUNCED.md"
_COLUMNS = ["Names", "Vendor", "What is known", "Source"]


class NoPage(BadInput):
    """A part that the wiki knows of and does not describe."""

    code = "KB127"


@dataclass(frozen=True, slots=True)
class Announced:
    """One part of the list.

    Attributes:
        names: What it is called.
        known: What its document says of it.
        source: Title, address and day read.
    """

    names: tuple[str, ...]
    vendor: str
    known: str
    source: str
    line: int

    def error(self, asked: str) -> NoPage:
        """Return what a lookup of the part raises."""
        what = f"{asked.strip()!r} has no page here: {self.vendor} {self.names[0]}, {self.known}"
        return NoPage(what, where=f"<gpu-wiki>/{LIST}:L{self.line}", fix=f"read {self.source}")


def _lines(wiki: Wiki) -> list[tuple[int, list[str]]]:
    text = (wiki.read(LIST) or b"").decode("utf-8", "replace")
    return [(number, cells or []) for number, cells in rows_under(text.splitlines(), _COLUMNS)]


def all_announced(wiki: Wiki) -> Iterator[Announced]:
    """Yield each part of the wiki's list."""
    for number, cells in _lines(wiki):
        if len(cells) == len(_COLUMNS):
            yield Announced(tuple(one.strip() for one in cells[0].split(",")), cells[1], cells[2], cells[3], number)


def announced(wiki: Wiki, name: str) -> Announced | None:
    """Return the part of that name in the wiki's list, None if it names none."""
    wanted = fold(name)
    return next((part for part in all_announced(wiki) if wanted and wanted in map(fold, part.names)), None)


def list_faults(wiki: Wiki) -> list[Fault]:
    """Return a fault for each row of the list that is incomplete, or names a part that has a page."""
    found = []
    for number, cells in _lines(wiki):
        if len(cells) != len(_COLUMNS) or not all(cells):
            found.append(Fault("WK407", LIST, number, "the row is incomplete", f"write {' | '.join(_COLUMNS)}"))
            continue
        owned = [name.strip() for name in cells[0].split(",") if fold(name) in wiki.names.names]
        if owned:
            found.append(Fault("WK407", LIST, number, f"{', '.join(owned)} has a page", "take it off the list"))
    return found
