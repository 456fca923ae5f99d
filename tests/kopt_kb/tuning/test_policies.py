"""The shipped policies, and what a campaign may lay over them."""

from __future__ import annotations

import pytest

from kopt_kb.errors import BadInput
from kopt_kb.tuning.policies import POLICIES, policy_named


def test_two_policies_ship() -> None:
    """gpu-wiki and primus; the latter neither plateaus nor escalates into a stop."""
    assert set(POLICIES) == {"gpu-wiki", "primus"}
    assert not {"plateau", "escalated"} & set(POLICIES["primus"].stop_reasons)


def test_overlays() -> None:
    """Core shapes, limit of rounds and scope are the campaign's own."""
    found = policy_named("primus", core_shapes=("8x4",), max_rounds=10, stop_scope="every_shape")
    assert (found.core_shapes, found.max_rounds, found.stop_scope) == (("8x4",), 10, "every_shape")
    assert policy_named("gpu-wiki").max_rounds is None


@pytest.mark.parametrize("reason", ["budget", "user", "exhausted", "aborted"])
def test_what_ends_every_campaign_can_not_be_left_out(reason: str) -> None:
    """Going on past it would change nothing; the words that can be left out are named."""
    with pytest.raises(BadInput, match=f"past {reason}.*one of target, hardware_limit, iterations, plateau, escalated"):
        policy_named("gpu-wiki", without_stops=("target", reason))


def test_unknown_names_and_too_many_rounds_are_refused() -> None:
    """The campaign's limit stays below 120 rounds where the original says so."""
    with pytest.raises(BadInput, match="gpu-wiki, primus"):
        policy_named("other")
    with pytest.raises(BadInput, match="at most 119"):
        policy_named("primus", max_rounds=120)
