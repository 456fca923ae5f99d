"""The policy primus: what it decides, case by case, and what it asks for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.packs.training_step.policy import primus
from kopt_kb.tuning.policy import gates_of, policies, policy_named
from tests.kopt_kb.tuning.test_decision import hold, traces_of

TRACES = traces_of("primus")


@pytest.mark.parametrize("trace", TRACES, ids=lambda trace: trace["name"])
def test_traces(trace: Mapping[str, Any]) -> None:
    """Times, repeats and gates give the decision and the rule written in the data file."""
    hold("primus", trace)


def test_the_policy_has_twenty_traces() -> None:
    """The data file holds enough cases, and their names are unique."""
    assert len({trace["name"] for trace in TRACES}) == len(TRACES) >= 20


def test_a_gain_has_to_reach_a_training_step() -> None:
    """Its own gate stands behind the lint, and no other policy asks for it; it neither plateaus nor escalates."""
    assert gates_of(policy_named("primus"))[:3] == ("lint", "training_step.transfer", "limits")
    asking = [name for name, one in policies().items() if "training_step.transfer" in one.required_gates]
    assert asking == ["primus"]
    assert not {"plateau", "escalated"} & set(primus().stop_reasons)


def test_the_limit_of_rounds() -> None:
    """It stays below 120 rounds, as the original says."""
    with pytest.raises(BadInput, match="at most 119"):
        policy_named("primus", max_rounds=120)
