"""Lines that people added to rendered texts and that `kb adopt` made part of the record."""

from __future__ import annotations

from kopt_kb.workspace.attempts import History, attempts_of
from kopt_kb.workspace.journal.events import Event
from kopt_kb.workspace.state import fold
from kopt_kb.workspace.views.memory_words import blob_text, plain
from kopt_kb.workspace.views.readme import render_blocks
from kopt_kb.workspace.views.views import BlobReader, View

__all__ = ["ADDED_HEADING", "README_VIEW", "adopted_lines"]

ADDED_HEADING = "## Added by people"
"""Heading in rendered files under which adopted lines stand."""


def adopted_lines(history: History, path: str, block: str | None, blob: BlobReader) -> list[str]:
    """Return the lines people added to a rendered file or block, each addition with its author and event."""
    found: list[str] = []
    for seq, _, one in history.adopted:
        if one.path == path and one.block == block:
            by = " ".join(one.by.split())
            found += [*blob_text(blob, one.blob).strip("\n").split("\n"), "", f"(added by {by}, event {seq})", ""]
    if found and block is None:
        return [ADDED_HEADING, "", *found]
    return found


def _readme(events: tuple[Event, ...], blob: BlobReader) -> dict[str, str]:
    history = attempts_of(events)
    texts = {}
    for name, body in render_blocks(fold(events)).items():
        added = adopted_lines(history, "README.md", name, blob)
        text = "\n".join([body.rstrip("\n"), "", *added]).rstrip() if added else body
        texts[f"README.md#{name}"] = plain(text if text.endswith("\n") else f"{text}\n")
    return texts


README_VIEW = View("readme", _readme)
"""Blocks of README.md, each as `README.md#<block>`."""
