"""Pairs: plans, quads, what makes one worthless."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kopt_kb.launch.judge.pairs import Pair, TimingPlan, WrongError, _at_one_clock, _clock_gap, _disagree, planned
from kopt_kb.launch.record.clock import Turn

Records = Callable[..., Path]
TURN = Turn((1e-3, 1e-3), (1.7e9, 1.7e9), (2e-3, 2e-3), (2e-3, 2e-3))


def test_a_letter_has_launches_of_its_own_contents(lab: Any, record: Records) -> None:
    """A quad fills two letters' slots once for both sides; the first launch of a letter does not count."""
    folders = (record("plusone__us100"), record("plusone__us50"))
    with Pair.of(lab.judges(), folders, TimingPlan(2, 0)) as pair:
        quad = pair.quad()
    assert lab.reference.filled == 6
    assert {side: len(times) for side, times in quad.times_s.items()} == {"incumbent": 4, "candidate": 4}
    assert quad.value == pytest.approx(-0.693, abs=0.02), "the first launch after a switch takes 8 % more"
    assert not quad.spoiled and not quad.disagrees
    assert len(quad.clocks_hz) == 8


def plan_of(judges: Any, folders: tuple[Path, Path]) -> TimingPlan:
    """Plan, and give back what was loaded for it."""
    with planned(judges, folders) as pair:
        return pair.plan


def test_a_plan_has_as_many_launches_as_a_quad_has_time_for(lab: Any, record: Records) -> None:
    """Long kernels have one launch a letter, those of 4 ms two or three, short ones four."""
    assert plan_of(lab.judges(), (record("plusone__us50000"),) * 2) == TimingPlan(1, 0)
    assert plan_of(lab.judges(), (record("plusone__us6000"),) * 2).launches in {2, 3}
    assert plan_of(lab.judges(), (record("plusone__us20"), record("plusone__us30"))) == TimingPlan(4, 0)
    chained = plan_of(lab.judges(), (record("plusone__us20"), record("plusone__us5")))
    assert (chained.launches, chained.half) == (1, 1 + chained.chain)
    assert chained.chain * 5e-6 >= 50e-6


def test_large_contents_leave_room(lab: Any, record: Records, monkeypatch: pytest.MonkeyPatch) -> None:
    """A plan keeps the slots of a record within a bound of memory."""
    monkeypatch.setattr("kopt_kb.launch.judge.pairs._MOST_CONTENTS_BYTES", 48 * 4)
    assert plan_of(lab.judges(), (record("plusone__us20"),) * 2) == TimingPlan(1, 0)


def test_settling_waits_for_the_clock(lab: Any, record: Records) -> None:
    """Two quads on a steady clock; never settled on one that falls by 5 % between quads."""
    folders = (record("plusone__us100"), record("plusone__us100"))
    with Pair.of(lab.judges(), folders, TimingPlan(1, 0)) as pair:
        assert pair.settle()
        assert lab.reference.filled == 2 * 4
    lab.world.drift = 50.0
    with Pair.of(lab.judges(), folders, TimingPlan(1, 0)) as pair:
        assert not pair.settle()


def test_a_planned_pair_is_loaded_and_nearly_settled(lab: Any, record: Records) -> None:
    """Its last quad says where the clock stands: one more is enough. Only a chain is loaded again."""
    for entry, loads, settling in (("plusone__us100", 2, 1), ("plusone__us5", 4, 2)):
        judges = lab.judges()
        with planned(judges, (record(entry),) * 2) as pair:
            before, filled = judges._number, lab.reference.filled
            assert pair.settle()
            assert (before, judges._number) == (loads, loads)
            assert lab.reference.filled - filled == settling * 2 * pair.plan.half


def test_work_put_off_to_a_launch_that_does_not_count(lab: Any, record: Records) -> None:
    """The output is compared before the side launches again: what a later launch writes there comes too late."""
    folders = (record("plusone__us9"), record("putsoff__us9"))
    with Pair.of(lab.judges(), folders, TimingPlan(1, 0)) as pair, pytest.raises(WrongError) as caught:
        pair.quad()
    assert caught.value.where == "candidate"


def test_a_wrong_discarded_launch_counts(lab: Any, record: Records) -> None:
    """Its output is compared like any other."""
    folders = (record("plusone__us9"), record("remembers__us9"))
    with Pair.of(lab.judges(), folders, TimingPlan(1, 0)) as pair, pytest.raises(WrongError) as caught:
        pair.quad()
    assert caught.value.where == "candidate"


@pytest.mark.parametrize(
    ("clocks", "gap"),
    [
        ([[1.7], [1.7], [1.7], [1.7]], 0.0),
        ([[1.7], [1.6], [1.6], [1.7]], -0.0606),
        ([[1.7], [1.6], [1.5], [1.4]], 0.0),
        ([[0.0], [1.6], [1.6], [1.7]], 0.0),
    ],
)
def test_clocks_of_the_two_sides(clocks: list[list[float]], gap: float) -> None:
    """Apart where A and B ran at other clocks; a clock that falls steadily meets both alike; no probe says nothing."""
    assert _clock_gap("ABBA", clocks) == pytest.approx(gap, abs=0.005)


@pytest.mark.parametrize(
    ("value", "gap", "expected"),
    [
        (-0.01, -0.02, (-0.01, False)),
        (-0.2, -0.06, (-0.2, True)),
        (-3.2, -0.1, (-3.1, False)),
        (-3.2, 0.1, (-3.1, False)),
        (3.2, 0.1, (3.1, False)),
    ],
)
def test_clocks_apart_spoil_what_does_not_exceed_them(value: float, gap: float, expected: tuple[float, bool]) -> None:
    """Under 2 % they are one clock; above, a value of four times the difference counts for the rest of it, else none."""
    assert _at_one_clock(value, gap) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("turn", "stamp_s", "chain", "disagrees"),
    [
        (TURN, 5e-3, 0, False),
        (TURN, 1.9e-3, 0, True),
        (TURN, 5e-3, 40, True),
        (replace(TURN, host_s=(2e-3, 20e-3)), 30e-3, 0, True),
        (replace(TURN, whole_s=(2e-3, 20e-3)), 30e-3, 0, True),
    ],
)
def test_events_against_the_hosts_clock(turn: Turn, stamp_s: float, chain: int, disagrees: bool) -> None:
    """More device time than passed, or far less than the host waited."""
    assert _disagree(turn, stamp_s, chain) is disagrees
