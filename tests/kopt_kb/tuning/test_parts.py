"""A policy's words of packs, and what is said where the pack is absent."""

from __future__ import annotations

import pytest
from kopt_strange.pack import PACK

from kopt_kb.base.errors import ExitCode, MissingTool
from kopt_kb.tuning.parts import gate_named, needs_pack, stop_rule_named
from tests.kopt_kb.conftest import OnlyPacks


def test_words_of_a_pack_that_is_there(only_packs: OnlyPacks) -> None:
    """The very objects that it brings."""
    only_packs(PACK)
    assert gate_named("strange.rested").after == "build"
    assert stop_rule_named("strange.tired").what == "three rounds are enough"


@pytest.mark.parametrize("look", [gate_named, stop_rule_named])
def test_words_of_one_that_is_not(look, only_packs: OnlyPacks) -> None:
    """The pack is named, and the command ends as for any missing tool."""
    only_packs()
    with pytest.raises(MissingTool, match=r"strange\.word needs the pack strange, which is not installed") as caught:
        look("strange.word")
    assert (caught.value.error_code, caught.value.exit_code) == ("KB120", ExitCode.MISSING)
    assert needs_pack("x", "it", "here").where == "here"
