from __future__ import annotations

from kopt_kb.packs.step_ranking.pack import PACK


def test_the_pack_brings_one_command() -> None:
    assert [one.name for one in PACK.commands] == ["profile step"]
