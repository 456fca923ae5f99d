"""What changed between two states of a wiki, row by row: for the review of a change to its pages."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import ClassVar, Literal

from kopt_kb.base.wire import Wire
from kopt_kb.wiki.row import Row
from kopt_kb.wiki.version import DataVersion, data_version
from kopt_kb.wiki.wiki import Wiki

__all__ = ["RowChange", "WikiChanges", "wiki_changes"]

_FOLDERS = ("hardware", "targets", "measured")


@dataclass(frozen=True, slots=True)
class RowChange(Wire):
    """One key of a page whose rows differ.

    Attributes:
        before: Its rows in the old state: value, unit, grade, whether chosen or rejected, line; sources and notes too
            where both states show the same of the former.
        after: Its rows in the new state.
    """

    path: str
    key: str
    state: Literal["added", "removed", "changed"]
    before: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WikiChanges(Wire):
    """All keys that differ, and the versions of both states."""

    WIRE: ClassVar = ("old", "new", "counts=_counts", "changes")
    old: DataVersion
    new: DataVersion
    changes: tuple[RowChange, ...]

    @property
    def _counts(self) -> dict[str, int]:
        return dict(sorted(Counter(one.state for one in self.changes).items()))


def wiki_changes(old: Wiki, new: Wiki) -> WikiChanges:
    """Return every key of a product, target or measured page whose rows differ; moved lines are no change."""
    before, after = _rows(old), _rows(new)
    found = []
    for path, key in sorted({*before, *after}):
        was, now = before.get((path, key), []), after.get((path, key), [])
        if _content(was) != _content(now):
            state: Literal["added", "removed", "changed"] = "changed" if was and now else "added" if now else "removed"
            show = _cited if [*map(_value, was)] == [*map(_value, now)] else _show
            found.append(RowChange(path, key, state, tuple(map(show, was)), tuple(map(show, now))))
    return WikiChanges(data_version([old]), data_version([new]), tuple(found))


def _rows(wiki: Wiki) -> dict[tuple[str, str], list[Row]]:
    found: dict[tuple[str, str], list[Row]] = {}
    for path in (page for folder in _FOLDERS for page in wiki.pages(folder)):
        page = wiki.page(path)
        for row in page.rows if page is not None else ():
            found.setdefault((path, row.key), []).append(row)
    return found


def _content(rows: list[Row]) -> list[tuple[object, ...]]:
    """Return what a reviewer has to see of rows: all but their lines."""
    return sorted((row.sha, row.notes, tuple((s.id, s.locator, s.quote) for s in row.sources)) for row in rows)


def _value(row: Row) -> str:
    verdict = {True: ", chosen", False: ", rejected", None: ""}[row.chosen]
    unit = "" if row.unit == "-" or row.kind in {"unknown", "none"} else f" {row.unit}"
    return f"{row.value}{unit} ({row.grade}{verdict}"


def _show(row: Row) -> str:
    return f"{_value(row)}, L{row.line})"


def _cited(row: Row) -> str:
    """Return a row with what stands behind its value, as its page says it."""
    sources = (f"[^{s.id}] {s.locator}" + (f' quote="{s.quote}"' if s.quote else "") for s in row.sources)
    notes = (f"{tag}: {text}" if text else tag for tag, text in row.notes)
    return " | ".join([_show(row), "; ".join(sources), "; ".join(notes)]).rstrip(" |")
