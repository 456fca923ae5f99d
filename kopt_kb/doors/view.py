"""The doors `View` and `ViewSection`: files rendered from a journal, and places in them that other packs fill."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kopt_kb.doors.table import behind

if TYPE_CHECKING:
    from pathlib import Path

    from kopt_kb.doors.pack import Pack
    from kopt_kb.workspace.journal.blobs import BlobReader
    from kopt_kb.workspace.state import WorkspaceState

__all__ = ["View", "ViewSection", "always", "sections", "views"]


def always(_: WorkspaceState) -> bool:
    """Return true: every workspace has it."""
    return True


@dataclass(frozen=True, slots=True)
class View:
    """Files that are rendered from a journal besides README.md; the same events and blobs give the same bytes.

    Rendering adds the header, keeps what somebody edited and writes again; the audit compares.

    Attributes:
        name: Stable name.
        what: The same in a reader's words, for messages.
        patterns: Glob patterns below the workspace that match every file of `texts`, such as `diary/day-*.md`.
        texts: Returns path below the workspace → text without its header.
        applies: Whether the workspace of this state has these files.
        raw: Returns path → bytes of files that carry no header; None: there are none.
        folders: Folders that are made with a workspace and hold its files; the audit reads the texts in them.
        hand_masks: Returns version → file in which a person masked it, of the workspace at a root; None: no file of
            this view can.
    """

    name: str
    what: str
    patterns: tuple[str, ...]
    texts: Callable[[WorkspaceState, BlobReader], Mapping[str, str]]
    applies: Callable[[WorkspaceState], bool] = always
    raw: Callable[[WorkspaceState, BlobReader], Mapping[str, bytes]] | None = None
    folders: tuple[str, ...] = ()
    hand_masks: Callable[[Path, WorkspaceState], Mapping[int, str]] | None = None


@dataclass(frozen=True, slots=True)
class ViewSection:
    """Lines for a named place in rendered files, whichever pack renders them.

    Attributes:
        slot: `report`: the summary of a round; `log`: the log of a campaign.
        lines: Called with the state, in a file of one round with the round, and with the reader of blobs.
        applies: Whether the files of this state have it.
    """

    slot: str
    lines: Callable[..., list[str]]
    applies: Callable[[WorkspaceState], bool] = always


def views() -> Iterator[tuple[Pack, View]]:
    """Yield the views of all packs, each with its pack."""
    for pack, part in behind("loop_parts"):
        for view in part.views:
            yield pack, view


def sections(slot: str, state: WorkspaceState, *words: object) -> list[str]:
    """Return the lines that packs bring for a slot, in the order of the packs."""
    lines: list[str] = []
    for _, part in behind("loop_parts"):
        for section in part.sections:
            if section.slot == slot and section.applies(state):
                lines += section.lines(state, *words)
    return lines
