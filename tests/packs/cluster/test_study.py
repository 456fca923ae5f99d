"""Claims about a search that processes share: each configuration counted once, what a dead one was at given back."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import pytest

from kopt_kb.base.errors import MissingTool
from kopt_kb.packs.cluster.study import SharedStudy

KNOBS = {"A": [1, 2, 3, 4], "B": ["x", "y"]}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where the study lies."""
    pytest.importorskip("optuna", reason="optuna is not installed: pip install 'kopt-kb[tune]'")
    return tmp_path / "study.log"


def told(study: SharedStudy, most: int) -> list[dict[str, object]]:
    """Answer all that is asked; B = y does not work."""
    seen = []
    for config, tell in study.asked(most):
        seen.append(config)
        tell(float(str(config["A"])) if config["B"] == "x" else math.inf)
    return seen


def test_two_processes_do_nothing_twice(file: Path) -> None:
    """A whole space, half asked by each; both see all answers."""
    first, second = SharedStudy(file, KNOBS, 1, "0.1"), SharedStudy(file, KNOBS, 2, "1.1")
    first.put({"A": a, "B": b} for a in KNOBS["A"] for b in KNOBS["B"])
    asked = first.asked(8)
    mine = [next(asked)[0] for _ in range(3)]
    others = told(second, 8)
    assert len(others) == 5
    assert not any(one in others for one in mine)
    assert first.give_back("0.1") == 3
    assert told(second, 8) == mine
    assert [value for value, _ in first.ranked()][:4] == [1.0, 2.0, 3.0, 4.0]
    assert len(first.ranked()) == len(first.counted()) == 8
    assert first.is_over(8)


def test_a_strategy_that_asks_again_is_told_what_is_known(file: Path) -> None:
    """A space of eight with more wanted: it ends, and nothing is counted twice."""
    study = SharedStudy(file, KNOBS, 1, "0.1")
    seen = told(study, 100)
    assert len(seen) == len({tuple(one.items()) for one in seen}) == len(study.counted()) == 8


def test_what_ended_two_askers_is_no_good(file: Path) -> None:
    """It is told to be, and waits no more."""
    study = SharedStudy(file, KNOBS, 1, "0.1")
    study.put([{"A": 3, "B": "x"}])
    assert next(study.asked(1))[0] == {"A": 3, "B": "x"}
    assert study.give_back("0.1") == 1
    again = SharedStudy(file, KNOBS, 1, "0.2")
    assert next(again.asked(1))[0] == {"A": 3, "B": "x"}
    assert study.give_back("0.2") == 0
    assert study.ranked() == [(math.inf, {"A": 3, "B": "x"})]
    assert study.is_over(1)


def test_a_value_that_no_knob_has_does_not_wait(file: Path) -> None:
    """What a shape has may come from elsewhere."""
    study = SharedStudy(file, KNOBS, 1, "0.1")
    study.put([{"A": 9, "B": "x"}, {"B": "x"}, {"A": 1, "B": "x", "more": 1}])
    assert told(study, 1) == [{"A": 1, "B": "x"}]


def test_without_optuna_it_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the extra's name."""
    monkeypatch.setitem(sys.modules, "optuna", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(MissingTool, match="optuna is not installed"):
        SharedStudy(tmp_path / "s", KNOBS, 1)
