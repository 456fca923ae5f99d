"""The words of views: pieces of Markdown, and what people said, read from blobs and sorted into the memory's fields."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from kopt_kb.workspace.rounds import Entry, Round

__all__ = ["BlobReader", "blob_text", "bullets", "figure", "free_text", "percent", "plain", "quoted", "spoken"]

BlobReader = Callable[[str], bytes]
"""sha256 → bytes; `ObjectStore.get`."""

_UNKNOWN_SPEC = "UNKNOWN (gpu-wiki not found)"


def plain(text: str) -> str:
    """Return text that UTF-8 can carry: lone surrogates of undecodable bytes become question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")


def blob_text(blob: BlobReader, sha: str) -> str:
    """Return a blob as text; bytes that are no UTF-8 are shown as U+FFFD."""
    return blob(sha).decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")


def spoken(note: Entry, blob: BlobReader) -> str:
    """Return what an entry says to a reader."""
    return note.words or blob_text(blob, note.text).strip() or "(empty)"


def free_text(attempt: Round, blob: BlobReader) -> dict[str, list[Any]]:
    """Return the free-text fields: entries by field, and notes sorted into them by topic."""
    from kopt_kb.workspace.views.memory_model import MemoryFileError, read_entry

    found: dict[str, list[Any]] = {
        "search_log": [], "pitfalls_and_fixes": [], "references": [], "open_directions": [],
        "notes": [], "risks_and_rollback": [],
    }  # fmt: skip
    for note in attempt.notes:
        field, entry = _noted(note, spoken(note, blob))
        found[field].append(entry)
    for one in attempt.entries:
        text = blob_text(blob, one.text)
        try:
            found[one.kind].append(read_entry(one.kind, text))
        except MemoryFileError:
            found["notes"].append({"topic": "user", "text": text, "by": one.by})
    return found


def _noted(note: Entry, text: str) -> tuple[str, dict[str, Any]]:
    words = text.strip()
    if note.kind == "search":
        return "search_log", {"source": "note", "query": "", "finding": words, "actionability": ""}
    if note.kind == "pitfall":
        kind = "unknown_spec" if _UNKNOWN_SPEC in words else "note"
        rest = {"error_message": "", "root_cause": "", "fix_applied": ""}
        return "pitfalls_and_fixes", {"error_type": kind, **rest, "lesson": words}
    return "notes", {"topic": note.kind, "text": words, "by": note.by}


def figure(value: float | None, digits: int = 4) -> str:
    """Return a number at a few significant digits, `-` for none."""
    return "-" if value is None else f"{value:.{digits}g}"


def percent(value: float | None) -> str:
    """Return a signed percentage with three decimals, `-` for none."""
    return "-" if value is None else f"{value:+.3f}%"


def bullets(items: Iterable[object], none: str = "none") -> list[str]:
    """Return one bullet an item and a blank line; `none` when there are no items."""
    lines = [f"- {' '.join(str(item).split())}" for item in items]
    return [*(lines or [f"- {none}"]), ""]


def quoted(text: str) -> list[str]:
    """Return a text of several lines as a block quote, which no heading or table of it can leave."""
    return [f"> {line}".rstrip() for line in text.strip().split("\n")]
