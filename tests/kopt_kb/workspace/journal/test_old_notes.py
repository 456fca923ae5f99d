"""Notes that the loop kept as JSON in version 1 journals read as today's events."""

from __future__ import annotations

import json

import pytest

from kopt_kb.base.wire import WireError
from kopt_kb.workspace.journal.campaign_events import (
    CampaignConfirmed,
    LevelChosen,
    ProjectFrozen,
    ProjectProtected,
    ProposalMade,
    TipsRead,
)
from kopt_kb.workspace.journal.old_notes import typed_note
from kopt_kb.workspace.journal.setup_events import NoteAdded

BLOB = "ab" * 32


def typed(body: object, current: int = 3):
    """The event of a note with this body."""
    text = body if isinstance(body, bytes) else json.dumps(body).encode()
    return typed_note(NoteAdded("search", BLOB, "kb tune"), lambda _: text, current)


def test_all_six_kinds() -> None:
    """With what early journals did not say at its default; a proposal belongs to the round that is open."""
    policy = {"name": "p"}
    assert typed({"kind": "campaign", "policy": policy, "simulated": True}) == CampaignConfirmed(
        policy, True, "", (), {}, None
    )
    assert typed({"kind": "tips", "source": None, "text": ""}) == TipsRead(None, "")
    said = {"category": "c", "claim": "x", "expected": "", "proposer": "p", "source": BLOB, "spaces": {}}
    assert typed({"kind": "proposal", **said}) == ProposalMade(3, "c", "x", "", "p", BLOB, {})
    hashes = {"a.py": BLOB}
    assert typed({"kind": "project", "root": "r", "protected": hashes}) == ProjectProtected("r", hashes)
    assert typed({"kind": "frozen", "header": ["M"], "representative": []}) == ProjectFrozen(("M",), ())
    assert typed({"kind": "level", "round": 2, "level": "full", "reason": "r"}) == LevelChosen(2, "full", "r")


@pytest.mark.parametrize("body", [b"words", b"[1]", b"{}", b'{"kind": "other"}'])
def test_words_are_left_alone(body: bytes) -> None:
    """Who signs as the loop and says something else keeps his note."""
    assert typed(body) is None


def test_a_wrong_field_is_named() -> None:
    """As in any event."""
    with pytest.raises(WireError) as caught:
        typed({"kind": "level", "round": 2, "level": "some", "reason": "r"})
    assert caught.value.where == "level_chosen.level"
