"""A policy refuses what can't be meant; the policies there are, and what a campaign may lay over them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from kopt_strange.pack import PACK

from kopt_kb.base.errors import BadInput, MissingTool
from kopt_kb.tuning.policy import (
    DEFAULT_POLICY,
    GATES,
    confirmed_policy,
    default_policy,
    gates_of,
    known_policy,
    policies,
    policy_named,
    refuse_absent,
)
from kopt_kb.workspace.journal.campaign_events import CampaignConfirmed
from tests.kopt_kb.conftest import OnlyPacks

BASE = default_policy()


def test_gates_have_one_order() -> None:
    """Cheap and certain gates come before those that need the device."""
    assert GATES == ("lint", "limits", "build", "correctness", "timing", "roofline", "launcher", "evidence")


@pytest.mark.parametrize(
    "change",
    [{"repeats": 2}, {"repeats": 0, "small_gain_repeats": 0}, {"max_rounds": 0}, {"required_gates": ("magic",)}],
)
def test_impossible_values_are_refused(change: dict[str, object]) -> None:
    """Fewer repeats than its own rules need, no rounds, or a gate that does not exist."""
    with pytest.raises(BadInput, match="policy gpu-wiki"):
        replace(BASE, **change)


def test_core_shapes() -> None:
    """Without a declaration every shape is a core shape."""
    assert BASE.is_core("1x2")
    declared = replace(BASE, core_shapes=("1x2",))
    assert (declared.is_core("1x2"), declared.is_core("3x4")) == (True, False)


def test_json() -> None:
    """All fields, tuples as lists."""
    assert BASE.to_json()["name"] == "gpu-wiki"
    assert "evidence" not in BASE.to_json()["required_gates"]


def test_packs_bring_policies(only_packs: OnlyPacks) -> None:
    """The core has one; another's name says whose it is, and is not taken twice."""
    only_packs()
    assert list(policies()) == [DEFAULT_POLICY]
    only_packs(PACK)
    assert list(policies()) == [DEFAULT_POLICY, "dreams"]
    found = policy_named("dreams", max_rounds=3)
    assert (found.pack, found.max_rounds) == ("strange", 3)
    assert known_policy("gpu-wiki") is BASE
    assert known_policy("other") is None


def test_the_default_policy_asks_for_no_pack(monkeypatch) -> None:
    """Neither by its name nor by its gates."""
    monkeypatch.setattr("kopt_kb.doors.table.packs", lambda: 1 / 0)
    assert gates_of(policy_named("gpu-wiki")) == GATES
    refuse_absent(BASE)


def test_a_gate_of_a_pack_stands_behind_the_one_that_it_names(only_packs: OnlyPacks) -> None:
    """Where the policy requires it, and always in the same place."""
    only_packs(PACK)
    assert gates_of(policy_named("dreams")) == (
        "lint", "limits", "build", "strange.rested", "correctness", "timing", "roofline", "launcher", "evidence",
    )  # fmt: skip


def test_a_policy_of_an_absent_pack_is_read_and_not_run(only_packs: OnlyPacks) -> None:
    """Its document is the core's to read; its gates are the pack's."""
    only_packs(PACK)
    policy = policy_named("dreams")
    campaign = CampaignConfirmed(policy.to_json(), True, "", (), {})
    only_packs()
    assert confirmed_policy(campaign) == policy
    with pytest.raises(MissingTool, match="needs the pack strange, which is not installed"):
        gates_of(policy)
    with pytest.raises(MissingTool, match="policy dreams needs the pack strange"):
        refuse_absent(policy)
    with pytest.raises(MissingTool, match="needs the pack strange"):
        refuse_absent(replace(policy, pack="", required_gates=("lint",)))


def test_what_an_earlier_release_confirmed_is_read() -> None:
    """A switch became a gate, and members came to be since."""
    document = {**BASE.to_json(), "transfer": False}
    for name in ("pack", "named", "needs_skew"):
        del document[name]
    assert confirmed_policy(CampaignConfirmed(document, True, "", (), {})) == BASE
    held = confirmed_policy(CampaignConfirmed({**document, "transfer": True}, True, "", (), {}))
    assert held.named
    assert held.required_gates[-1].endswith(".transfer")


def test_overlays() -> None:
    """Core shapes, limit of rounds and scope are the campaign's own."""
    found = policy_named("gpu-wiki", core_shapes=("8x4",), max_rounds=10, stop_scope="every_shape")
    assert (found.core_shapes, found.max_rounds, found.stop_scope) == (("8x4",), 10, "every_shape")
    assert policy_named("gpu-wiki").max_rounds is None


@pytest.mark.parametrize("reason", ["budget", "user", "exhausted", "aborted"])
def test_what_ends_every_campaign_can_not_be_left_out(reason: str) -> None:
    """Going on past it would change nothing; the words that can be left out are named."""
    with pytest.raises(BadInput, match=f"past {reason}.*one of target, hardware_limit, iterations, plateau, escalated"):
        policy_named("gpu-wiki", without_stops=("target", reason))


def test_unknown_names_and_too_many_rounds_are_refused(only_packs: OnlyPacks) -> None:
    """The names that there are stand in the refusal; a policy's own limit of rounds holds."""
    only_packs(PACK)
    with pytest.raises(BadInput, match="gpu-wiki, dreams"):
        policy_named("other")
    with pytest.raises(BadInput, match="at most 9"):
        policy_named("dreams", max_rounds=10)
