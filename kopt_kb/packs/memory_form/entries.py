"""What people said of an attempt: read from blobs and sorted into the fields of its memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import WireError, parse, read
from kopt_kb.packs.memory_form import codes
from kopt_kb.packs.memory_form.memory_model import MemoryDirection, MemoryReference, Note, Pitfall, SearchEntry
from kopt_kb.workspace.journal.blobs import BlobReader
from kopt_kb.workspace.rounds import Remark, Round
from kopt_kb.workspace.views.words import blob_text, is_unknown, spoken

__all__ = ["MemoryFileError", "Words", "free_text", "of_kind", "read_entry"]

T = TypeVar("T")

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

    code = codes.BAD_MEMORY_FILE


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
        return Pitfall("unknown_spec" if is_unknown(words) else "note", words)
    return Note("tip" if note.kind == "tip" else "user", words, note.by)
