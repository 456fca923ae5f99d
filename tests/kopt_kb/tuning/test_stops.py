"""Stop reasons are decided from the state alone, each by its own rule."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kopt_kb.tuning import stops
from kopt_kb.tuning.policy import policy_named
from kopt_kb.tuning.stops import (
    evaluation,
    not_evaluable,
    representative,
    rollbacks_in_a_row,
    root_cause,
    stagnant_categories,
    stop_reason,
)
from kopt_kb.workspace.journal.campaign_events import CampaignConfirmed
from kopt_kb.workspace.journal.round_events import Decided, HypothesisStated, Measured, SnapshotTaken
from kopt_kb.workspace.journal.setup_events import COPY_PROBE, EnvironmentRecorded, ProfileRead, ReachableMeasured
from kopt_kb.workspace.rounds import ACCEPTED, Round
from kopt_kb.workspace.state import WorkspaceState
from kopt_kb.workspace.workspace import Workspace

AMOUNT = {"8192x4096": 134_225_920, "1024x512": 2_098_176}
POLICY = policy_named("gpu-wiki")
BLOB = "ab" * 32
TIME = "2026-01-31T12:00:00.000000Z"


def done(number: int, decision: str, rate_per_s: float | None = None, category: str = "c") -> Round:
    """A decided round whose candidate moves its bytes at this rate in three repeats."""
    seq, name = 10 * number + 5, f"v{number}"
    said = HypothesisStated(number, category, f"claim {number}", "e", (), "p")
    decided = Decided(number, decision, "p", "r", ())  # type: ignore[arg-type]
    snapshot = SnapshotTaken(number, BLOB, None) if decision in ACCEPTED else None
    measured = {}
    for one, rate in ((f"v{number - 1}", 1e12), (name, rate_per_s)):
        for shape, amount in AMOUNT.items() if rate is not None else ():
            for at in range(3):
                key = f"{one}:{shape}:{at}"
                measured[key] = Measured(key, one, shape, 9, amount / rate * (1 + at / 1000), {}, "r", 4)
    return Round(
        number, TIME, seq, BLOB, hypothesis=said, measured=measured, decided=decided, decided_seq=seq + 4,
        snapshot=snapshot, is_baseline=number == 0,
    )  # fmt: skip


def add(state: WorkspaceState, *rounds: Round) -> None:
    """Let these rounds follow."""
    state.attempts = {**state.attempts, **{one.number: one for one in rounds}}


@pytest.fixture
def state(workspace: Workspace) -> WorkspaceState:
    """A measured campaign after its baseline; the target is 1.8 TB/s."""
    opened = CampaignConfirmed({}, False, "", (), {})
    return replace(workspace.state(), campaign=opened, campaign_seq=4, attempts={0: done(0, "accept", 1e12)})


def test_never_straight_after_the_baseline(state: WorkspaceState) -> None:
    """A baseline that meets everything still gets a round."""
    add(state, done(0, "accept", 1.9e12))
    assert stop_reason(state, POLICY) is None


def test_a_failed_baseline_aborts(state: WorkspaceState) -> None:
    """There is nothing to compare with."""
    add(state, done(0, "rollback"))
    assert stop_reason(state, POLICY) == ("aborted", (9,))


def test_the_target_stops(state: WorkspaceState) -> None:
    """1.85 TB/s meets 1.8 on both shapes; the evidence is the target and the decision. 1.75 does not."""
    add(state, done(1, "accept", 1.75e12))
    assert stop_reason(state, POLICY) is None
    add(state, done(2, "accept", 1.85e12))
    assert stop_reason(state, POLICY) == ("target", (state.targets_seq, 29))
    assert stop_reason(state, policy_named("gpu-wiki", without_stops=("target",))) is None


def test_a_simulation_is_never_at_its_target(state: WorkspaceState) -> None:
    """Not evaluable."""
    add(state, done(1, "accept", 1.85e12))
    state.campaign = CampaignConfirmed({}, True, "", (), {})
    assert (evaluation(state), stop_reason(state, POLICY)) == (None, None)
    assert not_evaluable(state) == "the times are simulated"


def test_nothing_accepted_is_not_evaluable(state: WorkspaceState) -> None:
    """There is no version to judge; with one there is no reason."""
    assert (evaluation(state) is not None, not_evaluable(state)) == (True, "")
    state.attempts = {0: Round(0, TIME)}
    assert (evaluation(state), not_evaluable(state)) == (None, "no version is accepted and measured yet")


def test_above_the_roof_is_never_met(state: WorkspaceState) -> None:
    """4.2 of 2.0 TB/s are below the floor, a wrong measurement: the cache can't have kept that much."""
    add(state, done(1, "accept", 4.2e12))
    assert (evaluation(state), stop_reason(state, POLICY)) == (None, None)
    assert not_evaluable(state) == "record v1:8192x4096:1: bandwidth of 8192x4096 is 209.8% of its roof"


