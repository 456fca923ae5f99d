"""Conflicts of a wiki: every key whose sources disagree, both sides with their reasons."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from kopt_kb.base.wire import Wire
from kopt_kb.wiki.answers import Spec, spec
from kopt_kb.wiki.resolve import reread
from kopt_kb.wiki.row import Row
from kopt_kb.wiki.sheet import Sheet
from kopt_kb.wiki.wiki import Wiki

__all__ = ["Conflict", "Conflicts", "sheet_conflicts", "wiki_conflicts"]


@dataclass(frozen=True, slots=True)
class Conflict(Wire):
    """One key with several values.

    Attributes:
        platform: Product; the target where the rows stand on a target page.
        chosen: The row that became a quantity, or None when every row is rejected.
        rejected: The other rows, in page order.
    """

    WIRE: ClassVar = ("platform", "key", "chosen=_chosen", "rejected=_rejected")
    platform: str
    key: str
    chosen: Row | None
    rejected: tuple[Row, ...]

    @property
    def _chosen(self) -> Spec | None:
        return None if self.chosen is None else spec(self.chosen, why=self.chosen.note("chosen"))

    @property
    def _rejected(self) -> tuple[Spec, ...]:
        return tuple(spec(row, why=row.note("rejected")) for row in self.rejected)


@dataclass(frozen=True, slots=True)
class Conflicts(Wire):
    """Every conflict of one or more wikis."""

    conflicts: tuple[Conflict, ...]


def sheet_conflicts(sheet: Sheet, platform: str, paths: Iterable[str] | None = None) -> Iterator[Conflict]:
    """Yield the conflicts of a sheet in page order; with `paths`, only of rows on those pages."""
    wanted = None if paths is None else set(paths)
    losers: dict[str, list[Row]] = {}
    for row in sheet.rows:
        if row.chosen is False and (wanted is None or row.path in wanted):
            losers.setdefault(row.key, []).append(row)
    chosen = sheet.chosen()
    for key, rows in losers.items():
        yield Conflict(platform, key, chosen.get(key), tuple(rows))


def wiki_conflicts(wiki: Wiki) -> list[Conflict]:
    """Return every conflict of a wiki, products first, those of a target page once; each cited line is read again."""
    conflicts: list[Conflict] = []
    targets: dict[str, Conflict] = {}
    for identity in wiki.names.identities.values():
        sheet, shared = wiki.sheet(identity), f"targets/{identity.target}.md"
        pages = {row.path for row in sheet.rows}
        conflicts += sheet_conflicts(sheet, identity.platform, pages - {shared})
        for conflict in sheet_conflicts(sheet, identity.target, {shared}):
            targets.setdefault(f"{identity.target} {conflict.key}", conflict)
    conflicts += targets.values()
    for conflict in conflicts:
        for row in (*((conflict.chosen,) if conflict.chosen else ()), *conflict.rejected):
            reread(wiki, row)
    return conflicts
