"""Tips of a campaign's rounds, and what packs say of them; whole campaigns are in test_naming."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from kopt_strange.pack import PACK

from kopt_kb.tuning.tips import kept_tips, tip_of
from kopt_kb.workspace.journal.blobs import ObjectStore
from tests.kopt_kb.conftest import OnlyPacks


def test_rounds_teach_in_a_line(make_campaign, workspace, only_packs: OnlyPacks) -> None:
    """The default policy says the gain; nothing is taught by the baseline, or by a round without an end."""
    only_packs()
    with make_campaign(workspace, rounds=2) as campaign:
        campaign.run()
        state = campaign.state()
    state.named = cast("Any", SimpleNamespace(name="norm"))
    blob = ObjectStore(workspace.layout.objects).get
    assert tip_of(state, state.attempts[0], blob) == ""
    tip = tip_of(state, state.attempts[1], blob)
    assert tip.startswith(("- worked: ", "- did not work: "))
    assert tip.endswith("(norm v1)")
    assert kept_tips(state, "- never sleep\n") == "- never sleep\n"


@pytest.mark.parametrize(("number", "says"), [(2, "worth a nap"), (1, "- anti-pattern, do not retry: ")])
def test_a_pack_says_what_a_gain_is_worth(make_campaign, workspace, only_packs: OnlyPacks, number, says) -> None:
    """Where the policy requires its gate: in tips of rounds, and in those that are read."""
    only_packs(PACK)
    with make_campaign(workspace, "dreams", rounds=3) as campaign:
        campaign.run()
        state = campaign.state()
    state.named = cast("Any", SimpleNamespace(name="norm"))
    assert says in tip_of(state, state.attempts[number], ObjectStore(workspace.layout.objects).get)
    assert kept_tips(state, "- never sleep\n- tile\n") == "- tile\n"
