"""Tile IR is counted through the door of languages, with the launch's own arguments."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.doors import table
from kopt_kb.kernels.launch_case import TensorSpec
from kopt_kb.launch.compile.request import Compilation
from kopt_kb.launch.counts.counting import count_compilation, is_countable
from kopt_kb.packs.cutile.check.counting import count_tiles

TEXT = (Path(__file__).resolve().parents[3] / "data" / "tile_ir" / "rms_norm.tileir").read_text()
NORM = Compilation(
    "norm", "sm_90", "", "", "", "", {}, {}, {}, {}, {}, {}, grid=(8192,), dialects={"tile": TEXT},
    arguments=(
        ("x", TensorSpec((8192, 4096), "bf16")), ("weight", TensorSpec((4096,), "bf16", (1,))),
        ("out", TensorSpec((8192, 4096), "bf16")),
    ),
)  # fmt: skip


def test_a_norm_is_counted_with_its_tensors() -> None:
    """Dense where no strides were given: 4N + 1 operations a row, read and written once."""
    counted = count_compilation(NORM)
    assert counted.count == count_tiles(NORM, (8192,)) and counted.mode == "exact"
    assert counted.kernel.useful_flops.value == 8192 * (4 * 4096 + 1)
    assert counted.kernel.written.compulsory.value == 2 * 8192 * 4096


def test_without_its_pack_the_dialect_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_countable(NORM)
    monkeypatch.setattr(table, "packs", lambda: table.Packs({}, ()))
    assert not is_countable(NORM)
    with pytest.raises(BadInput, match="IR of tile") as caught:
        count_compilation(NORM)
    assert caught.value.error_code == "KB086"
