"""The policy autopilot."""

from __future__ import annotations

from kopt_kb.packs.coordination.policy import autopilot
from kopt_kb.tuning.policy import policy_named


def test_it_follows_its_plan_to_the_end() -> None:
    """It neither plateaus nor escalates into a stop; the rest is the default's."""
    assert not {"plateau", "escalated"} & set(autopilot().stop_reasons)
    found = policy_named("autopilot")
    assert (found.pack, found.repeats) == ("coordination", policy_named("gpu-wiki").repeats)
