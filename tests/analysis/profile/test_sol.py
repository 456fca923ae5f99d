"""ncu's Speed-of-Light class, at and around its thresholds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kopt_kb.analysis.profile import (
    SOL_RULE_TITLES,
    ProfiledLaunch,
    ReportPlace,
    StoredRule,
    sol_class,
    stored_sol_class,
)
from kopt_kb.analysis.profile.sol import sol_class_of


def metrics(compute, memory, waves=None):
    found = {"sm_sol_pct": compute, "memory_sol_pct": memory}
    return found if waves is None else {**found, "waves_per_sm": waves}


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (metrics(12.0, 21.0, 0.22), "small_grid"),
        (metrics(12.0, 21.0, 0.999), "small_grid"),
        (metrics(12.0, 21.0, 1.0), "latency"),
        (metrics(59.99, 59.99, 8.0), "latency"),
        (metrics(60.0, 55.0, 8.0), "balanced"),
        (metrics(60.0, 50.0), "compute"),
        (metrics(60.0, 50.01), "balanced"),
        (metrics(25.4, 67.1, 8.98), "memory"),
        (metrics(79.99, 60.0), "compute"),
        (metrics(80.0, 5.0), "high_throughput"),
        (metrics(2.8, 91.3, 0.1), "high_throughput"),
    ],
)
def test_thresholds_are_those_of_the_rule(found, expected):
    """80 % is high, under 60 % is low, a lead of 10 points decides."""
    assert sol_class_of(found) == expected


@pytest.mark.parametrize("found", [{}, {"sm_sol_pct": 90.0}, {"memory_sol_pct": 90.0}, metrics(5.0, 5.0)])
def test_a_missing_metric_leaves_no_class(found):
    """Nothing is guessed from half of the inputs."""
    assert sol_class_of(found) is None


@given(st.floats(0, 110), st.floats(0, 110), st.floats(0, 50))
def test_with_all_metrics_there_is_always_a_class(compute, memory, waves):
    """The rule is total."""
    assert sol_class_of(metrics(compute, memory, waves)) in set(SOL_RULE_TITLES.values())


def test_the_stored_class_is_read_from_the_rules_title():
    """Other rules and unknown titles say nothing."""
    place = ReportPlace("f", "range 0 action 0")
    rules = (
        StoredRule("LaunchConfiguration", "LaunchStats", "Small Grid", "optimization"),
        StoredRule("SOLBottleneck", "SpeedOfLight", "High Memory Throughput", "optimization"),
    )
    assert stored_sol_class(ProfiledLaunch("0", "k", place, rules=rules)) == "memory"
    assert stored_sol_class(ProfiledLaunch("0", "k", place, rules=rules[:1])) is None
    assert sol_class(ProfiledLaunch("0", "k", place, metrics=metrics(10.0, 90.0))) == "high_throughput"
