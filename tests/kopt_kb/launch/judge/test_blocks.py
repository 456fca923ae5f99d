"""Two revisions held against each other on simulated devices: what is slower, what is not timed, what says nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import canonical, parse, read
from kopt_kb.launch.judge.blocks import ComparedKernel, compare_records, is_same_kernel

Records = Callable[..., Path]


@pytest.fixture(autouse=True)
def _few_quads(monkeypatch: pytest.MonkeyPatch) -> None:
    """A simulated quad costs as much as a real one: five and four a block are enough to see what is decided."""
    monkeypatch.setattr("kopt_kb.launch.judge.blocks._FIRST", (5, 4))
    monkeypatch.setattr("kopt_kb.launch.judge.blocks._MOST_QUADS", 10)


def _compared(lab: Any, record: Records, base: str, head: str, **more: Any) -> ComparedKernel:
    judges = lab.judges()
    try:
        return compare_records(judges, record(base), record(head), **more)
    finally:
        judges.end()


@pytest.mark.parametrize(
    ("head", "verdict", "ratio"),
    [("us102", "regression", 1.02), ("us100", "no_regression", 1.0), ("us90", "no_regression", 0.9)],
)
def test_a_slower_head_is_found(lab: Any, record: Records, head: str, verdict: str, ratio: float) -> None:
    """By 2 % in blocks of fresh processes; an equal or faster one passes; the document reads back."""
    found = _compared(lab, record, "plusone__us100", f"plusone__{head}", kernels=4)
    assert found.verdict == verdict, found.reason
    assert found.ratio == pytest.approx(ratio, abs=0.005)
    assert [one.swapped for one in found.blocks][:4] == [True, False, True, False]
    assert {len(one.head) for one in found.blocks} == {5} and {len(one.itself) for one in found.blocks} == {4}
    assert len(lab.started) == 2 * len(found.blocks), "two fresh processes a block"
    assert found.base_s == pytest.approx(100e-6, rel=0.01)
    assert read(ComparedKernel, parse(canonical(found.to_json()))) == found
    assert f"after {len(found.blocks)} blocks" in found.reason


def test_places_that_a_pair_of_processes_keeps_are_no_regression(lab: Any, record: Records) -> None:
    """Each allocation moves a kernel by up to a percent: an equal kernel does not fail."""
    lab.world.placement = 0.01
    assert _compared(lab, record, "plusone__us100", "plusone__us100").verdict != "regression"


def test_noisy_quads_get_more_of_the_time(lab: Any, record: Records) -> None:
    """Blocks behind the first have as many as fit, and a regression is found all the same."""
    lab.world.noise = 0.15
    found = _compared(lab, record, "plusone__us100", "plusone__us160")
    assert found.verdict == "regression", found.reason
    assert {(len(one.head), len(one.itself)) for one in found.blocks[1:]} == {(10, 4)}


def test_a_side_that_gains_over_itself_says_nothing(lab: Any, record: Records, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every second process is 1 % slower: the base against itself shows it, and nothing passes."""
    judge = lab._judge

    def slowed() -> Any:
        made = judge()
        lab.started[-1].forged = 1.0 if len(lab.started) % 2 else 1.01
        return made

    monkeypatch.setattr(lab, "_judge", slowed)
    found = _compared(lab, record, "plusone__us1000", "plusone__us1000")
    assert found.verdict == "undecided"
    assert found.floor is not None and abs(found.floor.mean) == pytest.approx(0.01, abs=0.003)


@pytest.mark.parametrize(
    ("base", "head", "verdict", "words"),
    [
        ("plusone__us100", "wrong__us50", "wrong", "head: differs from the reference"),
        ("plusone__us100", "fault__us50", "fault", "head: "),
        ("plusone__us100", "refused__us50", "fault", "head: "),
        ("wrong__us100", "plusone__us50", "undecided", "base: differs"),
        ("fault__us100", "plusone__us50", "undecided", "base: "),
    ],
)
def test_what_ends_a_comparison(lab: Any, record: Records, base: str, head: str, verdict: str, words: str) -> None:
    """Whichever process holds it: a head that is wrong or faults fails, of a base nothing is known."""
    found = _compared(lab, record, base, head)
    assert found.verdict == verdict and words in found.reason
    assert found.ratio is None and found.floor is None


def test_time_that_is_over_is_undecided(lab: Any, record: Records) -> None:
    """No block is begun that would not end in time."""
    found = _compared(lab, record, "plusone__us100", "plusone__us102", seconds=0.02)
    assert (found.verdict, found.looks) == ("undecided", ())
    assert "of 12 blocks in 0.02 s: too few for a look" in found.reason


@pytest.mark.parametrize("how", ["hot", "forged"])
def test_quads_that_say_nothing(lab: Any, record: Records, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    """Thermal slowdown, or events that claim more than passed: undecided, however long it goes on."""
    lab.world.throttle = ("hardware thermal",) if how == "hot" else ()
    judge = lab._judge

    def forging() -> Any:
        made = judge()
        lab.started[-1].forged = 1000.0 if how == "forged" else 1.0
        return made

    monkeypatch.setattr(lab, "_judge", forging)
    found = _compared(lab, record, "plusone__us100", "plusone__us100")
    assert found.verdict == "undecided"
    assert "were spoiled by the clock" in found.reason


def test_what_is_the_same_kernel(record: Records, fake: Any) -> None:
    """Equal steps and code, whatever they are called; another entry or geometry is another kernel."""
    one, again = record("plusone__us100"), record("plusone__us100")
    assert is_same_kernel(one, again)
    assert not is_same_kernel(one, record("plusone__us101"))
    assert not is_same_kernel(one, record("plusone__us100", 40, shape=(8,)))


def test_two_problems_are_refused(lab: Any, record: Records) -> None:
    """Before anything starts."""
    with pytest.raises(BadInput, match="two problems"):
        compare_records(lab.judges(), record("plusone__us9"), record("plusone__us9", 40, shape=(8,)))
    assert not lab.started
