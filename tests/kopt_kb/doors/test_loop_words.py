"""Gates and stop reasons of packs by their names."""

from __future__ import annotations

from kopt_strange.pack import PACK

from kopt_kb.doors.loop_words import loop_parts, loop_word
from tests.kopt_kb.conftest import OnlyPacks


def test_a_name_is_looked_up_in_its_pack(only_packs: OnlyPacks) -> None:
    """Under its door alone."""
    only_packs(PACK)
    (part,) = PACK.loop_parts
    assert loop_word("strange.rested", "gates") is part.gates[0]
    assert loop_word("strange.tired", "stop_reasons") is part.stop_reasons[0]
    for name in ("strange.tired", "other.rested", "rested", "strange."):
        assert loop_word(name, "gates") is None
    assert list(loop_parts()) == [("strange", part)]
