"""Which packs a journal needs and lacks."""

from __future__ import annotations

from typing import Any

from kopt_strange.pack import PACK

from kopt_kb.workspace.needs import AbsentPack, absent_packs, policy_packs
from tests.kopt_kb.conftest import OnlyPacks


def confirmed(**policy: Any) -> dict[str, Any]:
    """Return a confirmed campaign with members of its policy."""
    named = {"name": "dreams", "required_gates": ["lint"], "stop_reasons": ["user"], **policy}
    return {"policy": named, "simulated": True, "executor": "", "proposers": [], "settings": {}}


def test_events_and_words_of_an_absent_pack_are_told(played, only_packs: OnlyPacks) -> None:
    """Each pack once, with its events and what the policy names of it; nothing where the pack is there."""
    only_packs(PACK)
    first = played.add("strange.dreamt", round=1, of="sheep")
    words = {"required_gates": ["lint", "strange.rested"], "stop_reasons": ["other.tired"], "pack": "strange"}
    played.add("campaign_confirmed", **confirmed(**words))
    state = played.workspace.state()
    assert policy_packs(state) == {"strange", "other"}
    assert [one.name for one in absent_packs(state)] == ["other"]
    only_packs()
    assert absent_packs(played.workspace.state()) == (
        AbsentPack("other", "is not installed", words=("other.tired",)),
        AbsentPack("strange", "is not installed", (first,), ("strange.rested",), "dreams"),
    )


def test_a_stop_for_a_pack_s_reason_needs_the_pack(played, only_packs: OnlyPacks) -> None:
    """Also where the policy does not name it any more."""
    only_packs()
    played.add("campaign_confirmed", **confirmed())
    played.add("stopped", reason="strange.tired", evidence=[])
    assert absent_packs(played.workspace.state()) == (
        AbsentPack("strange", "is not installed", words=("strange.tired",)),
    )


def test_most_journals_need_none(played, only_packs: OnlyPacks, monkeypatch) -> None:
    """Then nobody asks which packs there are."""
    played.add("campaign_confirmed", **confirmed())
    monkeypatch.setattr("kopt_kb.doors.table.packs", lambda: 1 / 0)
    assert absent_packs(played.workspace.state()) == ()
