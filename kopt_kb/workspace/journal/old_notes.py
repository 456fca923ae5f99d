"""Reads what version 1 journals kept as JSON notes of the loop, and gives the typed events of today for it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from kopt_kb.base.wire import read
from kopt_kb.workspace.journal.campaign_events import (
    CampaignConfirmed,
    LevelChosen,
    ProjectFrozen,
    ProjectProtected,
    ProposalMade,
    TipsRead,
)
from kopt_kb.workspace.journal.setup_events import EventData, NoteAdded

__all__ = ["typed_note"]

_KINDS: Mapping[str, type[EventData]] = {
    "campaign": CampaignConfirmed,
    "tips": TipsRead,
    "proposal": ProposalMade,
    "project": ProjectProtected,
    "frozen": ProjectFrozen,
    "level": LevelChosen,
}


def typed_note(data: NoteAdded, blob: Callable[[str], bytes], current: int) -> EventData | None:
    """Return the typed event that a note of the loop stands for; None when its text is somebody's words.

    Args:
        data: A note whose author is the loop.
        blob: Gives the bytes of a blob.
        current: Number of the round that is open; notes did not say it.

    Raises:
        ObjectError: The note's blob is missing or damaged.
        WireError: It is a note of the loop, and a field of it is wrong.
    """
    text = blob(data.text)
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return None
    kind = _KINDS.get(str(body.pop("kind", ""))) if isinstance(body, dict) else None
    if kind is None:
        return None
    if kind is ProposalMade:
        body = {**body, "round": current}
    elif kind is TipsRead:
        body = {**body, "text": body.get("text") or ""}
    elif kind is CampaignConfirmed:
        body = {"executor": "", "proposers": [], "settings": {}, **body}
    return read(kind, body, where=kind.kind)
