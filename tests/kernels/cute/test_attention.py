"""Attention on Hopper in CuTe DSL: maps over all heads, a tile of queries a block, and a record of it."""

from __future__ import annotations

from typing import Any

from kopt_kb.launch.record.model import TensorMapArg


def test_its_launch(launched: Any, declared: Any) -> None:
    """Heads are one dimension of the maps; queries of a block follow the number of warp groups."""
    made = launched("attention", (2, 3, 1000, 64), "fp16", {"WORKERS": 3})
    assert (made.grid, made.block) == ((6, 6, 1), (512, 1, 1))
    boxes = [one.box for one in made.arguments if isinstance(one, TensorMapArg)]
    assert boxes == [(1, 192, 64), (1, 128, 64), (1, 128, 64), (1, 192, 64)]
    assert {one.view.shape for one in made.arguments if isinstance(one, TensorMapArg)} == {(6, 1000, 64)}
    assert launched("attention", (4, 16, 4096, 128)).shared_bytes > 0
    assert declared("attention").op == "attention"


def test_its_record(recorded: Any) -> None:
    """It compiles without a GPU, with a last tile that is no whole one."""
    assert "attention_kernel" in recorded("attention", (1, 2, 200, 64), "fp16").launches[0].entry