@pytest.mark.parametrize(("product", "is_met"), [(None, True), ("T10", True), ("T10_PRO", False), ("", False)])
def test_another_device_is_never_at_the_target(state: WorkspaceState, product: str | None, is_met: bool) -> None:
    """Times of another product, or of one nobody knows, say nothing about this product's conditions."""
    add(state, done(1, "accept", 1.85e12))
    card = EnvironmentRecorded("card", None, None, {}, {}, BLOB, "T10")
    state.environments = {4: EnvironmentRecorded("a board", None, None, {}, {}, BLOB, product), 3: card, 9: card}
    state.environment = state.environments[9]  # the machine in force timed nothing of this version
    assert (evaluation(state) is not None, stop_reason(state, POLICY) is not None) == (is_met, is_met)
    known = {"T10_PRO": "T10_PRO", "": "a name no page of the wiki has"}.get(product or "", "")
    expected = "" if is_met else f"measured on a board ({known}); the conditions are for T10"
    assert not_evaluable(state) == expected


def test_the_machine_in_force_is_not_held_against_earlier_records(state: WorkspaceState) -> None:
    """The version was timed on the right product."""
    add(state, done(1, "accept", 1.85e12))
    card = EnvironmentRecorded("card", None, None, {}, {}, BLOB, "T10")
    state.environment = EnvironmentRecorded("a board", None, None, {}, {}, BLOB, "")
    state.environments = {4: card, 9: state.environment}
    assert evaluation(state) is not None


@pytest.mark.parametrize(
    ("probe", "rate_per_s", "reason"),
    [
        (COPY_PROBE, 1.6e12, "hardware_limit"),
        (COPY_PROBE, 1.7e12, None),
        ("the package's roles of the same shape", 1.6e12, None),
        ("the package's roles of the same shape", 2.9e12, None),
    ],
)
def test_a_packaged_kernel_is_no_limit_below_our_own_measured_row(
    state: WorkspaceState, monkeypatch: pytest.MonkeyPatch, probe: str, rate_per_s: float, reason: str | None
) -> None:
    own = dict.fromkeys(AMOUNT, 2.8e12)
    monkeypatch.setattr(stops, "_measured_roofs", lambda _: dict(own))
    roofs = {one.shape: one.target.name for one in state.rooflines}
    events = [ReachableMeasured(one, probe, roofs[one], rate_per_s, 1e-3, 9, "r", 4, "") for one in AMOUNT]
    state.reachables = dict(enumerate(events))
    add(state, done(1, "accept", 1.58e12))
    assert (stop_reason(state, POLICY) or (None,))[0] == reason
    if "package" in probe:
        own.clear()
        assert (stop_reason(state, POLICY) or (None,))[0] == ("hardware_limit" if rate_per_s < 2e12 else None)


def test_iterations_plateau_and_escalation(state: WorkspaceState) -> None:
    """Counts of this campaign's rounds; a policy may not know a reason."""
    add(state, *(done(at, "rollback") for at in range(1, 7)))
    assert stop_reason(state, policy_named("gpu-wiki", max_rounds=6)) == ("iterations", (69,))
    assert stop_reason(state, POLICY) == ("plateau", (19, 29, 39, 49, 59, 69))
    escalating = replace(policy_named("gpu-wiki", without_stops=("plateau",)), escalation_rollbacks=6)
    assert stop_reason(state, escalating) == ("escalated", (69,))
    assert stop_reason(state, policy_named("primus")) is None


