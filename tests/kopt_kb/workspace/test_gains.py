"""What packs say of gains, found by the gates of the confirmed policy."""

from __future__ import annotations

from kopt_strange.pack import PACK

from kopt_kb.workspace.gains import gain_checks
from tests.kopt_kb.conftest import OnlyPacks
from tests.kopt_kb.workspace.test_needs import confirmed


def test_a_required_gate_brings_its_words(played, only_packs: OnlyPacks) -> None:
    """In views too; where the pack is absent nobody says anything."""
    only_packs(PACK)
    assert gain_checks(played.workspace.state()) == ()
    played.add("campaign_confirmed", **confirmed(required_gates=["lint", "strange.rested", "other.gate"]))
    gate = PACK.loop_parts[0].gates[0]
    assert gain_checks(played.workspace.state()) == (gate.gains,)
    only_packs()
    assert gain_checks(played.workspace.state()) == ()


def test_a_recorded_switch_brings_them_too(played) -> None:
    """A campaign that was confirmed before gates of packs had names."""
    played.add("campaign_confirmed", **confirmed(required_gates=["lint"], transfer=True))
    assert len(gain_checks(played.workspace.state())) == 1
