"""Chains timed on the host: they agree with honest events, and not with others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kopt_kb.launch.judge.host_check import host_check
from kopt_kb.launch.judge.pairs import Pair, TimingPlan

Records = Callable[..., Path]


@pytest.mark.parametrize(
    ("events", "agrees"), [(-0.105, True), (-0.09, True), (-0.8, False), (-0.35, False), (-0.02, True)]
)
def test_the_hosts_ratio(lab: Any, record: Records, events: float, agrees: bool) -> None:
    """100 and 90 µs: the flush between launches is subtracted; what shows more than the events refutes nothing."""
    judges = lab.judges()
    with Pair.of(judges, (record("plusone__us100"), record("plusone__us90")), TimingPlan(1, 0)) as pair:
        pair.quad()
        found = host_check(judges, pair, "4", events)
    assert found.host == pytest.approx(-0.105, abs=0.01)
    assert found.agrees is agrees


def test_chains_have_no_flush(lab: Any, record: Records) -> None:
    """The graph of a chain, less the empty one."""
    judges = lab.judges()
    with Pair.of(judges, (record("plusone__us5"), record("plusone__us4")), TimingPlan(1, 12)) as pair:
        pair.quad()
        found = host_check(judges, pair, "4", -0.22)
    assert found.host == pytest.approx(-0.288, abs=0.02), "4 - 1 µs of 5 - 1 µs"
    assert found.agrees


def test_no_time_at_all(lab: Any, record: Records, monkeypatch: pytest.MonkeyPatch) -> None:
    """A chain with the steps takes no longer than one without: nothing agrees with that."""
    monkeypatch.setattr("kopt_kb.launch.judge.host_check._MOST_REPEATS", 16)
    judges = lab.judges()
    with Pair.of(judges, (record("plusone__us0"), record("plusone__us0")), TimingPlan(1, 0)) as pair:
        found = host_check(judges, pair, "4", -0.1)
    assert not found.agrees


def test_a_slow_side_is_not_repeated_for_a_fast_one(lab: Any, record: Records) -> None:
    """Each chain takes its 20 ms: one launch of 35 ms and sixteen of 1.4 ms, not sixteen of both."""
    judges = lab.judges()
    with Pair.of(judges, (record("plusone__us35000"), record("plusone__us1400")), TimingPlan(1, 0)) as pair:
        pair.quad()
        begin = lab.world.now
        found = host_check(judges, pair, "4", -3.2)
        took_s = lab.world.now - begin
    assert found.host == pytest.approx(-3.219, abs=0.02)
    assert found.agrees
    assert took_s < 1.6, "2.1 s with as many launches of both"
