"""Searches measure only what can launch; what a pruner refuses costs no device time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from kopt_kb.base.wire import read
from kopt_kb.launch.candidate.job import PruningRules, Request, SpaceAsked
from kopt_kb.launch.candidate.search import run_search
from kopt_kb.launch.candidate.search_pruning import SearchPruner, pruner_of, pruning_rules
from kopt_kb.launch.counts.limits import limits_of
from kopt_kb.launch.counts.pruning import PruneOptions, op_cases
from kopt_kb.wiki.registry import Registry

MATMUL = Path(__file__).parents[4] / "kernels" / "matmul.py"
SHAPE = "1024x1024x1024"
SMALL = {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32, "num_warps": 4, "num_stages": 2}
SPACE = {"BLOCK_K": [32, 128], "num_stages": [2, 5]}
H200 = Registry.open().platform("H200_SXM")


def rules(**more: object) -> PruningRules:
    """What a campaign on an H200 sends along, with time enough to compile on a busy machine."""
    return replace(pruning_rules(H200), **{"seconds": 3600.0, **more})


def body(**more: object) -> Request:
    """One shape of a product whose space has configurations beyond an SM's shared memory."""
    one = SpaceAsked({**SMALL, "BLOCK_N": 256}, SPACE, SMALL)
    return replace(Request(spaces={SHAPE: one}, evaluations=20, seconds=3600.0, seed=1), **more)


def shared_bytes(config: Mapping[str, Any]) -> int:
    """Two bf16 tiles a stage: what the pipeline holds at least with one stage less."""
    tiles = config["BLOCK_K"] * (config["BLOCK_M"] + config["BLOCK_N"])
    return 2 * tiles * (config["num_stages"] - 1)


@pytest.mark.triton
def test_beyond_the_sourced_limit_nothing_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    """64x256x128 in five stages needs 320 KiB, more than the page of the H200 gives a block."""
    pytest.importorskip("triton")
    limit = limits_of(H200).shared_memory_per_block
    assert limit is not None
    measured: list[Mapping[str, Any]] = []

    def evaluate(_: str, config: Mapping[str, Any]) -> float:
        measured.append(config)
        return 1.0 / config["BLOCK_K"]

    pruner = pruner_of(rules(), MATMUL, "bf16")
    assert isinstance(pruner, SearchPruner)
    with pruner:
        found = run_search(body(), evaluate, pruner=pruner).shapes[SHAPE]
    every = [{**SMALL, "BLOCK_N": 256, **dict(zip(SPACE, values, strict=True))} for values in product(*SPACE.values())]
    beyond = [one for one in every if shared_bytes(one) > limit]
    assert beyond
    assert not [one for one in measured if one in beyond]
    assert found.pruning == "on"
    assert found.pruned["shared_memory"] >= len(beyond)
    assert found.asked == 1 + 4 == found.evaluated + sum(found.pruned.values())
    assert (found.evaluated, found.unjudged, found.failed) == (len(measured), 0, 0)
    assert "<gpu-wiki>/targets/sm_90.md" in capsys.readouterr().out


class Keeping:
    """A pruner without objections that remembers its batches; it may refuse some configurations."""

    def __init__(self, batch: int = 3, refuse: Callable[[Mapping[str, object]], str | None] = lambda _: "") -> None:
        self.batch, self.refuse, self.batches = batch, refuse, list[int]()

    def admit(self, shape: str, config: Mapping[str, object]) -> str:
        """Every shape is admitted."""
        self.admitted = (shape, config)
        return ""

    def judge(self, shape: str, configs: Sequence[Mapping[str, object]]) -> list[str | None]:
        """Return its word on each."""
        self.batches.append(len(configs))
        return [self.refuse(one) if shape else "" for one in configs]


LARGE = {"a": list(range(1, 9)), "b": list(range(8))}


def cost(_: str, config: Mapping[str, Any]) -> float:
    """Best at 5, 3."""
    return 1.0 + abs(config["a"] - 5) + abs(config["b"] - 3)


def plain(space: Mapping[str, Sequence[object]], evaluations: int) -> Request:
    """One shape whose start is the corner."""
    one = SpaceAsked({"a": 1, "b": 0}, space)
    return Request(spaces={"4x8": one}, evaluations=evaluations, seconds=3600.0, seed=7)


