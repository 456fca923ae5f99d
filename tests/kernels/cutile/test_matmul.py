"""The cuTile product: a tile a block, and persistent blocks, both in groups of rows."""

from __future__ import annotations

import pytest

from tests.kernels.cutile.emulated import check, check_declared


@pytest.mark.torch
@pytest.mark.parametrize(
    ("shape", "config"),
    [
        ((70, 40, 50), {"TILE_M": 16, "TILE_N": 16, "TILE_K": 16, "GROUP_M": 4}),
        ((70, 40, 50), {"VARIANT": "persistent", "TILE_M": 16, "TILE_N": 8, "TILE_K": 32, "GROUP_M": 2}),
    ],
)  # fmt: skip
def test_each_variant_against_float64(shape: tuple[int, ...], config: dict[str, object]) -> None:
    """On shapes that no tile divides."""
    options = {key: config.pop(key) for key in ("causal",) if key in config}
    check("matmul", shape, config, **options)


@pytest.mark.torch
def test_what_it_declares() -> None:
    """As the Triton kernel of the operation."""
    check_declared("matmul", (2048, 2048, 512))
