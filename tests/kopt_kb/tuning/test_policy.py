"""A policy refuses what can't be meant; the shipped policies, and what a campaign may lay over them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kopt_kb.errors import BadInput
from kopt_kb.tuning.policy import GATES, POLICIES, policy_named

BASE = POLICIES["primus"]


def test_gates_have_one_order() -> None:
    """Cheap and certain gates come before those that need the device."""
    assert GATES == ("lint", "limits", "build", "correctness", "timing", "roofline", "evidence")


@pytest.mark.parametrize(
    "change",
    [{"repeats": 2}, {"repeats": 0, "small_gain_repeats": 0}, {"max_rounds": 0}, {"required_gates": ("magic",)}],
)
def test_impossible_values_are_refused(change: dict[str, object]) -> None:
    """Fewer repeats than its own rules need, no rounds, or a gate that does not exist."""
    with pytest.raises(BadInput, match="policy primus"):
        replace(BASE, **change)


def test_core_shapes() -> None:
    """Without a declaration every shape is a core shape."""
    assert BASE.is_core("1x2")
    declared = replace(BASE, core_shapes=("1x2",))
    assert (declared.is_core("1x2"), declared.is_core("3x4")) == (True, False)


def test_json() -> None:
    """All fields, tuples as lists."""
    assert BASE.to_json()["name"] == "primus"
    assert "evidence" not in BASE.to_json()["required_gates"]


def test_which_policies_ship() -> None:
    """gpu-wiki, primus and autopilot; the latter two neither plateau nor escalate into a stop."""
    assert {"gpu-wiki", "primus", "autopilot"} <= set(POLICIES)
    assert not {"plateau", "escalated"} & set(POLICIES["autopilot"].stop_reasons)
    assert [name for name, one in POLICIES.items() if one.transfer] == ["primus"]
    assert not {"plateau", "escalated"} & set(POLICIES["primus"].stop_reasons)
    loop = POLICIES["cutile"]
    assert (loop.max_rounds, loop.round_s, loop.plateau_rounds, loop.escalates) == (
        25,
        600,
        2,
        ("scheduling", "unknown"),
    )
    assert (loop.full_gain_pct, loop.last_gain_pct, loop.least_trust) == (5, 2, "replayed")


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
