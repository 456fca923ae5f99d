"""Decisions: traces of both policies at exact thresholds, and what holds for any times."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.candidate.answers import Contest, Trust
from kopt_kb.tuning.decision import Decision, GateResult, behind_first, decide, score_pct, untrusted
from kopt_kb.tuning.policy import DEFAULT_POLICY, default_policy, gates_of, policies, policy_named

FOLDER = Path(__file__).parents[2] / "data" / "decisions"


def traces_of(policy: str) -> list[dict[str, Any]]:
    """Return the cases of a policy."""
    documents = (json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.json")))
    return [trace for document in documents if document["policy"] == policy for trace in document["traces"]]


def gates(overrides: Mapping[str, Any], policy: str = DEFAULT_POLICY) -> list[GateResult]:
    """All gates passed but those named."""
    return [GateResult(name, overrides.get(name, "pass")) for name in gates_of(policy_named(policy))]


def times(trace: Mapping[str, Any]) -> tuple[Mapping[str, list[float]], Mapping[str, list[float]]]:
    """Incumbent and candidate times; rates of (forward, backward) become times of one step, three repeats."""
    if "rates" in trace:
        old, new = ({f"s{at}": [(2 / f + 4 / b) / 6] * 3 for at, (f, b) in enumerate(s)} for s in trace["rates"])
        return old, new
    return trace["incumbent"], trace["candidate"]


def hold(policy: str, trace: Mapping[str, Any]) -> None:
    """Times, repeats and gates give the decision and the rule written in the data file."""
    core = trace.get("core_shapes")
    chosen = policy_named(policy, core_shapes=None if core is None else tuple(core))
    old, new = times(trace)
    judged = gates(trace.get("gates", {}), policy)
    found = decide(chosen, old, new, judged, noise_pct=trace.get("noise_pct", 0.0), best=trace.get("best"))
    assert {"decision": found.decision, "rule": found.rule} == trace["expect"]
    if "gain_pct" in trace:
        assert found.gain_pct == pytest.approx(trace["gain_pct"], abs=5e-4)


@pytest.mark.parametrize("trace", traces_of(DEFAULT_POLICY), ids=lambda trace: trace["name"])
def test_traces(trace: Mapping[str, Any]) -> None:
    """What the default policy decides, case by case."""
    hold(DEFAULT_POLICY, trace)


def test_the_policy_has_twenty_traces() -> None:
    """The data file holds enough cases, and their names are unique."""
    names = [trace["name"] for trace in traces_of(DEFAULT_POLICY)]
    assert len(names) >= 20
    assert len(set(names)) == len(names)


def test_percent_changes_are_exact_at_thresholds() -> None:
    """1.05 against 1 is 5 % and 0.95 against 1 is -5 %, not 5.000000000000004."""
    assert (score_pct([1.05], [1.0]), score_pct([0.95], [1.0])) == (5.0, -5.0)
    assert (score_pct([1.02, 1.02], [1.0, 1.0]), score_pct([2.0, 0.5], [1.0, 1.0])) == (2.0, 0.0)


def test_no_score_follows_from_a_missing_time() -> None:
    """A shape without a time, or with zero, has no speedup: it is refused, not left out."""
    for old, new in (([], []), ([1.0, 2.0], [1.0, 0.0]), ([1.0], [float("nan")])):
        with pytest.raises(BadInput, match="positive time of every shape"):
            score_pct(old, new)


def test_unpaired_or_impossible_times_are_refused() -> None:
    """Different numbers of repeats, zero and NaN are bad input, not a decision."""
    policy = default_policy()
    for old, new in (
        ({"a": [1.0, 1.0]}, {"a": [1.0]}),
        ({"a": [0.0]}, {"a": [1.0]}),
        ({"a": [1.0]}, {"a": [float("nan")]}),
    ):
        with pytest.raises(BadInput):
            decide(policy, old, new, gates({}))


POSITIVE = st.floats(min_value=1e-6, max_value=1e-2)


@settings(max_examples=80)
@given(st.lists(st.tuples(POSITIVE, POSITIVE), min_size=1, max_size=4))
def test_what_is_accepted_is_faster_and_spares_core_shapes(pairs: list[tuple[float, float]]) -> None:
    """An accepted candidate has a positive score and no core shape at or beyond the limit; scaling changes nothing."""
    policy = default_policy()
    old = {str(at): [a] * 3 for at, (a, _) in enumerate(pairs)}
    new = {str(at): [b] * 3 for at, (_, b) in enumerate(pairs)}
    found = decide(policy, old, new, gates({}))
    if found.accepted:
        assert found.gain_pct is not None and found.gain_pct > 0
        assert all(-change < policy.regression_limit_pct for change in (found.changes_pct or {}).values())
    doubled = decide(
        policy,
        {s: [2 * t for t in v] for s, v in old.items()},
        {s: [2 * t for t in v] for s, v in new.items()},
        gates({}),
    )
    assert (doubled.decision, doubled.rule) == (found.decision, found.rule)


def test_small_losses_do_not_add_up_behind_the_baseline() -> None:
    """Each loss was within the noise, 2 % behind iteration 0 is the most; other policies do not ask."""
    old, new = {"a": [1.22] * 3, "b": [0.995] * 3}, {"a": [1.0] * 3, "b": [1.0] * 3}
    policy = replace(default_policy(), regression_limit_pct=0.0, first_loss_pct=2.0)
    found = decide(policy, old, new, gates({}), noise_pct=0.6)
    assert found.accepted
    behind = behind_first(policy, found, {"a": 1.0, "b": 0.984})
    assert (behind.decision, behind.rule, behind.reason) == ("rollback", "R3 behind the baseline", "b -2.092 %")
    assert behind_first(policy, found, {"b": 0.986}) == found
    assert behind_first(policy_named("gpu-wiki"), found, {"b": 0.5}) == found


@given(POSITIVE, POSITIVE)
def test_decisions_rest_on_time_alone(old_s: float, new_s: float) -> None:
    """A failed gate is never outvoted by speed."""
    failed = decide(default_policy(), {"a": [old_s]}, {"a": [new_s]}, gates({"correctness": "fail"}))
    assert (failed.decision, failed.gain_pct) == ("rollback", None)


def test_json_holds_all_fields() -> None:
    """The record has the decision, its rule and its numbers."""
    trusting = replace(default_policy(), suspicious_gain_pct=None)
    found = decide(trusting, {"a": [2.0]}, {"a": [1.0]}, gates({}))
    assert found.to_json() == {
        "decision": "accept", "rule": "R3 improved", "reason": "+100.000 %", "gain_pct": 100.0, "changes_pct": {"a": 100.0},
    }  # fmt: skip


def _contested(verdict: str, **more: object) -> Decision:
    contest = Contest(verdict, 0.5, **{"gain_pct": 2.0, "least_pct": 1.5, "most_pct": 2.5, **more})  # type: ignore[arg-type]
    gates = [GateResult(name, "pass") for name in policy_named("gpu-wiki").required_gates]
    old, new = {"8x8": [1.00]}, {"8x8": [0.98]}
    return decide(policy_named("gpu-wiki"), old, new, gates, noise_pct=50.0, contest=contest)


@pytest.mark.parametrize(
    ("verdict", "decision", "rule"),
    [
        ("faster", "accept", "R3 improved"),
        ("not_faster", "rollback", "contest not faster"),
        ("undecided", "rollback", "contest undecided"),
        ("unavailable", "unverified", "contest unavailable"),
    ],
)
def test_a_contest_takes_the_place_of_the_noise_rules(verdict: str, decision: str, rule: str) -> None:
    """One sample a side is enough where a contest was made; its threshold holds the noise already; its gain counts."""
    found = _contested(verdict)
    assert (found.decision, found.rule) == (decision, rule)
    assert found.gain_pct == 2.0


def test_a_contest_without_an_estimate() -> None:
    """The numbers of the times stand for it, and its reason is told."""
    found = _contested("unavailable", gain_pct=None, least_pct=None, most_pct=None, reason="9 of 12 quads were spoiled")
    assert found.gain_pct == pytest.approx(100 / 98 * 100 - 100)
    assert "9 of 12 quads" in found.reason


def test_a_gain_too_good_to_be_believed_is_believed_of_a_contest() -> None:
    """Its samples are many, on contents of their own; a regression of a shape still counts."""
    contest = Contest("faster", 0.5, 60.0, 58.0, 62.0)
    gates = [GateResult(name, "pass") for name in policy_named("gpu-wiki").required_gates]
    old, new = {"8x8": [1.0], "9x9": [1.0]}, {"8x8": [0.3], "9x9": [1.2]}
    found = decide(policy_named("gpu-wiki"), old, new, gates, contest=contest)
    assert (found.decision, found.rule) == ("rollback", "R3 regression")
    assert decide(policy_named("gpu-wiki"), old, {**new, "9x9": [0.9]}, gates, contest=contest).rule == "R3 improved"


@pytest.mark.parametrize("level", ["unstated", "reported", "isolated", "replayed"])
def test_less_trust_than_a_policy_accepts_is_unverified(level: Trust) -> None:
    """Each policy asks for replayed times; the journal's reason names both levels; None asks nothing."""
    for name in policies():
        found = untrusted(policy_named(name), level)
        assert (found is None) == (level == "replayed")
        if found is not None:
            assert (found.decision, found.rule) == ("unverified", "trust")
            assert level in found.reason
            assert "replayed" in found.reason
        assert untrusted(policy_named(name), None) is None
    assert untrusted(replace(default_policy(), least_trust="reported"), level) is None or level == "unstated"


def test_a_gain_that_is_gone_with_uneven_experts() -> None:
    """Is rolled back, whatever the even shapes gain."""
    policy = replace(default_policy(), skewed_shapes=("2x2",), suspicious_gain_pct=None)
    old = {"1x1": [2.0] * 3, "2x2": [1.0] * 3}
    passed = [GateResult(gate, "pass") for gate in policy.required_gates]
    assert decide(policy, old, {"1x1": [1.0] * 3, "2x2": [1.0] * 3}, passed).rule == "R3 skew"
    assert decide(policy, old, {"1x1": [1.0] * 3, "2x2": [0.9] * 3}, passed).accepted
