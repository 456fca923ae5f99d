"""Stop reasons are decided from the state alone, each by its own rule."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kopt_kb.tuning.policies import policy_named
from kopt_kb.tuning.states import CampaignState, Round
from kopt_kb.tuning.stops import (
    evaluation,
    not_evaluable,
    representative,
    rollbacks_in_a_row,
    stagnant_categories,
    stop_reason,
)
from kopt_kb.workspace.journal.round_events import Decided, HypothesisStated, Measured, SnapshotTaken
from kopt_kb.workspace.journal.setup_events import EnvironmentRecorded
from kopt_kb.workspace.workspace import Workspace

AMOUNT = {"8192x4096": 134_225_920, "1024x512": 2_098_176}
POLICY = policy_named("gpu-wiki")
BLOB = "ab" * 32


def done(number: int, decision: str, rate_per_s: float | None = None, category: str = "c") -> Round:
    """A decided round whose candidate moves its bytes at this rate in three repeats."""
    found = Round(number, BLOB, 10 * number + 5)
    found.hypothesis = HypothesisStated(number, category, f"claim {number}", "e", (), "p")
    found.decided, found.decided_seq = Decided(number, decision, "p", "r", ()), 10 * number + 9  # type: ignore[arg-type]
    if found.accepted:
        found.snapshot = SnapshotTaken(number, BLOB, None)
    for name, rate in ((f"v{number - 1}", 1e12), (found.name, rate_per_s)):
        for shape, amount in AMOUNT.items() if rate is not None else ():
            for at in range(3):
                key = f"{name}:{shape}:{at}"
                found.measured[key] = Measured(key, name, shape, 9, amount / rate * (1 + at / 1000), {}, "r", 4)
    return found


@pytest.fixture
def state(workspace: Workspace) -> CampaignState:
    """A measured campaign after its baseline; the target is 1.8 TB/s."""
    return CampaignState(workspace.state(), {"simulated": False}, 4, rounds=[done(0, "accept", 1e12)])


def test_never_straight_after_the_baseline(state: CampaignState) -> None:
    """A baseline that meets everything still gets a round."""
    state.rounds = [done(0, "accept", 1.9e12)]
    assert stop_reason(state, POLICY) is None


def test_a_failed_baseline_aborts(state: CampaignState) -> None:
    """There is nothing to compare with."""
    state.rounds = [done(0, "rollback")]
    assert stop_reason(state, POLICY) == ("aborted", (9,))


def test_the_target_stops(state: CampaignState) -> None:
    """1.85 TB/s meets 1.8 on both shapes; the evidence is the target and the decision. 1.75 does not."""
    state.rounds.append(done(1, "accept", 1.75e12))
    assert stop_reason(state, POLICY) is None
    state.rounds.append(done(2, "accept", 1.85e12))
    assert stop_reason(state, POLICY) == ("target", (state.workspace.targets_seq, 29))
    assert stop_reason(state, policy_named("gpu-wiki", without_stops=("target",))) is None


def test_a_simulation_is_never_at_its_target(state: CampaignState) -> None:
    """Not evaluable."""
    state.rounds.append(done(1, "accept", 1.85e12))
    state.campaign = {"simulated": True}
    assert (evaluation(state), stop_reason(state, POLICY)) == (None, None)
    assert not_evaluable(state) == "the times are simulated"


def test_nothing_accepted_is_not_evaluable(state: CampaignState) -> None:
    """There is no version to judge; with one there is no reason."""
    assert (evaluation(state) is not None, not_evaluable(state)) == (True, "")
    state.rounds = []
    assert (evaluation(state), not_evaluable(state)) == (None, "no version is accepted and measured yet")


def test_above_the_roof_is_never_met(state: CampaignState) -> None:
    """2.1 of 2.0 TB/s is a wrong measurement."""
    state.rounds.append(done(1, "accept", 2.1e12))
    assert (evaluation(state), stop_reason(state, POLICY)) == (None, None)
    assert not_evaluable(state) == "record v1:8192x4096:1: bandwidth of 8192x4096 is 104.9% of its roof"


@pytest.mark.parametrize(("product", "stops"), [(None, True), ("T10", True), ("T10_PRO", False), ("", False)])
def test_another_device_is_never_at_the_target(state: CampaignState, product: str | None, stops: bool) -> None:
    """Times of another product, or of one nobody knows, say nothing about this product's conditions."""
    state.rounds.append(done(1, "accept", 1.85e12))
    state.environments[4] = EnvironmentRecorded("a board", None, None, {}, {}, BLOB, product)
    state.environments[3] = state.environments[9] = EnvironmentRecorded("card", None, None, {}, {}, BLOB, "T10")
    state.environment = state.environments[9]  # the machine in force timed nothing of this version
    assert (evaluation(state) is not None, stop_reason(state, POLICY) is not None) == (stops, stops)
    known = {"T10_PRO": "T10_PRO", "": "a name no page of the wiki has"}.get(product or "", "")
    expected = "" if stops else f"measured on a board ({known}); the conditions are for T10"
    assert not_evaluable(state) == expected


def test_the_machine_in_force_is_not_held_against_earlier_records(state: CampaignState) -> None:
    """The version was timed on the right product."""
    state.rounds.append(done(1, "accept", 1.85e12))
    state.environments[4] = EnvironmentRecorded("card", None, None, {}, {}, BLOB, "T10")
    state.environments[9] = state.environment = EnvironmentRecorded("a board", None, None, {}, {}, BLOB, "")
    assert evaluation(state) is not None


def test_iterations_plateau_and_escalation(state: CampaignState) -> None:
    """Counts of this campaign's rounds; a policy may not know a reason."""
    state.rounds += [done(at, "rollback") for at in range(1, 7)]
    assert stop_reason(state, policy_named("gpu-wiki", max_rounds=6)) == ("iterations", (69,))
    assert stop_reason(state, POLICY) == ("plateau", (19, 29, 39, 49, 59, 69))
    escalating = replace(policy_named("gpu-wiki", without_stops=("plateau",)), escalation_rollbacks=6)
    assert stop_reason(state, escalating) == ("escalated", (69,))
    assert stop_reason(state, policy_named("primus")) is None


def test_a_gain_inside_the_window_is_no_plateau(state: CampaignState) -> None:
    """From 1 to 1.05 TB/s in one of six rounds is growth."""
    state.rounds += [done(at, "rollback") for at in range(1, 6)] + [done(6, "accept", 1.05e12)]
    assert stop_reason(state, POLICY) is None


def test_stagnation_names_the_categories(state: CampaignState) -> None:
    """Two rollbacks in a row are enough; an accepted round ends it."""
    state.rounds += [done(1, "rollback", category="caching")]
    assert stagnant_categories(state, POLICY) == frozenset()
    state.rounds += [done(2, "unverified", category="compute")]
    assert stagnant_categories(state, POLICY) == {"caching", "compute"}
    assert rollbacks_in_a_row(state.rounds) == 2
    state.rounds += [done(3, "accept", 1.2e12)]
    assert stagnant_categories(state, POLICY) == frozenset()


def test_the_median_repeat_stands_for_a_shape() -> None:
    """Of three repeats the middle one."""
    assert representative(done(1, "accept", 1e12))["1024x512"].id == "v1:1024x512:1"
