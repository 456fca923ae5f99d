"""The words of views: pieces of Markdown, and what people said, read from blobs."""

from __future__ import annotations

from collections.abc import Iterable

from kopt_kb.quantity.readable import gain, rounded
from kopt_kb.workspace.journal.blobs import BlobReader
from kopt_kb.workspace.journal.setup_events import CitationRef, SpecRow, UnknownRow
from kopt_kb.workspace.rounds import Remark
from kopt_kb.workspace.state import WorkspaceState

__all__ = [
    "EDITION",
    "SANDBOX",
    "blob_text",
    "bullets",
    "citation",
    "figure",
    "finish",
    "is_second_edition",
    "is_unknown",
    "percent",
    "plain",
    "quoted",
    "spec_line",
    "spoken",
    "unknown_in",
    "unknown_words",
]

SANDBOX = "sandbox/"
"""Folder whose files are rendered and never committed."""

EDITION = "2"
"""Edition of the words of rendered blocks; `workspace_created` names it, and workspaces without it keep their words."""

_NO_ROW = "UNKNOWN (gpu-wiki not found)"
"""What is said of a value that the wiki has no row for."""

_NO_VALUE = "UNKNOWN (no source gives it)"
"""What is said of a value whose row says UNKNOWN."""


def finish(lines: Iterable[str]) -> str:
    """Return the text of a rendered page."""
    return plain("\n".join(lines).rstrip() + "\n")


def plain(text: str) -> str:
    """Return text that UTF-8 can carry: lone surrogates of undecodable bytes become question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")


def blob_text(blob: BlobReader, sha: str) -> str:
    """Return a blob as text; bytes that are no UTF-8 are shown as U+FFFD."""
    return blob(sha).decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")


def spoken(note: Remark, blob: BlobReader) -> str:
    """Return what an entry says to a reader."""
    return note.words or blob_text(blob, note.text).strip() or "(empty)"


def figure(value: float | None) -> str:
    """Return a number, rounded as everywhere; `-` for none."""
    return "-" if value is None else rounded(value)


def percent(value: float | None) -> str:
    """Return a change in percent, a factor from a doubling on; `-` for none."""
    return gain(value)


def citation(reference: CitationRef) -> str:
    """Return the line of the wiki that a value was read from."""
    return f"<gpu-wiki>/{reference.path}:L{reference.line}"


def unknown_words(*, has_row: bool) -> str:
    """Return what is said of an UNKNOWN value: whether the wiki has a row that says so, or none."""
    return _NO_VALUE if has_row else _NO_ROW


def is_unknown(words: str) -> bool:
    """Return whether a note names an UNKNOWN value, in the words of any edition."""
    return _NO_ROW in words or _NO_VALUE in words


def unknown_in(state: WorkspaceState, row: UnknownRow) -> str:
    """Return what a workspace says of a value that it needed, in the words of its edition."""
    return unknown_words(has_row=row.citation is not None and is_second_edition(state))


def is_second_edition(state: WorkspaceState) -> bool:
    """Return whether the rendered words are those of `EDITION`; older workspaces are rendered as they were."""
    return state.created.versions.get("views") == EDITION


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
