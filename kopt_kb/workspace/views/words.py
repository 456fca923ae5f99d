"""The words of views: pieces of Markdown, and what people said, read from blobs and sorted into the memory's fields."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from kopt_kb.errors import BadInput
from kopt_kb.quantity.readable import gain, rounded
from kopt_kb.wire import WireError, parse, read
from kopt_kb.workspace.journal.blobs import BlobReader
from kopt_kb.workspace.journal.setup_events import CitationRef, SpecRow
from kopt_kb.workspace.rounds import Remark, Round
from kopt_kb.workspace.views.memory_model import MemoryDirection, MemoryReference, Note, Pitfall, SearchEntry

__all__ = [
    "SANDBOX",
    "MemoryFileError",
    "Words",
    "blob_text",
    "bullets",
    "citation",
    "figure",
    "free_text",
    "of_kind",
    "percent",
    "plain",
    "quoted",
    "read_entry",
    "spec_line",
    "spoken",
]

T = TypeVar("T")

SANDBOX = "sandbox/"
"""Folder whose files are rendered and never committed."""

_UNKNOWN_SPEC = "UNKNOWN (gpu-wiki not found)"

Words = SearchEntry | Pitfall | MemoryReference | MemoryDirection | Note | str
"""One thing said about an attempt; a text says what may go wrong and how to go back."""

_ENTRIES: Mapping[str, tuple[type[Words], Callable[[str], Words]]] = {
    "search_log": (SearchEntry, lambda words: SearchEntry("note", words)),
    "pitfalls_and_fixes": (Pitfall, lambda words: Pitfall("note", words)),
    "references": (MemoryReference, lambda words: MemoryReference("user-input", words)),
    "open_directions": (MemoryDirection, MemoryDirection),
}
"""Field → form of its entries, and the entry that plain words make."""


class MemoryFileError(BadInput):
    """An entry does not have the form of the schema; `where` is the field."""

    code = "KB313"


def read_entry(field: str, text: str) -> Words:
    """Return an entry of a free-text field: a JSON object of its form, or plain words for its main member.

    Raises:
        MemoryFileError: The JSON is broken, or a member is missing, unknown or not text.
    """
    words = text.strip()
    if not words:
        raise MemoryFileError("an entry can't be empty", where=field, fix="say something")
    if field == "risks_and_rollback":
        return words
    kind, plain_entry = _ENTRIES[field]
    if not words.startswith("{"):
        return plain_entry(words)
    try:
        return read(kind, parse(text.encode("utf-8", "replace")))
    except WireError as error:
        what = f"field {error.where}: {error.what}" if error.where else error.what
        raise MemoryFileError(what, where=field, fix="docs/memory.md lists the fields") from None


def plain(text: str) -> str:
    """Return text that UTF-8 can carry: lone surrogates of undecodable bytes become question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")


def blob_text(blob: BlobReader, sha: str) -> str:
    """Return a blob as text; bytes that are no UTF-8 are shown as U+FFFD."""
    return blob(sha).decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")


def spoken(note: Remark, blob: BlobReader) -> str:
    """Return what an entry says to a reader."""
    return note.words or blob_text(blob, note.text).strip() or "(empty)"


def free_text(attempt: Round, blob: BlobReader) -> tuple[Words, ...]:
    """Return what was said about an attempt: notes sorted by topic, then entries; of another form, as a note."""
    found = [_noted(note, spoken(note, blob)) for note in attempt.notes]
    for entry in attempt.entries:
        text = blob_text(blob, entry.text)
        try:
            found.append(read_entry(entry.kind, text))
        except MemoryFileError:
            found.append(Note("user", text, entry.by))
    return tuple(found)


def of_kind(kind: type[T], words: Iterable[Words]) -> tuple[T, ...]:
    """Return what was said of one kind, in order."""
    return tuple(one for one in words if isinstance(one, kind))


def _noted(note: Remark, text: str) -> Words:
    words = text.strip()
    if note.kind == "search":
        return SearchEntry("note", words)
    if note.kind == "pitfall":
        return Pitfall("unknown_spec" if _UNKNOWN_SPEC in words else "note", words)
    return Note("tip" if note.kind == "tip" else "user", words, note.by)


def figure(value: float | None) -> str:
    """Return a number, rounded as everywhere; `-` for none."""
    return "-" if value is None else rounded(value)


def percent(value: float | None) -> str:
    """Return a change in percent, a factor from a doubling on; `-` for none."""
    return gain(value)


def citation(reference: CitationRef) -> str:
    """Return the line of the wiki that a value was read from."""
    return f"<gpu-wiki>/{reference.path}:L{reference.line}"


def spec_line(row: SpecRow) -> str:
    """Return a registered hardware value with its citation."""
    return f"{row.key}: {f'{row.value} {row.unit}'.strip()} <- {citation(row.citation)}"


def bullets(items: Iterable[object], none: str = "none") -> list[str]:
    """Return one bullet an item and a blank line; `none` when there are no items."""
    lines = [f"- {' '.join(str(item).split())}" for item in items]
    return [*(lines or [f"- {none}"]), ""]


def quoted(text: str) -> list[str]:
    """Return a text of several lines as a block quote, which no heading or table of it can leave."""
    return [f"> {line}".rstrip() for line in text.strip().split("\n")]
