"""Rows of the wiki as documents show them: the contract's spec object with its source, and what has no value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from kopt_kb.base.wire import Wire
from kopt_kb.quantity.units import UNITS, si_number, si_unit
from kopt_kb.wiki.footnotes import Footnote
from kopt_kb.wiki.resolve import citation_of
from kopt_kb.wiki.row import Row
from kopt_kb.wiki.sheet import row_value

__all__ = ["DocumentRef", "NoValue", "RowNote", "Spec", "no_row", "no_value", "spec"]


@dataclass(frozen=True, slots=True)
class RowNote(Wire):
    """One note of a row: `derived`, `exception`, `chosen`, ... and its text."""

    tag: str
    text: str


@dataclass(frozen=True, slots=True)
class DocumentRef(Wire):
    """The first document a row cites; of a derived row only the formula, as the locator."""

    WIRE: ClassVar = ("title", "publisher?", "locator", "quote?", "url", "revision?", "read")
    title: str
    locator: str
    url: str
    read: str
    publisher: str | None = None
    quote: str | None = None
    revision: str | None = None

    @staticmethod
    def of(row: Row, footnotes: Mapping[str, Footnote]) -> DocumentRef:
        """Return a row's first document, from the footnotes of its page."""
        if not row.sources:
            return DocumentRef("", row.note("formula"), "", "")
        first = row.sources[0]
        note = footnotes[first.id]
        return DocumentRef(note.title, first.locator, note.url, note.read, note.publisher, first.quote, note.revision)


@dataclass(frozen=True, slots=True)
class Spec(Wire):
    """A row with a value or a word.

    Attributes:
        value: The number as printed, or the word.
        text: The cell's text.
        why: Why it was chosen or rejected, where that was asked for.
    """

    WIRE: ClassVar = (
        "metric", "value", "text", "unit", "si_value", "si_unit", "key", "conditions", "grade", "citation", "heading",
        "row_sha256", "notes", "source?", "why?",
    )  # fmt: skip
    metric: str
    value: int | float | str
    text: str
    unit: str
    si_value: int | float | None
    si_unit: str
    key: str
    conditions: Mapping[str, str]
    grade: str
    citation: str
    heading: str
    row_sha256: str
    notes: tuple[RowNote, ...]
    source: DocumentRef | None = None
    why: str | None = None


def spec(row: Row, *, source: DocumentRef | None = None, why: str | None = None) -> Spec:
    """Return a row as the contract's spec object."""
    is_number = row.kind == "value"
    value = row.value if not is_number else int(row.value) if row.value.isdigit() else float(row.value)
    return Spec(
        row.metric, value, row.value, row.unit, si_number(row_value(row)) if is_number else None,
        si_unit(UNITS[row.unit].dimension), row.key, dict(row.axes), row.grade, str(citation_of(row)), row.heading,
        row.sha, tuple(RowNote(tag, text) for tag, text in row.notes), source, why,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class NoValue(Wire):
    """What stands for a value that nobody publishes or that the part does not have; no citation: no row says so."""

    metric: str
    key: str
    conditions: Mapping[str, str]
    reason: str
    citation: str | None


def no_value(row: Row) -> NoValue:
    """Return an UNKNOWN or NONE row as documents show it."""
    return NoValue(row.metric, row.key, dict(row.axes), row.note("reason"), str(citation_of(row)))


def no_row(key: str, metric: str, conditions: Mapping[str, str]) -> NoValue:
    """Return what documents show for a value that no row answers."""
    return NoValue(metric, key, conditions, "no row in the wiki", None)
