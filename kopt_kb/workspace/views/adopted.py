"""Lines that people added to rendered texts, as journals from before rendered files were read-only keep them."""

from __future__ import annotations

from kopt_kb.workspace.journal.blobs import BlobReader
from kopt_kb.workspace.state import WorkspaceState
from kopt_kb.workspace.views.words import blob_text, plain

__all__ = ["ADDED_HEADING", "with_adopted"]

ADDED_HEADING = "## Added by people"
"""Heading in rendered files under which adopted lines stand."""


def with_adopted(text: str, state: WorkspaceState, path: str, block: str | None, blob: BlobReader) -> str:
    """Return a rendered text with the lines that `file_adopted` events added to it, each with author and event."""
    lines: list[str] = []
    for seq, _, one in state.adopted:
        if one.path == path and one.block == block:
            by = " ".join(one.by.split())
            lines += [*blob_text(blob, one.blob).strip("\n").split("\n"), "", f"(added by {by}, event {seq})", ""]
    if not lines:
        return text
    heading = [ADDED_HEADING, ""] if block is None else []
    return plain("\n".join([text.rstrip("\n"), "", *heading, *lines]).rstrip() + "\n")
