"""Two settings held against each other on a simulated device."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kopt_kb.base.errors import MissingTool
from kopt_kb.base.wire import canonical, parse, read
from kopt_kb.launch.candidate.answers import Contest
from kopt_kb.launch.judge.judging import Contested
from kopt_kb.launch.judge.shelf import RecordTarget
from kopt_kb.packs.tables.bouts import Bout, Bouts, Layer, same_settings
from kopt_kb.packs.tables.moe_launch import Assumed
from kopt_kb.packs.tables.routing import BALANCED
from tests.packs.tables.simulated import ENGINE, ROW, Device
from tests.packs.tables.test_moe_problem import problem

FAST, SLOW = {**ROW, "num_warps": 8}, {**ROW, "num_warps": 2}
BROKEN = {**ROW, "num_stages": 9}
WRONG = {**ROW, "num_stages": 7}
COSTS = {4: 1.0e-4, 8: 0.97e-4, 2: 1.04e-4}


@pytest.fixture
def bouts(simulated: Device, tmp_path: Path) -> Iterator[Bouts]:
    """Warps decide; 7 stages are wrong, 9 can't be recorded."""

    def cost(settings: Any, tokens: int) -> float:
        return {9: -1.0, 7: 0.0}.get(settings["num_stages"], COSTS[settings["num_warps"]])

    simulated.cost = cost
    layer = Layer(problem().layer.table, ENGINE, Assumed(256, 2), BALANCED)
    made = Bouts(layer, RecordTarget("sm_90", "H200_SXM"), simulated, tmp_path / "work")
    (tmp_path / "work").mkdir()
    with made:
        yield made


@pytest.mark.parametrize(
    ("head", "verdict", "change", "contests", "fresh"),
    [(FAST, "faster", -3.0, 2, 1), (SLOW, "slower", 4.0, 3, 1), ({**ROW, "GROUP_SIZE_M": 16}, "equal", 0.0, 2, 0)],
    ids=["faster", "slower", "equal"],
)
def test_a_verdict_with_its_interval(
    bouts: Bouts, simulated: Device, head: Any, verdict: str, change: float, contests: int, fresh: int
) -> None:
    """What somebody would act on is decided again in fresh processes; the document reads back."""
    found = bouts.bout(8, ROW, head)
    assert (found.verdict, found.contests, simulated.refreshed) == (verdict, contests, fresh)
    assert found.change_pct == pytest.approx(change, abs=0.2)
    assert found.least_pct is not None and found.most_pct is not None
    assert found.least_pct < found.change_pct < found.most_pct
    assert found.base_s == pytest.approx(1e-4) and found.head_s == pytest.approx(1e-4 * (1 + change / 100), rel=1e-6)
    assert read(Bout, parse(canonical(found.to_json()))) == found


@pytest.mark.parametrize(("head", "first"), [(FAST, "faster"), (SLOW, "slower")], ids=["faster", "slower"])
def test_a_decision_that_fresh_processes_do_not_take_again(
    bouts: Bouts, simulated: Device, head: Any, first: str
) -> None:
    """It came from where things lay in memory: nothing is said."""
    simulated.fresh = {1: -0.05}
    found = bouts.bout(8, ROW, head)
    assert found.verdict == "undecided" and found.reason.startswith(f"{first} at first, and not in fresh processes")


@pytest.mark.parametrize(
    ("base", "head", "verdict", "says"),
    [
        (ROW, BROKEN, "fault", "can't be recorded"),
        (BROKEN, ROW, "undecided", "the other can't be recorded"),
        (ROW, WRONG, "wrong", "differs from the reference"),
        (WRONG, ROW, "undecided", "the other: differs"),
        (ROW, {**ROW, "BLOCK_SIZE_M": 24}, "fault", "BLOCK_SIZE_M is 24"),
        (ROW, {**ROW, "num_ctas": 1}, "equal", "the same settings"),
    ],
    ids=["head breaks", "base breaks", "head is wrong", "base is wrong", "no such tile", "the same"],
)
def test_what_is_not_timed(bouts: Bouts, base: Any, head: Any, verdict: str, says: str) -> None:
    """The second side's fault is its verdict, of the first side's nothing is known."""
    found = bouts.bout(8, base, head)
    assert found.verdict == verdict and says in found.reason


def test_each_is_recorded_once(bouts: Bouts, simulated: Device) -> None:
    """For each number of tokens."""
    bouts.record([(8, ROW), (8, ROW), (16, ROW)])
    bouts.record([(8, ROW)])
    assert (len(simulated.settings), bouts.recorded) == (2, 2)


def test_no_compiler_is_nobodys_setting(bouts: Bouts, simulated: Device) -> None:
    """The run ends with that."""
    simulated.missing = True
    with pytest.raises(MissingTool, match="no triton"):
        bouts.bout(8, ROW, FAST)


def test_what_a_contest_may_answer_besides(bouts: Bouts, simulated: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """Too much was dropped, or there were no bounds; a fault in the way back or in fresh processes."""
    said: list[Contested] = []
    monkeypatch.setattr(simulated, "contest", lambda *_: said.pop(0))

    def contest(verdict: Any, *bounds: float | None) -> Contested:
        return Contested(Contest(verdict, 0.5, *bounds))

    said[:] = [contest("unavailable")]
    assert bouts.bout(8, ROW, FAST) == Bout("undecided", "", contests=1)
    said[:] = [contest("not_faster", 0.0, -1.0, 0.1), contest("undecided", 0.2)]
    assert bouts.bout(8, ROW, FAST).verdict == "undecided"
    for first in ([contest("not_faster")], [contest("faster")], [contest("not_faster"), contest("faster")]):
        said[:] = [*first, Contested(problem="candidate: hung")]
        assert bouts.bout(8, ROW, FAST).verdict in {"fault", "undecided"}
    said[:] = [contest("not_faster", 0.0, -1.0, 0.1), contest("not_faster", 0.0, None, 0.3)]
    assert bouts.bout(8, ROW, FAST).most_pct == pytest.approx(0.3)


def test_what_a_row_leaves_out_is_what_a_launch_has() -> None:
    """Four warps and three stages."""
    bare = {name: one for name, one in ROW.items() if not name.startswith("num")}
    assert same_settings(bare, ROW) and not same_settings(bare, FAST)
