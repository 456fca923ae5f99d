"""Rankings, confirmations and floors on simulated devices."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kopt_kb.errors import FindingError
from kopt_kb.runners.replay.rank import FINALISTS, confirm, measure_floor, rank

Records = Callable[..., Path]


def test_the_fastest_comes_first_and_the_wrong_last(lab: Any, record: Records) -> None:
    """Each kind of failure says its problem; the children that faults ended are replaced."""
    words = [
        "plusone__us30",
        "wrong__us1",
        "plusone__us10",
        "fault__us1",
        "refused__us1",
        "plusone__us20",
        "beyond__us1",
    ]
    ranked = rank(lab.judges(), [{"4": record(one)} for one in words])
    assert [one.number for one in ranked[:3]] == [2, 5, 0]
    assert [one.stage for one in ranked[:3]] == ["winner", "final", "final"]
    assert ranked[0].time_s == pytest.approx(10e-6, rel=0.02)
    problems = {one.number: one.problem for one in ranked[3:]}
    assert problems.keys() == {1, 3, 4, 6}
    assert "differs" in problems[1] and "ILLEGAL_ADDRESS" in problems[3] and "INVALID_IMAGE" in problems[4]
    assert "were written" in problems[6]
    assert all(one.time_s is None for one in ranked[3:])


def test_only_finalists_are_timed_again(lab: Any, record: Records) -> None:
    """Of ten, eight; the others keep the times of the search."""
    ranked = rank(lab.judges(), [{"4": record(f"plusone__us{10 + one}")} for one in range(10)])
    assert [one.number for one in ranked] == list(range(10))
    assert [one.stage for one in ranked] == ["winner"] + ["final"] * (FINALISTS - 1) + ["search"] * 2


def test_a_finalist_that_is_seldom_wrong(lab: Any, record: Records) -> None:
    """Found when it is timed again: it falls behind."""
    ranked = rank(lab.judges(), [{"4": record("seldom__us5")}, {"4": record("plusone__us10")}], samples=2)
    assert [one.number for one in ranked] == [1, 0]
    assert "differs" in ranked[1].problem


def test_one_candidate_and_none(lab: Any, record: Records) -> None:
    """Nothing to compare with, and nothing at all."""
    (only,) = rank(lab.judges(), [{"4": record("plusone__us10"), "8": record("plusone__us40")}])
    assert only.time_s == pytest.approx(20e-6, rel=0.02)
    assert rank(lab.judges(), []) == ()


def test_a_reference_that_fails_ends_a_ranking(lab: Any, record: Records) -> None:
    """It is nobody's fault among the candidates."""
    judges = lab.judges()
    judges._file = Path("failing.py")
    with pytest.raises(FindingError) as caught:
        rank(judges, [{"4": record("plusone__us10")}])
    assert caught.value.error_code == "KB453"


def test_confirmation_in_fresh_processes(lab: Any, record: Records) -> None:
    """Three contests, each with judges of its own; all have to accept."""
    old, new = {"4": record("plusone__us100")}, {"4": record("plusone__us95")}
    good = confirm(lab.judges(), old, new)
    assert good.confirmed and len(good.contests) == 3
    assert good.ratio == pytest.approx(0.95, abs=0.005)
    assert len(lab.started) == 6
    bad = confirm(lab.judges(), old, {"4": record("wrong__us50")}, times=2)
    assert (bad.confirmed, bad.ratio) == (False, None)


def test_the_floor_is_what_a_kernel_gains_over_itself(lab: Any, record: Records) -> None:
    """Small where nothing differs; without a look there is none."""
    floor = measure_floor(lab.judges(), {"4": record("plusone__us100")})
    assert 0 < floor < 0.005
    assert len(lab.started) == 6
    with pytest.raises(FindingError, match="no floor: incumbent"):
        measure_floor(lab.judges(), {"4": record("wrong__us100")})