def test_a_gain_inside_the_window_is_no_plateau(state: WorkspaceState) -> None:
    """From 1 to 1.05 TB/s in one of six rounds is growth."""
    add(state, *(done(at, "rollback") for at in range(1, 6)), done(6, "accept", 1.05e12))
    assert stop_reason(state, POLICY) is None


def test_stagnation_names_the_categories(state: WorkspaceState) -> None:
    """Two rollbacks in a row are enough; an accepted round ends it."""
    add(state, done(1, "rollback", category="caching"))
    assert stagnant_categories(state, POLICY) == frozenset()
    add(state, done(2, "unverified", category="compute"))
    assert stagnant_categories(state, POLICY) == {"caching", "compute"}
    assert rollbacks_in_a_row(state.rounds) == 2
    add(state, done(3, "accept", 1.2e12))
    assert stagnant_categories(state, POLICY) == frozenset()


def test_the_median_repeat_stands_for_a_shape() -> None:
    """Of three repeats the middle one."""
    assert representative(done(1, "accept", 1e12))["1024x512"].id == "v1:1024x512:1"


LOOP = policy_named("cutile", without_stops=("target",))


def test_the_cutile_loop_ends_after_a_small_gain_or_two_rounds_without(state: WorkspaceState) -> None:
    """Under 2 % is accepted and the last; 3 % goes on, with its category last; two rollbacks end it."""
    add(state, done(0, "accept", 1e12), done(1, "accept", 1.03e12, "caching"))
    assert stop_reason(state, LOOP) is None
    add(state, replace(done(1, "accept", 1.03e12, "caching"), measured=_pair("v0", "v1", 1.03)))
    assert stop_reason(state, LOOP) is None
    assert stagnant_categories(state, LOOP) == {"caching"}
    add(state, replace(done(1, "accept", 1.03e12, "caching"), measured=_pair("v0", "v1", 1.06)))
    assert stagnant_categories(state, LOOP) == frozenset()
    add(state, done(2, "rollback"), done(3, "rollback"))
    assert stop_reason(state, LOOP) == ("plateau", (29, 39))
    add(state, replace(done(1, "accept"), measured=_pair("v0", "v1", 1.01)))
    state.attempts = {at: one for at, one in state.attempts.items() if at < 2}
    assert stop_reason(state, LOOP) == ("plateau", (19,))


def _pair(old: str, new: str, gain: float) -> dict[str, Measured]:
    """Records of two versions on both shapes, the new one faster by this factor."""
    found = {}
    for name, factor in ((old, gain), (new, 1.0)):
        for shape in AMOUNT:
            found[f"{name}:{shape}"] = Measured(f"{name}:{shape}", name, shape, 9, factor * 1e-3, {}, "r", 4)
    return found


@pytest.mark.parametrize(
    ("limiter", "cause", "stops"),
    [("tail", "scheduling", True), ("balanced", "unknown", True), ("dram", "memory", False)],
)
def test_a_cause_that_is_scheduling_or_unknown_is_a_persons(
    state: WorkspaceState, limiter: str, cause: str, *, stops: bool
) -> None:
    """By the verdict on the best version; without a profile nothing is escalated."""
    add(state, done(0, "accept", 1e12), replace(done(1, "accept"), measured=_pair("v0", "v1", 1.2)))
    assert stop_reason(state, LOOP) is None
    best = state.best
    assert best is not None and best.snapshot is not None
    profile = ProfileRead("cd" * 32, "ncu", best.snapshot.blob, "x", ({"verdict": {"limiter": limiter}},))
    assert root_cause(profile) == cause
    state = replace(state, profiles={18: profile})
    assert stop_reason(state, LOOP) == (("escalated", (18,)) if stops else None)
    assert stop_reason(state, POLICY) is None
