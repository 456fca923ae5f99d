"""Which campaigns hold gains to a training step."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from kopt_kb.packs.training_step.asked import has_ended, is_asked
from kopt_kb.packs.training_step.policy import primus
from kopt_kb.tuning.policy import default_policy
from kopt_kb.workspace.journal.campaign_events import CampaignConfirmed, Stopped

USUAL = {**default_policy().to_json()}


@pytest.mark.parametrize(
    ("policy", "asked"),
    [(primus().to_json(), True), (USUAL, False), ({**USUAL, "transfer": True}, True), ({"name": "x"}, False)],
)
def test_the_policy_says_so(policy: dict[str, Any], asked: bool) -> None:
    """By its gate today, by a switch before; a policy without either asks for nothing."""
    state = cast("Any", SimpleNamespace(campaign=CampaignConfirmed(policy, True, "", (), {}), stopped=None))
    assert (is_asked(state), has_ended(state)) == (asked, False)
    state.stopped = Stopped("user", ())
    assert has_ended(state) == asked
    state.campaign = None
    assert not is_asked(state)
