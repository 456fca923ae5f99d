"""Tests of the stop at the roof: alone, and in the tuners of others, scripted and real where they are installed."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kopt_kb.base.errors import BadInput, MissingTool
from kopt_kb.launch.search.stop import RooflineStop, in_kernel_tuner, in_triton
from kopt_kb.problem.work import work
from kopt_kb.wiki.registry import Registry

TIMES_MS = [4.0, 2.0, math.inf, 1.05, 1.0, 3.0]


def test_the_first_time_near_the_roof_stops_and_the_rest_is_counted() -> None:
    ticks = iter(range(100))
    stop = RooflineStop(1e-3, 0.9, clock=lambda: float(next(ticks)))
    found = [stop.timed(lambda time=time: time * 1e-3) for time in TIMES_MS]
    assert found == pytest.approx([4e-3, 2e-3, math.inf, 1.05e-3, math.inf, math.inf])
    assert (stop.reached, stop.at_s, stop.tried, stop.skipped) == (True, found[3], 4, 2)
    assert stop.saved() == "stopped at 95.2 % of the roof after 4 configurations; 2 not tried, about 2.0 s"


def test_a_stop_that_nothing_reaches_says_so() -> None:
    stop = RooflineStop(1e-3, 0.99)
    assert [stop.observe(time * 1e-3) for time in TIMES_MS[:4]] == [False] * 4
    assert stop.saved() == "not stopped: 95.2 % of the roof after 4 configurations, 99.0 % wanted"
    assert RooflineStop(1.0).saved() == "not stopped: none of the roof after 0 configurations, 95.0 % wanted"


@pytest.mark.parametrize(("floor_s", "share"), [(0.0, 0.9), (math.nan, 0.9), (1.0, 0.0), (1.0, 1.01), (math.inf, 0.5)])
def test_a_floor_or_share_that_means_nothing_is_refused(floor_s: float, share: float) -> None:
    with pytest.raises(BadInput, match="make no stop"):
        RooflineStop(floor_s, share)


def test_the_floor_of_a_roofline_is_the_longest_time_under_documented_roofs() -> None:
    from kopt_kb import roofline

    found = roofline(work("rms_norm", (8192, 4096), "bf16"), Registry.open().platform("H100_SXM"))
    stop = RooflineStop.under(found, 0.9)
    moved = 2 * 8192 * 4096 * 2
    assert stop.floor_s == pytest.approx(moved / float(found.memory.documented.value_si), rel=0.01)  # type: ignore[union-attr]


class Jitted:
    """A kernel whose time a configuration names; it counts its runs."""

    def __init__(self) -> None:
        self.ran: list[int] = []

    def fn(self, x: object, block: int) -> None: ...

    def run(self, *_: object, block: int, **__: object) -> None:
        self.ran.append(block)


def autotuner(kernel: Jitted) -> Any:
    """Return Triton's own autotuner over a scripted kernel: the time of a configuration is its block, in milliseconds."""
    triton = pytest.importorskip("triton")

    def bench(call: Any, quantiles: object) -> list[float]:
        call()
        return [float(kernel.ran[-1])] * 3

    configs = [triton.Config({"block": block}) for block in (4, 2, 1, 3)]
    return triton.runtime.Autotuner(
        SimpleNamespace(fn=Jitted.fn, run=kernel.run), ["x"], configs, [], None, None, do_bench=bench
    )


def test_an_autotuner_of_triton_neither_compiles_nor_runs_what_comes_after() -> None:
    kernel, stop = Jitted(), RooflineStop(2e-3, 0.95)
    tuner = autotuner(kernel)
    with in_triton(stop, tuner):
        tuner.run(1)
    assert kernel.ran == [4, 2, 2]  # the last one is the call itself, with the best
    assert tuner.best_config.kwargs == {"block": 2}
    assert (stop.tried, stop.skipped) == (2, 2)
    tuner.cache.clear()
    tuner.run(1)
    assert kernel.ran[3:] == [4, 2, 1, 3, 1]  # without the stop all are tried


def test_what_is_no_autotuner_is_refused() -> None:
    with pytest.raises(BadInput, match="no autotuner of Triton"), in_triton(RooflineStop(1.0), print):
        pass


BUDGET = """
class StopCriterionReached(Exception): ...
class TuningBudget:
    def is_done(self): return False
    def raise_exception_if_done(self): return None
"""


@pytest.fixture
def kernel_tuner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Yield a stand-in of `kernel_tuner.util` with its budget."""
    folder = tmp_path / "kernel_tuner"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "strategies").mkdir()
    (folder / "strategies" / "__init__.py").write_text("")
    (folder / "strategies" / "brute_force.py").write_text("def tune(space): return [{'time': 1.05}, None, None]\n")
    (folder / "util.py").write_text(BUDGET)
    monkeypatch.syspath_prepend(tmp_path)
    for name in [name for name in sys.modules if name.partition(".")[0] == "kernel_tuner"]:
        monkeypatch.delitem(sys.modules, name)
    import importlib

    yield importlib.import_module("kernel_tuner.util")
    for name in [name for name in sys.modules if name.partition(".")[0] == "kernel_tuner"]:
        del sys.modules[name]


def test_a_budget_of_kernel_tuner_is_spent_once_the_roof_is_reached(kernel_tuner: Any) -> None:
    stop, budget = RooflineStop(1e-3, 0.9), kernel_tuner.TuningBudget()
    with in_kernel_tuner(stop, {"own": "time * 2"}) as metrics:
        assert list(metrics) == ["own", "share of roof"]
        assert metrics["share of roof"]({"time": 2.0}) == 0.5
        assert not budget.is_done()
        budget.raise_exception_if_done()
        metrics["share of roof"]({"time": 1.05})
        assert budget.is_done()
        with pytest.raises(kernel_tuner.StopCriterionReached, match="stopped at 95.2 % of the roof"):
            budget.raise_exception_if_done()
    assert not budget.is_done()


def test_what_brute_force_did_not_try_is_counted_and_dropped(kernel_tuner: Any) -> None:
    import importlib

    every, stop = importlib.import_module("kernel_tuner.strategies.brute_force"), RooflineStop(1e-3, 0.9)
    with in_kernel_tuner(stop) as metrics:
        (found,) = every.tune(None)
        metrics["share of roof"](found)
    assert stop.saved() == "stopped at 95.2 % of the roof after 1 configurations; 2 not tried"
    assert len(every.tune(None)) == 3


def test_without_kernel_tuner_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(MissingTool, match="kernel_tuner is not installed"), in_kernel_tuner(RooflineStop(1.0)):
        pass
