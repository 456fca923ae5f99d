"""What runs took bounds what is begun within a call's budget."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from kopt_kb.tuning.policy import policy_named
from kopt_kb.tuning.seconds import decision_s, last_s, longest_s, search_end_s, spent_s

POLICY = policy_named("gpu-wiki")
WITHOUT = replace(POLICY, required_gates=tuple(one for one in POLICY.required_gates if one != "launcher"))


def run(gate: str, wall_s: float, outcome: str = "ok") -> Any:
    """A finished run."""
    return SimpleNamespace(started=SimpleNamespace(gate=gate), finished=SimpleNamespace(wall_s=wall_s, outcome=outcome))


def ran(*runs: Any) -> Any:
    """A campaign of one round."""
    return SimpleNamespace(rounds=[SimpleNamespace(runs=dict(enumerate(runs)))])


STATE = ran(
    run("check", 3.0), run("timing", 2.0), run("launcher", 9.0), run("check", 1.0), run("timing", 2.5),
    run("launcher", 4.0), run("launcher", 50.0, "lost"),
)  # fmt: skip


def test_kinds_are_counted_by_what_finished_well() -> None:
    """The longest and the last of each; what never ran takes nothing."""
    assert (longest_s(STATE, "check", "timing"), last_s(STATE, "check", "timing")) == (5.5, 3.5)
    assert (longest_s(STATE, "evidence"), last_s(STATE, "evidence")) == (0.0, 0.0)
    assert spent_s(STATE.rounds[0]) == 71.5


@pytest.mark.parametrize(
    ("policy", "decision", "search"), [(POLICY, 7.5, 15.0), (WITHOUT, 3.5, 19.0)], ids=["launcher", "no launcher"]
)
def test_a_search_leaves_the_seconds_of_a_decision(policy: Any, decision: float, search: float) -> None:
    """Twice the longest check and timing, and the launcher's run where the policy has one."""
    assert decision_s(STATE, policy) == decision
    assert search_end_s(STATE, policy, 30.0) == search


def test_where_a_decision_may_need_all_that_is_left_a_search_is_short() -> None:
    """A tenth of it; without a budget nothing is kept, and before anything ran nothing is known."""
    assert search_end_s(STATE, POLICY, 16.0) == pytest.approx(1.6)
    assert search_end_s(STATE, POLICY, math.inf) == math.inf
    assert (decision_s(ran(), POLICY), search_end_s(ran(), POLICY, 8.0)) == (0.0, 8.0)