@pytest.mark.parametrize("strategy", ["exhaustive", "model"])
def test_nothing_prunable_gives_the_same_search(strategy: str) -> None:
    """With and without a pruner the same configurations in the same order, so the same winner."""
    asked = plain(LARGE, 64 if strategy == "exhaustive" else 20)
    orders: list[list[Mapping[str, object]]] = [[], []]
    results = []
    for order, pruner in zip(orders, ("not asked for", Keeping()), strict=True):

        def evaluate(shape: str, config: Mapping[str, object], order: list[Mapping[str, object]] = order) -> float:
            order.append(config)
            return cost(shape, config)

        results.append(run_search(asked, evaluate, pruner=pruner).shapes["4x8"])
    assert orders[0] == orders[1]
    without, with_pruner = results
    assert without.strategy == strategy
    assert replace(without, pruning="on") == with_pruner


def test_pruned_ones_take_no_evaluation() -> None:
    """Three of four are refused: the search asks on until it has measured as many as it may."""
    pruner = Keeping(refuse=lambda one: "" if int(str(one["b"])) % 2 == 0 else "spills")
    found = run_search(plain(LARGE, 10), cost, pruner=pruner).shapes["4x8"]
    assert (found.evaluated, found.failed) == (11, 0)
    assert found.pruned == {"spills": found.asked - 11}
    assert found.pruned["spills"] > 0
    assert set(pruner.batches) == {1}


def test_a_space_without_a_launch_ends() -> None:
    """All refused: only what the shape has is measured, and wins."""
    found = run_search(plain(LARGE, 10), cost, pruner=Keeping(refuse=lambda _: "spills")).shapes["4x8"]
    assert (found.config, found.evaluated) == ({"a": 1, "b": 0}, 1)
    assert found.asked <= 1 + 4 * 10


def test_what_the_shape_has_is_never_pruned() -> None:
    """Neither first nor when the searcher asks for it again, and it is measured once."""
    found = run_search(plain({"a": [1], "b": [0]}, 10), cost, pruner=Keeping(refuse=lambda _: "spills"))
    assert found.shapes["4x8"].evaluated == 1
    assert found.shapes["4x8"].pruned == {}


def test_what_was_not_judged_is_measured_and_counted() -> None:
    """A crash of the compiler is no verdict."""
    found = run_search(plain({"a": [1, 5], "b": [3]}, 10), cost, pruner=Keeping(refuse=lambda _: None))
    assert (found.shapes["4x8"].unjudged, found.shapes["4x8"].evaluated) == (2, 3)


def test_without_rules_the_record_says_why() -> None:
    """Nobody asked, or the wiki's page did not load: everything is measured."""
    assert pruner_of(None, MATMUL, "bf16") == "not asked for"
    why = pruner_of(PruningRules(unavailable="no row", seconds=1.0), MATMUL, "bf16")
    found = run_search(plain(LARGE, 5), cost, pruner=why).shapes["4x8"]
    assert (found.pruning, found.pruned, found.unjudged) == ("no row", {}, 0)


@pytest.mark.triton
@pytest.mark.parametrize(
    ("source", "word"), [("x = 1\n", "static_cases"), ("import no_such_module_here\n", "not installed")]
)
def test_a_file_that_can_not_be_compiled_is_not_pruned(tmp_path: Path, source: str, word: str) -> None:
    """No declared launches, or no triton where the search runs: the shape is measured as it is."""
    pytest.importorskip("triton")
    (tmp_path / "kernel.py").write_text(source)
    pruner = pruner_of(rules(), tmp_path / "kernel.py", "bf16")
    assert isinstance(pruner, SearchPruner)
    with pruner:
        found = run_search(plain(LARGE, 5), cost, pruner=pruner).shapes["4x8"]
    assert word in found.pruning
    assert (found.pruned, found.evaluated) == ({}, 6)


@pytest.mark.triton
def test_spent_seconds_end_pruning_and_not_the_search() -> None:
    """After one batch of ten seconds of nine nothing is judged any more; all is measured."""
    pytest.importorskip("triton")
    ticks = iter(range(0, 1000, 10))

    def cases(shape: str) -> Callable[[Mapping[str, object]], Any]:
        return op_cases(MATMUL, tuple(map(int, shape.split("x"))), "bf16")

    options = PruneOptions(workers=1)
    with SearchPruner(cases, "sm_90", limits_of(H200), 9.0, options, lambda: float(next(ticks))) as pruner:
        assert pruner.admit(SHAPE, SMALL) == ""
        assert pruner.judge(SHAPE, [{**SMALL, "BLOCK_K": 128, "BLOCK_M": 256, "num_stages": 5}]) == [None]


def test_rules_are_plain_data(wiki_root: Path) -> None:
    """They travel as JSON; the invented target has too few rows, and still some."""
    found = pruning_rules(Registry.open(wiki_root).platform("T10"))
    assert read(PruningRules, found.to_json()) == found and found.target == "sm_00"
    assert found.limits is not None and found.limits.warp_size == 32
