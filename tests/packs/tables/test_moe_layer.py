"""The op file around an engine's kernel: inputs, float64 reference, and the layer in Triton's interpreter."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from kopt_kb.packs.tables.moe_problem import MoeProblem
from kopt_kb.packs.tables.routing import Routing
from tests.packs.tables.test_moe_problem import problem

HERE = Path(__file__).parent


@pytest.fixture
def layer(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module; a test states its problem."""
    pytest.importorskip("torch")
    pytest.importorskip("triton")
    from kopt_kb.packs.tables import moe_layer

    monkeypatch.setattr(moe_layer, "PROBLEM", {})
    return moe_layer


def inputs(layer: ModuleType, one: MoeProblem, seed: int = 1) -> tuple[Any, ...]:
    """Its inputs on the host."""
    layer.PROBLEM.update(one.constants())
    return tuple(layer.make_inputs(one.shape, one.dtype, "cpu", seed))


def test_tokens_are_routed_as_stated(layer: ModuleType) -> None:
    """Rows of experts are as many as stated, no token goes to one twice; a log's stay with their expert."""
    import torch

    for routing, fixed in ((Routing("skew:1", 1.0), False), (Routing("log", counted=(5, 0, 2, 1)), True)):
        one = problem(routing=routing)
        ids = inputs(layer, one)[8]
        counts = torch.bincount(ids.reshape(-1), minlength=4).tolist()
        assert (counts if fixed else sorted(counts, reverse=True)) == list(one.rows)
        assert all(len(set(row)) == 2 for row in ids.tolist())
        assert not torch.equal(ids, inputs(layer, one, 2)[8])


@pytest.mark.parametrize("number", [0, 2], ids=["tiles of 16", "tiles of 64"])
def test_rows_are_ordered_by_expert_in_whole_tiles(layer: ModuleType, number: int) -> None:
    """Each row stands once, in a tile of its expert; what fills a tile up is no row."""
    one = problem(routing=Routing("skew:1", 1.0))
    made = inputs(layer, one)
    ids, tile = made[8].reshape(-1).tolist(), (16, 32, 64)[number]
    order, owners, post = (part.tolist() for part in made[9 + 3 * number : 12 + 3 * number])
    used = order[: post[0]]
    assert post[0] % tile == 0 and sorted(one for one in used if one < 16) == list(range(16))
    assert all(ids[row] == owners[place // tile] for place, row in enumerate(used) if row < 16)
    assert set(order[post[0] :]) <= {16}


def test_rows_with_tiles_of_their_own(layer: ModuleType) -> None:
    """The expert of a tile is that of its row; as many places as tiles are high."""
    one = problem(tokens=1)
    layer.PROBLEM.update(one.constants(), naive=True)
    made = layer.make_inputs(one.shape, one.dtype, "cpu", 1)
    assert made[10].tolist() == made[8].reshape(-1).tolist() and made[11].tolist() == [2 * 16]


@pytest.mark.parametrize(
    "more", ["", ",dtype=fp8_w8a8", ",dtype=fp8_w8a8,block_shape=[128,64]", ",dtype=int8_w8a8", ",dtype=int8_w8a16"],
    ids=["none", "a tensor", "blocks", "channels", "weights alone"],
)  # fmt: skip
def test_the_reference_is_the_sum_over_each_tokens_experts(layer: ModuleType, more: str) -> None:
    """Written once more, token by token, with scales spread by hand."""
    import torch

    one = problem(more, tokens=3)
    made = inputs(layer, one)
    x, w1, w2, sx, s1, s2, _, routed, ids = made[:9]
    deep, wide = (64, 128) if one.scales == "block" else (0, 0)

    def spread(values: Any, scale: Any) -> Any:
        if not one.scales:
            return values.double()
        if deep:
            scale = scale.double().repeat_interleave(wide, 0).repeat_interleave(deep, 1)
        elif scale.ndim:
            scale = scale.double()[:, None]
        return values.double() * scale

    rows = x.double()
    if one.layer.activation == one.layer.element and one.scales:
        rows = rows * (sx.double().repeat_interleave(deep, 1) if deep else sx.double())
    found = layer.reference(*made)
    for token in range(3):
        total = torch.zeros(256, dtype=torch.float64)
        for place, expert in enumerate(ids[token].tolist()):
            gate, up = (spread(w1[expert], s1[expert]) @ rows[token]).split(128)
            part = spread(w2[expert], s2[expert]) @ (gate / (1 + (-gate).exp()) * up)
            total += routed[token, place].double() * part
        assert torch.allclose(found[token], total, rtol=1e-9, atol=1e-12)
    assert 0.05 < float(found.abs().mean()) < 20


def test_the_layer_in_tritons_interpreter() -> None:
    """One child for all; the interpreter cuts off where a device rounds to 8-bit floating point."""
    done = subprocess.run(
        [sys.executable, str(HERE / "interpret_moe.py")], capture_output=True, text=True, timeout=300, check=False,
        env={**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": str(HERE.parents[2])},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    errors = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(errors) == 3
    for scales, naive, error in errors:
        assert error < {"": 2e-3, "channel": 2.5e-2, "block": 8e-2}[scales], (scales, naive, error)
