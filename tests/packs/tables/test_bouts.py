"""Two settings held against each other on a simulated device."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kopt_kb.base.errors import MissingTool
from kopt_kb.base.wire import canonical, parse, read
from kopt_kb.launch.judge.blocks import ComparedKernel
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
    ("head", "verdict", "change"),
    [(FAST, "faster", -3.0), (SLOW, "slower", 4.0), ({**ROW, "GROUP_SIZE_M": 16}, "equal", 0.0)],
    ids=["faster", "slower", "equal"],
)
def test_a_verdict_with_its_interval(bouts: Bouts, head: Any, verdict: str, change: float) -> None:
    """In fresh processes; the document reads back."""
    found = bouts.bout(8, ROW, head)
    assert (found.verdict, found.blocks) == (verdict, 6)
    assert found.change_pct == pytest.approx(change, abs=0.2)
    assert found.least_pct is not None and found.most_pct is not None
    assert found.least_pct < found.change_pct < found.most_pct
    assert found.base_s == pytest.approx(1e-4) and found.head_s == pytest.approx(1e-4 * (1 + change / 100), rel=1e-6)
    assert read(Bout, parse(canonical(found.to_json()))) == found


def test_where_memory_lies_moves_both_by_more_than_their_difference(bouts: Bouts, simulated: Device) -> None:
    """Of 3 % nothing is said where each pair of processes is off by twice that: it came from where things lay."""
    simulated.placement = 0.06
    found = [bouts.bout(8, ROW, FAST).verdict for _ in range(5)]
    assert found.count("undecided") >= 3 and "slower" not in found


@pytest.mark.parametrize(
    ("base", "head", "verdict", "says"),
    [
        (ROW, BROKEN, "fault", "can't be recorded"),
        (BROKEN, ROW, "undecided", "the other can't be recorded"),
        (ROW, WRONG, "wrong", "differs from the reference"),
        (WRONG, ROW, "undecided", "base: differs"),
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


def test_what_a_comparison_may_answer_besides(bouts: Bouts, simulated: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault of the second; of the first, or no look in time, nothing is said."""
    for verdict, said in (("fault", "fault"), ("undecided", "undecided")):
        monkeypatch.setattr(simulated, "difference", lambda *_, verdict=verdict: ComparedKernel(verdict, "hung"))
        assert bouts.bout(8, ROW, FAST) == Bout(said, "hung")  # type: ignore[arg-type]


def test_what_a_row_leaves_out_is_what_a_launch_has() -> None:
    """Four warps and three stages."""
    bare = {name: one for name, one in ROW.items() if not name.startswith("num")}
    assert same_settings(bare, ROW) and not same_settings(bare, FAST)
