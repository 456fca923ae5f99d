"""Views and sections of packs, as renderers ask for them."""

from __future__ import annotations

import pytest

from kopt_kb.doors import table
from kopt_kb.doors.loop_part import LoopPart
from kopt_kb.doors.pack import Pack
from kopt_kb.doors.view import View, ViewSection, always, sections, views

DIARY = View("diary", "a diary", ("diary.md",), lambda _state, _blob: {"diary.md": "# Diary\n"})
SAID = ViewSection("report", lambda state, *words: [f"{state} and {len(words)} more", ""])
NEVER = ViewSection("report", lambda *_: ["never"], applies=lambda _: False)
ELSEWHERE = ViewSection("log", lambda *_: ["elsewhere"])


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch) -> None:
    bare = Pack("bare", "nothing")
    full = Pack(
        "full",
        "all",
        loop_parts=(LoopPart("a", "a", views=(DIARY,)), LoopPart("b", "b", sections=(NEVER, SAID, ELSEWHERE))),
    )
    monkeypatch.setattr(table, "packs", lambda: table.Packs({"bare": bare, "full": full}, ()))


def test_views_come_with_their_pack() -> None:
    """A view that says nothing of when it applies is every workspace's, and lets nobody mask by hand."""
    assert [(pack.name, view.name) for pack, view in views()] == [("full", "diary")]
    assert DIARY.applies is always and (DIARY.raw, DIARY.hand_masks, DIARY.folders) == (None, None, ())


def test_a_slot_is_filled_by_its_own_sections() -> None:
    """Those that apply, called with the state and whatever the file is about."""
    assert sections("report", "state", "round", "blobs") == ["state and 2 more", ""]  # type: ignore[arg-type]
    assert sections("log", "state") == ["elsewhere"]  # type: ignore[arg-type]
    assert sections("no such slot", "state") == []  # type: ignore[arg-type]
