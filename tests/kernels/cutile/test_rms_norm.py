"""The cuTile norm: whole rows, persistent blocks, chunks."""

from __future__ import annotations

import pytest

from tests.kernels.cutile.emulated import check, check_declared


@pytest.mark.torch
@pytest.mark.parametrize(
    ("shape", "config"),
    [
        ((5, 70), {}), ((9, 40), {"VARIANT": "persistent", "TILE_ROWS": 2, "BLOCKS_PER_SM": 1}),
        ((3, 70), {"VARIANT": "chunks", "TILE_COLS": 32, "TILE_ROWS": 1}),
    ],
)  # fmt: skip
def test_each_variant_against_float64(shape: tuple[int, ...], config: dict[str, object]) -> None:
    """On shapes that no tile divides."""
    options = {key: config.pop(key) for key in ("causal",) if key in config}
    check("rms_norm", shape, config, **options)


@pytest.mark.torch
def test_what_it_declares() -> None:
    """As the Triton kernel of the operation."""
    check_declared("rms_norm", (64, 4096))
