"""The product on Hopper in CuTe DSL: three tensor maps of whole tiles, and a record of it."""

from __future__ import annotations

from typing import Any

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.record.model import TensorMapArg


def test_its_launch(launched: Any, declared: Any) -> None:
    """Tiles at the edges are cut by the maps, whose boxes are 128 bytes wide; every start fits Hopper."""
    made = launched("matmul", (1000, 1032, 520))
    a, b, out = made.arguments
    assert isinstance(a, TensorMapArg) and isinstance(b, TensorMapArg) and isinstance(out, TensorMapArg)
    assert (a.box, b.box, out.box) == ((128, 64), (64, 64), (128, 64))
    assert {one.swizzle for one in (a, b, out)} == {3}
    assert (made.grid, made.block) == ((8 * 5, 1, 1), (384, 1, 1))
    for config in ({"BM": 256, "BN": 128}, {"BM": 128, "BN": 128}):
        assert launched("matmul", (1024, 1024, 1024), config=config).shared_bytes > 0
    assert declared("matmul").op == "gemm"


def test_its_record(recorded: Any) -> None:
    """It compiles without a GPU; rows that no map can describe are refused."""
    assert "matmul_kernel" in recorded("matmul", (200, 136, 72), "fp16").launches[0].entry
    with pytest.raises(BadInput, match="multiples of 16 bytes"):
        recorded("matmul", (200, 131, 72), "fp16")
